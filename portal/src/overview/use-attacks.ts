// The attacks of the overview: counts and the largest ones, one row each, never the list.
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { useQuery } from '@tanstack/react-query'
import { answerOf, answerOverLastOf, refetchIntervalOf } from '../api/queries.ts'
import { useNow } from '../ui/use-now.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const days = 30
const query = { limit: 1 }

const every = (isEnabled: boolean, ms: number) => ({
  enabled: isEnabled,
  refetchInterval: () => refetchIntervalOf(listIncidentsRoute, ms),
})

/** The ongoing attacks: their number and the largest one. `isEnabled`: whether the user sees attacks. */
export const useOngoing = (isEnabled: boolean) =>
  useQuery({
    ...answerOf(listIncidentsRoute, { query: { ...query, ongoing: true, ordering: '-affected_bps' } }),
    ...every(isEnabled, 10_000),
  })

/** The largest attacks of the last 30 days, `largest` of them, and how many there were. */
export function useRecent(isEnabled: boolean, largest: number) {
  // In whole hours, so that the requests stay the same between refreshes.
  const now = Math.floor(useNow() / hourMs) * hourMs
  const start = new Date(now - days * dayMs).toISOString()
  return useQuery({
    ...answerOverLastOf(listIncidentsRoute, {
      query: { start, false_positive: false, ordering: '-affected_bps', limit: largest },
    }),
    ...every(isEnabled, 30_000),
  })
}

export function useAttacks(isEnabled: boolean, largest: number) {
  const now = Math.floor(useNow() / hourMs) * hourMs
  const daysAgo = (count: number) => new Date(now - count * dayMs).toISOString()
  const ongoing = useOngoing(isEnabled)
  const recent = useRecent(isEnabled, largest)
  const earlier = useQuery({
    ...answerOverLastOf(listIncidentsRoute, {
      query: { ...query, start: daysAgo(2 * days), end: daysAgo(days), false_positive: false },
    }),
    ...every(isEnabled, hourMs),
  })
  const last = useQuery({
    ...answerOf(listIncidentsRoute, { query: { ...query, ongoing: false, ordering: '-end' } }),
    ...every(isEnabled && ongoing.data?.count === 0, 60_000),
  })
  return { ongoing, recent, earlier, last }
}

export type Attacks = ReturnType<typeof useAttacks>
