// The requests behind approvals about routes: one for each customer and person, over all regions whose changes are paused. Pure.
import type { Approval, ApprovalItem } from '@pharos/contract/operator/approval'
import { routeRequestKey, unlistedRequestKey } from '@pharos/contract/operator/inbox'

export type RequestPrefix = {
  readonly cidr: string
  readonly announcementId: number | null
  /** Slugs of the regions that would withdraw it, and of those whose route would change. */
  readonly withdrawnIn: readonly string[]
  readonly changedIn: readonly string[]
}

export type RequestApproval = Pick<Approval, 'id' | 'reason' | 'detail' | 'created'> & {
  /** Slug of the region. */
  readonly region: string
}

export type ChangeRequest = {
  readonly key: string
  /** Null: the routes belong to no announcement. */
  readonly team: ApprovalItem['team']
  /** Name of the person or API token; null without a request. */
  readonly person: string | null
  readonly isByProvider: boolean
  readonly action: string | null
  /** Time of the latest request, or null. */
  readonly asked: string | null
  /** When the first region was paused. */
  readonly paused: string
  readonly prefixes: readonly RequestPrefix[]
  /** A decision is made for each of them, with all that it lists. */
  readonly approvals: readonly RequestApproval[]
  /** Requests of others that the same decision covers. */
  readonly others: readonly { readonly team: ApprovalItem['team']; readonly prefixes: number }[]
  /** Whether an approval has more changes than the API lists. */
  readonly isPartial: boolean
}

type Part = {
  readonly approval: Approval
  readonly item: ApprovalItem
}

/** Returns the requests of open approvals about routes, with their items, longest waiting first. */
export function requestsOf(approvals: readonly Approval[]): readonly ChangeRequest[] {
  const parts = approvals.flatMap((approval): Part[] =>
    (approval.items ?? []).map((item) => ({ approval, item })),
  )
  const groups = Map.groupBy(parts, ({ item }) => routeRequestKey(item))
  const requests = [...groups].map(([key, own]) => requestOf(key, own))
  // An approval without a list still waits for a decision.
  const empty = approvals.filter(({ items = [] }) => items.length === 0)
  const all = empty.length > 0 ? [...requests, emptyRequest(empty)] : requests
  return all
    .map((one) => ({ ...one, others: othersOf(one, all) }))
    .toSorted((a, b) => a.paused.localeCompare(b.paused) || a.key.localeCompare(b.key))
}

function requestOf(key: string, parts: readonly Part[]): ChangeRequest {
  const latest = parts
    .map(({ item }) => item)
    .toSorted((a, b) => (b.requested?.at ?? '').localeCompare(a.requested?.at ?? ''))[0]!
  const { team, requested } = latest
  const approvals = [...new Set(parts.map(({ approval }) => approval))]
  return {
    key,
    team,
    person: requested?.by_name ?? requested?.by ?? null,
    isByProvider: requested?.by_staff === true,
    action: requested?.action ?? null,
    asked: requested?.at ?? null,
    paused: firstOf(approvals),
    prefixes: prefixesOf(parts).toSorted(byPrefix),
    approvals: approvals.map(inRegion).toSorted((a, b) => a.region.localeCompare(b.region)),
    others: [],
    isPartial: approvals.some(({ items = [], item_count }) => item_count > items.length),
  }
}

const inRegion = ({ id, subject, reason, detail, created }: Approval): RequestApproval => ({
  id,
  region: subject.name,
  reason,
  detail,
  created,
})

const emptyRequest = (approvals: readonly Approval[]): ChangeRequest => ({
  key: unlistedRequestKey,
  team: null,
  person: null,
  isByProvider: false,
  action: null,
  asked: null,
  paused: firstOf(approvals),
  prefixes: [],
  approvals: approvals.map(inRegion),
  others: [],
  isPartial: false,
})

const firstOf = (approvals: readonly Approval[]): string =>
  approvals.map(({ created }) => created).toSorted()[0]!

/** IPv4 before IPv6, then by their numbers. */
const byPrefix = (a: RequestPrefix, b: RequestPrefix): number =>
  Number(a.cidr.includes(':')) - Number(b.cidr.includes(':')) ||
  a.cidr.localeCompare(b.cidr, 'en', { numeric: true })

function prefixesOf(parts: readonly Part[]): readonly RequestPrefix[] {
  const regionsOf = (own: readonly Part[], change: ApprovalItem['change']) =>
    [
      ...new Set(
        own.filter(({ item }) => item.change === change).map(({ approval }) => approval.subject.name),
      ),
    ].toSorted()
  return [...Map.groupBy(parts, ({ item }) => item.value)].map(([cidr, own]) => ({
    cidr,
    announcementId: own[0]!.item.announcement_id,
    withdrawnIn: regionsOf(own, 'withdraw'),
    changedIn: regionsOf(own, 'replace'),
  }))
}

/** Returns the customers whose prefixes are in the same approvals, with their numbers of prefixes. */
function othersOf(request: ChangeRequest, all: readonly ChangeRequest[]): ChangeRequest['others'] {
  const regions = new Set(request.approvals.map(({ region }) => region))
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
