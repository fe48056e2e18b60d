// What somebody looks at first: attacks that go on, what is not announced as wanted, and what needs a person.
import { SimpleGrid } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useUser } from '../shell/use-session.ts'
import { whenIdle } from '../ui/idle.ts'
import { Page } from '../ui/page.tsx'
import { Announced } from './announced.tsx'
import { Attacks } from './attacks.tsx'
import { NeedsYou } from './needs-you.tsx'
import classes from './overview.module.css'

/** With what draws it: the rest does not wait for it. */
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
        {has('lighthouse') && <Attacks />}
        {has('ipam') && <Announced />}
        <NeedsYou user={user} />
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
