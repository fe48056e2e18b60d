// The requests behind the holds: one for each customer and person, over all regions whose changes are paused. Pure.
import type { HoldDetails, HoldItem } from '@pharos/contract/hold'

export type RequestPrefix = {
  readonly cidr: string
  readonly announcementId: number | null
  /** Slugs of the regions that would withdraw it, and of those whose route would change. */
  readonly withdrawnIn: readonly string[]
  readonly changedIn: readonly string[]
}

export type RequestHold = Pick<HoldDetails, 'id' | 'region' | 'reason' | 'detail' | 'created'>

export type ChangeRequest = {
  readonly key: string
  /** Null: the routes belong to no announcement. */
  readonly team: HoldItem['team']
  /** Name of the person or API token; null if nobody asked. */
  readonly person: string | null
  readonly isByProvider: boolean
  readonly action: string | null
  /** The latest request; null if nobody asked. */
  readonly asked: string | null
  /** When the first region was paused. */
  readonly paused: string
  readonly prefixes: readonly RequestPrefix[]
  /** A decision is made for each of them, with all that it lists. */
  readonly holds: readonly RequestHold[]
  /** Requests of others that the same decision covers. */
  readonly others: readonly { readonly team: HoldItem['team']; readonly prefixes: number }[]
  /** Whether a hold has more prefixes than the API lists. */
  readonly isPartial: boolean
}

type Part = {
  readonly hold: HoldDetails
  readonly item: HoldItem
  readonly kind: 'withdrawnIn' | 'changedIn'
}

/** Returns the requests of open holds, those that wait longest first. */
export function requestsOf(holds: readonly HoldDetails[]): readonly ChangeRequest[] {
  const parts = holds.flatMap((hold): Part[] => [
    ...hold.items.map((item) => ({ hold, item, kind: 'withdrawnIn' as const })),
    ...hold.change_items.map((item) => ({ hold, item, kind: 'changedIn' as const })),
  ])
  const groups = Map.groupBy(parts, ({ item }) => keyOf(item))
  const requests = [...groups].map(([key, own]) => requestOf(key, own))
  // A hold without a list still waits for a decision.
  const empty = holds.filter(({ items, change_items }) => items.length + change_items.length === 0)
  const all = empty.length > 0 ? [...requests, emptyRequest(empty)] : requests
  return all
    .map((one) => ({ ...one, others: othersOf(one, all) }))
    .toSorted((a, b) => a.paused.localeCompare(b.paused) || a.key.localeCompare(b.key))
}

const keyOf = ({ team, requested_by }: HoldItem): string =>
  `${team?.id ?? 'none'}-${requested_by ?? 'nobody'}`

function requestOf(key: string, parts: readonly Part[]): ChangeRequest {
  const latest = parts
    .map(({ item }) => item)
    .toSorted((a, b) => (b.requested_at ?? '').localeCompare(a.requested_at ?? ''))[0]!
  const holds = [...new Set(parts.map(({ hold }) => hold))]
  return {
    key: `change-${key}`,
    team: latest.team,
    person: latest.requested_by_name ?? latest.requested_by,
    isByProvider: latest.requested_by_staff === true,
    action: latest.action,
    asked: latest.requested_at,
    paused: firstOf(holds),
    prefixes: prefixesOf(parts).toSorted(byPrefix),
    holds: holds.toSorted((a, b) => a.region.localeCompare(b.region)),
    others: [],
    isPartial: holds.some((hold) => hold.items_truncated || hold.change_items_truncated),
  }
}

const emptyRequest = (holds: readonly HoldDetails[]): ChangeRequest => ({
  key: 'change-empty',
  team: null,
  person: null,
  isByProvider: false,
  action: null,
  asked: null,
  paused: firstOf(holds),
  prefixes: [],
  holds,
  others: [],
  isPartial: false,
})

const firstOf = (holds: readonly HoldDetails[]): string => holds.map(({ created }) => created).toSorted()[0]!

/** IPv4 before IPv6, then by their numbers. */
const byPrefix = (a: RequestPrefix, b: RequestPrefix): number =>
  Number(a.cidr.includes(':')) - Number(b.cidr.includes(':')) ||
  a.cidr.localeCompare(b.cidr, 'en', { numeric: true })

function prefixesOf(parts: readonly Part[]): readonly RequestPrefix[] {
  const regionsOf = (own: readonly Part[], kind: Part['kind']) =>
    [...new Set(own.filter((one) => one.kind === kind).map(({ hold }) => hold.region))].toSorted()
  return [...Map.groupBy(parts, ({ item }) => item.cidr)].map(([cidr, own]) => ({
    cidr,
    announcementId: own[0]!.item.announcement_id,
    withdrawnIn: regionsOf(own, 'withdrawnIn'),
    changedIn: regionsOf(own, 'changedIn'),
  }))
}

/** Returns the customers whose prefixes are in the same holds, with how many of them; requests of one customer are added up. */
function othersOf(request: ChangeRequest, all: readonly ChangeRequest[]): ChangeRequest['others'] {
  const regions = new Set(request.holds.map(({ region }) => region))
  const isCovered = ({ withdrawnIn, changedIn }: RequestPrefix) =>
    [...withdrawnIn, ...changedIn].some((region) => regions.has(region))
  const others = all
    .filter(({ key }) => key !== request.key)
    .flatMap(({ team, prefixes }) => prefixes.filter(isCovered).map(() => team))
  return [...Map.groupBy(others, (team) => team?.id)].map(([, teams]) => ({
    team: teams[0] ?? null,
    prefixes: teams.length,
  }))
}

/** Returns the regions in which a request withdraws or changes prefixes, without duplicates. */
export const regionsIn = (
  { prefixes }: Pick<ChangeRequest, 'prefixes'>,
  kind: 'withdrawnIn' | 'changedIn',
): readonly string[] => [...new Set(prefixes.flatMap((one) => one[kind]))].toSorted()

/**
 * Returns where a prefix stays announced after an approval, and undefined if that is not known. `announced`: the regions that
 * announce it now.
 */
export const remainingIn = (
  { withdrawnIn }: Pick<RequestPrefix, 'withdrawnIn'>,
  announced: readonly string[] | undefined,
): readonly string[] | undefined => announced?.filter((region) => !withdrawnIn.includes(region))
