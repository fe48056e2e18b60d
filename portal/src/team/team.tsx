// The team, in rooms: what it says of itself, who is in it, its domains, what its programs present, whom it tells, and
// what was done. Which room is shown stands in the address.
import { Tabs } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useUser } from '../shell/use-session.ts'
import { PageWaiting } from '../shell/states.tsx'
import { Page } from '../ui/page.tsx'

const rooms = [
  {
    name: 'members',
    label: 'Members',
    Room: lazy(async () => ({ default: (await import('./members.tsx')).Members })),
  },
  {
    name: 'settings',
    label: 'Settings',
    Room: lazy(async () => ({ default: (await import('./settings.tsx')).TeamSettings })),
  },
  {
    name: 'domains',
    label: 'Domains',
    Room: lazy(async () => ({ default: (await import('./domains.tsx')).Domains })),
  },
  {
    name: 'tokens',
    label: 'API tokens',
    admin: true,
    Room: lazy(async () => ({ default: (await import('./tokens.tsx')).Tokens })),
  },
  {
    name: 'webhooks',
    label: 'Webhooks',
    Room: lazy(async () => ({ default: (await import('./webhooks.tsx')).Webhooks })),
  },
  {
    name: 'audit',
    label: 'Audit',
    admin: true,
    Room: lazy(async () => ({ default: (await import('./audit.tsx')).Audit })),
  },
] as const

export function TeamPage() {
  const user = useUser()
  const navigate = useNavigate()
  const { room = 'members' } = useParams({ strict: false }) as { room?: string }
  if (!user) return null
  const isAdmin = user.current_team.is_admin || user.is_staff
  const open = rooms.filter((one) => isAdmin || !('admin' in one))
  return (
    <Page title={user.current_team.name} note="The team that you work in">
      <Tabs
        value={room}
        onChange={(next) => void navigate({ to: `/team/${next}` as never })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {open.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {open.map(({ name, Room }) => (
          <Tabs.Panel key={name} value={name}>
            <Suspense fallback={<PageWaiting />}>
              <Room isAdmin={isAdmin} />
            </Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

export type RoomProps = { readonly isAdmin: boolean }
