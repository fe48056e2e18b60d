// Reads what the team's networks are used for: each list that the user may see.
import { listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip/announcement'
import { listZonesRoute, type Zone } from '@pharos/contract/dns/zone'
import { listIncidentsRoute, type Incident } from '@pharos/contract/events/incident'
import { listPrefixesRoute, type Prefix } from '@pharos/contract/inventory/prefix'
import { listBlackholesRoute, type Blackhole } from '@pharos/contract/shield/blackhole'
import { listShieldListsRoute, type ShieldList } from '@pharos/contract/shield/shield'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf } from '../api/queries.ts'
import { useGrant, useSeenModules } from '../api/use-grant.ts'
import { networkOfZone, type Network, type PrefixNode } from './prefix-tree.ts'
import { words } from './words.ts'

const { tree: texts } = words

/** What a network is used for. */
export type Use =
  | { readonly kind: 'assigned'; readonly prefix: Prefix }
  | { readonly kind: 'announcement'; readonly announcement: Announcement }
  | { readonly kind: 'shield'; readonly list: ShieldList }
  | { readonly kind: 'blackhole'; readonly blackhole: Blackhole }
  | { readonly kind: 'zone'; readonly zone: Zone }
  | { readonly kind: 'attack'; readonly incident: Incident }
export type UsedNode = PrefixNode<Use>

export function nameOf(use: Use): string {
  switch (use.kind) {
    case 'assigned':
      return use.prefix.name
    case 'announcement':
      return use.announcement.details?.description ?? ''
    case 'blackhole':
      return use.blackhole.comment
    case 'zone':
    case 'shield':
    case 'attack':
      return ''
  }
}

/** The most objects of a kind that are read. */
export const limit = 1000
const refetchInterval = 30_000

export function useNetworks() {
  const has = useSeenModules()
  const seesInventory = useGrant('inventory.see')
  const read = (enabled: boolean) => ({ enabled, refetchInterval })
  const prefixes = useQuery({ ...answerOf(listPrefixesRoute, { query: { limit } }), ...read(seesInventory) })
  const announcements = useQuery({
    ...answerOf(listAnnouncementsRoute, { query: { limit, include: 'details' } }),
    ...read(has('ipam')),
  })
  const lists = useQuery({ ...answerOf(listShieldListsRoute, { query: { limit } }), ...read(has('shield')) })
  const blackholes = useQuery({
    ...answerOf(listBlackholesRoute, { query: { limit } }),
    ...read(has('shield')),
  })
  const zones = useQuery({
    ...answerOf(listZonesRoute, { query: { reverse: true, limit } }),
    ...read(has('dns')),
  })
  const attacks = useQuery({
    ...answerOf(listIncidentsRoute, { query: { ongoing: true, limit } }),
    ...read(has('lighthouse')),
  })
  const networks = useMemo(
    (): readonly Network<Use>[] => [
      ...(prefixes.data?.results ?? []).map((prefix) => ({
        cidr: prefix.cidr,
        of: { kind: 'assigned' as const, prefix },
      })),
      ...(announcements.data?.results ?? []).map((announcement) => ({
        cidr: announcement.cidr,
        of: { kind: 'announcement' as const, announcement },
      })),
      ...(lists.data?.results ?? []).map((list) => ({
        cidr: list.prefix,
        of: { kind: 'shield' as const, list },
      })),
      ...(blackholes.data?.results ?? [])
        .filter(({ status }) => status !== 'ended')
        .map((blackhole) => ({ cidr: blackhole.host, of: { kind: 'blackhole' as const, blackhole } })),
      ...(zones.data?.results ?? []).map((zone) => ({
        cidr: networkOfZone(zone.name) ?? '',
        of: { kind: 'zone' as const, zone },
      })),
      ...(attacks.data?.results ?? []).map((incident) => ({
        cidr: incident.network,
        of: { kind: 'attack' as const, incident },
      })),
    ],
    [prefixes.data, announcements.data, lists.data, blackholes.data, zones.data, attacks.data],
  )
  const named = { prefixes, announcements, lists, blackholes, zones, attacks }
  const truncated = Object.entries(named).flatMap(([name, { data }]) =>
    data && data.count > data.results.length ? [texts.kinds[name as keyof typeof named]] : [],
  )
  const answers = Object.values(named)
  // Lists that cannot be read are named above the tree, which has the others.
  const isPending = answers.some(({ isLoading }) => isLoading)
  const isPart = answers.some(({ error, data }) => error !== null && data === undefined)
  return { answers, isPending, isPart, networks, truncated }
}
