// The pinned views of the traffic explorer, loaded with the charts once the browser is idle.
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { whenIdle } from '../ui/idle.ts'
import { pinnedOf, withChange } from '../ui/saved-views.ts'
import { useSavedViews } from '../ui/use-saved-views.ts'
import classes from './overview.module.css'
import { words } from './words.ts'

const PinnedView = lazy(async () => {
  await whenIdle()
  return { default: (await import('../traffic/pinned-view.tsx')).PinnedView }
})

export function PinnedViews() {
  const [views, setViews] = useSavedViews('traffic')
  const pinned = pinnedOf(views)
  if (pinned.length === 0) return null
  return (
    <div className={classes['pins']} role="group" aria-label={words.pins}>
      {pinned.map((view) => (
        <Suspense key={view.name} fallback={<Skeleton height={310} radius="lg" />}>
          <PinnedView
            view={view}
            onUnpin={() => setViews(withChange(views, view.name, { isPinned: false }))}
          />
        </Suspense>
      ))}
    </div>
  )
}
