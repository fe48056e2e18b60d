// The traffic card, loaded with the charts once the browser is idle, because no other part of the page depends on it.
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useHasModule } from '../api/use-grant.ts'
import { whenIdle } from '../ui/idle.ts'
import type { TrafficCardProps } from './traffic-card.tsx'

const TrafficCard = lazy(async () => {
  await whenIdle()
  return { default: (await import('./traffic-card.tsx')).TrafficCard }
})

/** Renders only for a team with the module. */
export function LazyTrafficCard(props: TrafficCardProps) {
  if (!useHasModule('lighthouse')) return null
  return (
    <Suspense fallback={props.isLate ? null : <Skeleton height={(props.height ?? 220) + 110} radius="lg" />}>
      <TrafficCard {...props} />
    </Suspense>
  )
}
