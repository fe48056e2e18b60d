// The attacks of the overview: counts and the largest ones, one row each, never the list.
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { useQuery } from '@tanstack/react-query'
import { answerOf, answerOverLastOf, refetchIntervalOf } from '../api/queries.ts'
import { useNow } from '../ui/use-now.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const days = 30

/** `isEnabled`: whether the team has the module. `largest`: number of the largest attacks to read. */
export function useAttacks(isEnabled: boolean, largest: number) {
  // In whole hours, so that the requests stay the same between refreshes.
  const now = Math.floor(useNow() / hourMs) * hourMs
  const daysAgo = (count: number) => new Date(now - count * dayMs).toISOString()
  const every = (ms: number) => ({
    enabled: isEnabled,
    refetchInterval: () => refetchIntervalOf(listIncidentsRoute, ms),
  })
  const query = { limit: 1 }
  const ongoing = useQuery({
    ...answerOf(listIncidentsRoute, { query: { ...query, ongoing: true, ordering: '-affected_bps' } }),
    ...every(10_000),
  })
  const recent = useQuery({
    ...answerOverLastOf(listIncidentsRoute, {
      query: { start: daysAgo(days), false_positive: false, ordering: '-affected_bps', limit: largest },
    }),
    ...every(30_000),
  })
  const earlier = useQuery({
    ...answerOverLastOf(listIncidentsRoute, {
      query: { ...query, start: daysAgo(2 * days), end: daysAgo(days), false_positive: false },
    }),
    ...every(hourMs),
  })
  const last = useQuery({
    ...answerOf(listIncidentsRoute, { query: { ...query, ongoing: false, ordering: '-end' } }),
    ...every(60_000),
    enabled: isEnabled && ongoing.data?.count === 0,
  })
  return { ongoing, recent, earlier, last }
}

export type Attacks = ReturnType<typeof useAttacks>
