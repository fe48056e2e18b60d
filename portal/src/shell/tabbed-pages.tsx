// The frame of pages that share a sidebar entry, the team's: a title, and a tab for each page.
import { Tabs } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../api/use-grant.ts'
import { isBelow, pagesOf } from '../pages.tsx'
import { Page } from '../ui/page.tsx'

/** `path` is the address now; `entry` is the sidebar entry that has the tabs. */
export function TabbedPages({
  user,
  entry,
  path,
  children,
}: {
  user: User
  entry: string
  path: string
  children: ReactNode
}) {
  const navigate = useNavigate()
  const may = useMay()
  const tabs = pagesOf(user, may).filter(({ tabOf }) => tabOf === entry)
  const current = tabs.find((one) => isBelow(one, path))
  return (
    <Page title={current?.label ?? user.current_team.name}>
      <Tabs value={current?.path ?? null} onChange={(next) => next && void navigate({ href: next })}>
        <Tabs.List mb="md">
          {tabs.map((one) => (
            <Tabs.Tab key={one.path} value={one.path}>
              {one.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {current && <Tabs.Panel value={current.path}>{children}</Tabs.Panel>}
        {!current && children}
      </Tabs>
    </Page>
  )
}
