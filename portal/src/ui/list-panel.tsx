// The side panel of a list: one row in detail while the list stays usable. j and k move it, Escape closes it, and a link opens the
// page of the row.
import { Button, CloseButton, Group } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { IconArrowRight } from '@tabler/icons-react'
import { useEffect, type ReactNode } from 'react'
import { isHandledElsewhere } from './key-events.ts'
import classes from './list.module.css'
import { words } from './words.ts'

export type PanelDeclaration<Row> = {
  /** Names the panel. `row` is undefined until its part of the list is loaded. */
  readonly title: (row: Row | undefined, id: string) => string
  /** The content; it reads what it needs by the id. */
  readonly render: (id: string, row: Row | undefined) => ReactNode
  /** Address of the row's page, if it has one. */
  readonly pageOf?: (id: string) => string
}

type ListPanelProps = {
  readonly title: string
  readonly page: string | undefined
  readonly onClose: () => void
  readonly children: ReactNode
}

export function ListPanel({ title, page, onClose, children }: ListPanelProps) {
  const router = useRouter()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !isHandledElsewhere(event)) onClose()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [onClose])
  return (
    <aside aria-label={title} className={classes['panel']} data-panel>
      <Group justify="space-between" wrap="nowrap" gap="xs" className={classes['panelHead']!}>
        <h2 className={classes['panelTitle']}>{title}</h2>
        <Group gap={4} wrap="nowrap">
          {page !== undefined && (
            <Button
              size="xs"
              variant="default"
              component="a"
              href={page}
              rightSection={<IconArrowRight size={14} />}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                void router.navigate({ href: page })
              }}
            >
              {words.panel.open}
            </Button>
          )}
          <CloseButton aria-label={words.panel.close} onClick={onClose} />
        </Group>
      </Group>
      <div className={classes['panelBody']} tabIndex={0}>
        {children}
      </div>
    </aside>
  )
}
