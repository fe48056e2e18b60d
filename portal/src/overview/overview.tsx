// The first page: ongoing attacks, announcements that are out of sync, and open tasks.
import { SimpleGrid } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useUser } from '../api/use-session.ts'
import { whenIdle } from '../ui/idle.ts'
import { Page } from '../ui/page.tsx'
import { AnnouncementSummary } from './announcement-summary.tsx'
import { OngoingAttacks } from './ongoing-attacks.tsx'
import { ToDo } from './to-do.tsx'
import classes from './overview.module.css'

/** Loaded with the plot once the browser is idle: nothing else depends on it. */
const RecentAttacks = lazy(async () => {
  await whenIdle()
  return { default: (await import('../events/recent-attacks.tsx')).RecentAttacks }
})

export function Overview() {
  const user = useUser()
  if (!user) return null
  const has = (module: string) => user.enabled_modules.includes(module)
  return (
    <Page title="Overview" note={user.current_team.name}>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        {has('lighthouse') && <OngoingAttacks />}
        {has('ipam') && <AnnouncementSummary />}
        <ToDo user={user} />
      </SimpleGrid>
      {has('lighthouse') && (
        <div className={classes['recent']} data-later>
          <Suspense>
            <RecentAttacks />
          </Suspense>
        </div>
      )}
    </Page>
  )
}
