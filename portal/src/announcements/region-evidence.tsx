// For staff only, beside the state of each region: how far its route gets, and which sessions or routers are down, with the reasons.
import { Text } from '@mantine/core'
import { listAdminRegionsRoute, type AdminRegion } from '@pharos/contract/operator/region'
import {
  listAnnouncementsOfTeamRoute,
  type Announcement,
  type RegionEvidence,
} from '@pharos/contract/byoip/announcement'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { words } from './words.ts'

const { evidence: t } = words
const refetchMs = 10_000

export type StaffEvidence = {
  /** Null if no router is known to show the route. */
  readonly heardBy: RegionEvidence | null
  /** Routers and sessions of the region that are down, one sentence each. */
  readonly down: readonly string[]
}

/** Returns the evidence of each region by its slug; empty for others than staff, and until it is known. */
export function useEvidence({ id, cidr }: Announcement): ReadonlyMap<string, StaffEvidence> {
  const user = useUser()
  const enabled = useGrant('operator.see')
  const heard = useQuery({
    ...answerOf(listAnnouncementsOfTeamRoute, {
      params: { team_id: user?.current_team.id ?? 0 },
      query: { cidr: [cidr], include: 'region_states,evidence', limit: 1000 },
    }),
    enabled,
    refetchInterval: refetchMs,
  })
  const regions = useQuery({
    ...answerOf(listAdminRegionsRoute, { query: { limit: 1000 } }),
    enabled,
    refetchInterval: refetchMs,
  })
  const own = heard.data?.results.find((one) => one.id === id)
  const bySlug = new Map(regions.data?.results.map((region) => [region.slug, region]))
  return new Map(
    own?.region_states?.map(({ region, heard_by }) => {
      const known = bySlug.get(region)
      return [region, { heardBy: heard_by ?? null, down: known ? downIn(known) : [] }]
    }),
  )
}

/** Returns the names of unreadable routers and of sessions on readable routers that are not established. Drained routers are left out. */
const downIn = ({ routers }: Pick<AdminRegion, 'routers'>): string[] =>
  routers
    .filter(({ drained }) => drained === null)
    .flatMap(({ name, last_check_result: isRead, error, neighbors }) => {
      if (isRead !== true) return isRead === false ? [t.routerDown(name, error)] : []
      return neighbors
        .filter(({ state }) => state !== 'established')
        .map(({ address, asn, end }) => t.sessionDown(name, `${address} AS${asn}`, end?.message ?? null))
    })

export function Evidence({ evidence: { heardBy, down } }: { evidence: StaffEvidence }) {
  const lines = [...(heardBy ? [heardText(heardBy)] : []), ...down]
  if (lines.length === 0) return null
  return (
    <div role="note" aria-label={t.label}>
      {lines.map((line) => (
        <Text size="xs" c="dimmed" key={line}>
          {line}
        </Text>
      ))}
    </div>
  )
}

function heardText({ level, heard, neighbors, unchecked }: RegionEvidence): string {
  if (level === 'rib') return t.notBest
  return neighbors === 0 ? t.noNeighbor : t.heardBy(heard, neighbors, unchecked)
}
