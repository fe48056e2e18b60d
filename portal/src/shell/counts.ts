// The numbers beside the entries of the sidebar. An unknown count is omitted, never 0.
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import type { CallInput } from '@pharos/contract/client'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import type { Route } from '@pharos/contract/route'
import { useQuery } from '@tanstack/react-query'
import { blockedStatuses } from '../announcements/blocked-statuses.ts'
import { answerOf } from '../api/queries.ts'
import { useGrant, useSeenModules } from '../api/use-grant.ts'
import type { CountName } from '../pages.tsx'
import { useInboxSummary } from '../staff/inbox-rows.ts'

export type Counts = Readonly<Record<CountName, number | undefined>>

/** Sends only requests that the user's role and team allow; the stream keeps the numbers current. */
export function useCounts(): Counts {
  const has = useSeenModules()
  return {
    attacks: useCount(has('lighthouse'), listIncidentsRoute, { query: { ongoing: true, limit: 1 } }),
    blocked: useCount(has('ipam'), listAnnouncementsRoute, {
      query: { status: [...blockedStatuses], limit: 1 },
    }),
    inbox: useInboxSummary(useGrant('operator.see')).data?.count,
  }
}

function useCount<R extends Route>(allowed: boolean, route: R, input: CallInput<R>): number | undefined {
  const { data } = useQuery({ ...answerOf(route, input), enabled: allowed, refetchInterval: 30_000 })
  return (data as { readonly count: number } | undefined)?.count
}
