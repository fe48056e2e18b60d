// The networks of the team: prefixes of the inventory, and announcements where the team has them.
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import { useQuery } from '@tanstack/react-query'
import { answerOf, useAnswer } from '../api/queries.ts'
import { useHasModule } from '../api/use-grant.ts'
import { partsOf } from './networks.ts'

const limit = 1000

/** `parts` is undefined until both lists have answered. */
export function useNetworks() {
  const hasAnnouncements = useHasModule('ipam')
  const prefixes = useAnswer(listPrefixesRoute, { query: { limit } })
  const announcements = useQuery({
    ...answerOf(listAnnouncementsRoute, { query: { limit } }),
    enabled: hasAnnouncements,
  })
  const isKnown = prefixes.data !== undefined && (!hasAnnouncements || announcements.data !== undefined)
  const cidrs = [...(prefixes.data?.results ?? []), ...(announcements.data?.results ?? [])].map(
    ({ cidr }) => cidr,
  )
  return {
    parts: isKnown ? partsOf(cidrs) : undefined,
    error: prefixes.error ?? announcements.error,
    refetch: () => Promise.all([prefixes.refetch(), ...(hasAnnouncements ? [announcements.refetch()] : [])]),
  }
}
