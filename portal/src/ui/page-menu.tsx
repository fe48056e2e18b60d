// The menu of further actions of a page. Its items are in the page while it is closed, so that the command palette finds them.
import { Button, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'

type PageMenuProps = { readonly label: string; readonly width: number; readonly children: ReactNode }

export const PageMenu = ({ label, width, children }: PageMenuProps) => (
  <Menu position="bottom-end" width={width} keepMounted withinPortal={false}>
    <Menu.Target>
      <Button variant="default" px={8} aria-label={label} data-page-menu>
        <IconDots size={16} />
      </Button>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)
