// The guard between the plans of a region's routers and the routers: which withdrawals and which changes of origin,
// next hop or communities are applied now, and which wait for approval. Pure. It never delays a new announcement, and
// never allows a withdrawal without a row and without an approval. Withdrawals of black holes always pass: they make
// hosts reachable again.
import type { ApprovalFinding, ReasonOf } from '@pharos/contract/reason/approval-reason'
import { removalsMax } from '../../approval/budget.ts'
import { itemKey, type PlannedApproval, type StoredItem } from '../../approval/coverage.ts'
import type { Prefix } from '../../net/prefix.ts'
import { reservedCommunity } from '../../net/community.ts'
import { isBlackhole } from './blackhole-route.ts'
import { isLingering } from './observe.ts'
import type { CheckedRow, Plan, RouteChange } from './plan.ts'
import type { Route } from './speaker.ts'

export const windowMinutes = 10

export type RouteReason = ReasonOf<'routes'>

/** A decision of staff, while it is valid. */
export type Decision = {
  readonly approved: boolean
  readonly reason: RouteReason
  /** Keys of withdrawalKey() and changeKey(). */
  readonly covered: ReadonlySet<string>
  readonly decided: Date
  /** Id of the audit entry of the decision; null if it is not known. */
  readonly entry: number | null
}

/** A withdrawal of the last ten minutes that was neither approved nor requested by name. */
export type RecentWithdrawal = { readonly prefix: string; readonly teamId: number | null }

export type GuardContext = {
  /** Number of the owner's routes on the region's routers, also of routes that the plans do not cover. */
  readonly routes: number
  readonly recent: readonly RecentWithdrawal[]
  readonly decisions: readonly Decision[]
}

/** The plan of one router. */
export type RouterPlan = {
  readonly router: string
  /** The region no longer has the router. */
  readonly isFormer?: boolean
  readonly plan: Plan
}

/**
 * `counted`: counts against the budget of the region. False if staff approved it, if a request names it, if it was sent
 * before and the router still has the route, or if only former routers have the route.
 */
export type Withdrawal = {
  readonly prefix: Prefix
  readonly teamId: number | null
  readonly counted: boolean
}

export type GuardResult = {
  /** Withdrawals to apply now. */
  readonly withdraw: readonly Withdrawal[]
  /** Withdrawals that await approval or were rejected: these routes stay, and are announced again after a restart. */
  readonly held: ReadonlySet<Prefix>
  /** The rejected part of `held`: staff are not asked again while the decision is valid. */
  readonly declined: ReadonlySet<Prefix>
  /** Keys of changeKey() of changes that await approval or were rejected. */
  readonly heldChanges: ReadonlySet<string>
  /** Changes that staff must decide; absent if all are decided. */
  readonly approval?: Pick<PlannedApproval, 'findings' | 'items'>
}

/** A single team may use half of the budget of a region, so that it cannot block the others. */
export function withdrawalsOfTeamMax(routesInRegion: number): number {
  return Math.ceil(removalsMax(routesInRegion) / 2)
}

export const withdrawalOf = (prefix: Prefix): StoredItem => ({ change: 'withdraw', value: prefix })

const replacementOf = (router: string, { prefix, from, to }: RouteChange): StoredItem => ({
  change: 'replace',
  value: prefix,
  router,
  from: routeText(from),
  to: routeText(to),
})

const withdrawalKey = (prefix: Prefix): string => itemKey(withdrawalOf(prefix))

/** Identifies a change: an approval covers it as long as it results in the same route. */
export const changeKey = (router: string, { prefix, to }: RouteChange): string =>
  itemKey({ change: 'replace', value: prefix, router, to: routeText(to) })

/** Returns the text of a route as staff see it: `AS64496 via 192.0.2.1 with 64500:120, 64500:1:2`. */
export function routeText({ asPath, nextHop, communities, largeCommunities }: Route): string {
  const origin = asPath.at(-1)
  const all = [...communities.toSorted(), ...largeCommunities.toSorted()]
  const suffix = all.length === 0 ? '' : ` with ${all.join(', ')}`
  return `${origin === undefined ? 'own AS' : `AS${origin}`} via ${nextHop}${suffix}`
}

/** Returns the reserved communities that a change adds to an announcement: neighbors might stop to pass it on. */
function reservedIn({ from, to }: RouteChange): string[] {
  if (isBlackhole(to)) return []
  const before = new Set([...from.communities, ...from.largeCommunities])
  return [...to.communities, ...to.largeCommunities].filter(
    (one) => !before.has(one) && reservedCommunity(one) !== undefined,
  )
}

/** Decides which parts of the plans are applied and which wait. */
export function guardPlans(plans: readonly RouterPlan[], context: GuardContext): GuardResult {
  const all = merge(plans)
  const explained = sortWithdrawals(all.withdraw, all, context.decisions)
  const unexplained = sortWithdrawals(all.unexplained, all, context.decisions)
  const rowsDoubtful = hasTooManyInvalidRows(all)
  const overBudget = rowsDoubtful ? noBudget(explained.open) : findOverBudget(explained.open, all, context)
  const heldRequests = rowsDoubtful ? explained.requested : []
  const changes = sortChanges(plans, context)
  const held = [...overBudget.held, ...heldRequests, ...unexplained.open]
  const approval = approvalOf(all, context, { held, changes, overBudget })
  const free = explained.open.filter((prefix) => !overBudget.held.has(prefix))
  const requested = rowsDoubtful ? [] : explained.requested
  const teamOf = (prefix: Prefix) => all.rows.get(prefix)?.teamId ?? null
  const withdraw = (counted: boolean) => (prefix: Prefix) => ({ prefix, teamId: teamOf(prefix), counted })
  const declined = [...explained.declined, ...unexplained.declined]
  return {
    withdraw: [
      ...[...explained.approved, ...unexplained.approved, ...requested].map(withdraw(false)),
      ...free.map(withdraw(true)),
    ],
    held: new Set([...held, ...declined]),
    declined: new Set(declined),
    heldChanges: changes.held,
    ...(approval ? { approval } : {}),
  }
}

/** Returns the routes to send to one router. */
export function changesForRouter(
  { router, plan }: RouterPlan,
  guarded: GuardResult,
): { announce: Route[]; withdraw: Prefix[] } {
  const isHeld = (change: RouteChange) => guarded.heldChanges.has(changeKey(router, change))
  const changed = plan.change
    .filter((change) => !isHeld(change) || !plan.observed.has(change.prefix))
    .map((change) => (isHeld(change) ? change.from : change.to))
  const restored = plan.drained
    ? []
    : [...plan.lost.values()].filter(({ prefix }) => guarded.held.has(prefix))
  return {
    announce: [...plan.announce, ...changed, ...restored],
    // A withdrawal of a route that the router has lost is sent too: it counts, and it undoes a late announcement.
    withdraw: guarded.withdraw
      .map(({ prefix }) => prefix)
      .filter((prefix) => plan.observed.has(prefix) || plan.lost.has(prefix)),
  }
}

type Merged = Pick<Plan, 'rows' | 'quarantined'> & {
  readonly withdraw: readonly Prefix[]
  readonly unexplained: readonly Prefix[]
  /** Withdrawals of former routers only: the region's own have shown that the route is gone. */
  readonly leftOver: ReadonlySet<Prefix>
  /** Black holes among the unexplained, unless no row was read at all. */
  readonly endless: ReadonlySet<Prefix>
  readonly observed: number
}

/** Merges the plans of one run, which all have the same rows. */
function merge(plans: readonly RouterPlan[]): Merged {
  const [first] = plans
  const union = (prefixes: (plan: Plan) => Iterable<Prefix>) => [
    ...new Set(plans.flatMap(({ plan }) => [...prefixes(plan)])),
  ]
  const withdrawnBy = (former: boolean) =>
    new Set(plans.flatMap(({ isFormer = false, plan }) => (isFormer === former ? plan.withdraw : [])))
  const endless = ({ plan }: RouterPlan) =>
    plan.rows.size === 0
      ? []
      : plan.unexplained.filter((prefix) => {
          const route = plan.observed.get(prefix)
          return route !== undefined && isBlackhole(route)
        })
  return {
    endless: new Set(plans.flatMap(endless)),
    leftOver: withdrawnBy(true).difference(withdrawnBy(false)),
    rows: first?.plan.rows ?? new Map(),
    quarantined: first?.plan.quarantined ?? [],
    withdraw: union(({ withdraw }) => withdraw),
    unexplained: union(({ unexplained }) => unexplained),
    observed: union(({ observed }) => observed.keys()).length,
  }
}

type Sorted = Record<'open' | 'requested' | 'approved' | 'declined', readonly Prefix[]>

function sortWithdrawals(
  prefixes: readonly Prefix[],
  { rows, endless, leftOver }: Merged,
  decisions: readonly Decision[],
): Sorted {
  const groups = Object.groupBy(prefixes, (prefix) => {
    const row = rows.get(prefix)
    if (row?.blackholeId !== undefined || endless.has(prefix)) return 'approved'
    const decision = decisionAbout(decisions, (one) => one.covered.has(withdrawalKey(prefix)), row)
    if (decision) return decision.approved ? 'approved' : 'declined'
    if (row?.requested || leftOver.has(prefix)) return 'requested'
    return row && isLingering(row) ? 'approved' : 'open'
  })
  return { open: [], requested: [], approved: [], declined: [], ...groups }
}

/**
 * Returns whether the decision is newer than the change. Compares entries of the audit log, since a clock may be set
 * back; compares the times if an entry is missing.
 */
const isAfter = ({ decided, entry }: Decision, row: CheckedRow | undefined): boolean =>
  entry !== null && typeof row?.changedEntry === 'number'
    ? entry > row.changedEntry
    : decided.getTime() > (row?.changedMs ?? -Infinity)

const isNewer = (one: Decision, other: Decision): boolean =>
  one.entry !== null && other.entry !== null ? one.entry > other.entry : one.decided > other.decided

/** Returns the newest decision about the prefix that is newer than the row's last change: each change needs its own decision. */
function decisionAbout(
  decisions: readonly Decision[],
  isAbout: (decision: Decision) => boolean,
  row: CheckedRow | undefined,
): Decision | undefined {
  return decisions
    .filter((one) => isAbout(one) && isAfter(one, row))
    .reduce<Decision | undefined>(
      (newest, one) => (newest && !isNewer(one, newest) ? newest : one),
      undefined,
    )
}

function sortChanges(plans: readonly RouterPlan[], { routes, decisions }: GuardContext) {
  const undecided: { readonly key: string; readonly item: StoredItem; readonly reserved: string[] }[] = []
  const held = new Set<string>()
  for (const { router, plan } of plans) {
    for (const change of plan.change) {
      const key = changeKey(router, change)
      const decision = decisionAbout(decisions, (one) => one.covered.has(key), plan.rows.get(change.prefix))
      if (decision && !decision.approved) held.add(key)
      if (decision) continue
      undecided.push({ key, item: replacementOf(router, change), reserved: reservedIn(change) })
    }
  }
  const prefixes = new Set(undecided.map(({ item }) => item.value))
  const isOver = prefixes.size > removalsMax(routes)
  const open = isOver ? undecided : undecided.filter(({ reserved }) => reserved.length > 0)
  for (const { key } of open) held.add(key)
  const reserved = new Set(undecided.flatMap((one) => one.reserved))
  return { open: open.map(({ item }) => item), held, isOver, reserved: [...reserved] }
}

/**
 * A single invalid row is quarantined without blocking others; if many are invalid, the others cannot be trusted
 * either.
 */
function hasTooManyInvalidRows({ quarantined, rows }: Merged): boolean {
  return quarantined.length > Math.max(3, (rows.size + quarantined.length) * 0.05)
}

type OverBudget = { readonly held: ReadonlySet<Prefix>; readonly isOver: boolean }

const noBudget = (open: readonly Prefix[]): OverBudget => ({ held: new Set(open), isOver: false })

/**
 * Returns the withdrawals that are over budget: all of a team that exceeds its share, then all others if these exceed the budget
 * of the region. All of them, since letting the first few of a mistake pass would apply the mistake step by step.
 */
function findOverBudget(open: readonly Prefix[], { rows }: Merged, context: GuardContext): OverBudget {
  const teamOf = (prefix: Prefix) => rows.get(prefix)?.teamId ?? null
  const held = new Set<Prefix>()
  for (const [teamId, prefixes] of Map.groupBy(open, teamOf)) {
    const recent = context.recent.filter((one) => one.teamId === teamId)
    if (countOf(prefixes, recent) <= withdrawalsOfTeamMax(context.routes)) continue
    for (const prefix of prefixes) held.add(prefix)
  }
  const rest = open.filter((prefix) => !held.has(prefix))
  if (rest.length > 0 && countOf(rest, context.recent) > removalsMax(context.routes))
    for (const prefix of rest) held.add(prefix)
  return { held, isOver: held.size > 0 }
}

/** Counts prefixes, not messages: a prefix that is withdrawn, announced and withdrawn again counts once. */
const countOf = (prefixes: readonly Prefix[], recent: readonly RecentWithdrawal[]): number =>
  new Set<string>([...prefixes, ...recent.map(({ prefix }) => prefix)]).size

type Held = {
  readonly held: readonly Prefix[]
  readonly changes: {
    readonly open: readonly StoredItem[]
    readonly isOver: boolean
    /** Reserved communities that the changes add. */
    readonly reserved: readonly string[]
  }
  readonly overBudget: OverBudget
}

function approvalOf(
  all: Merged,
  context: GuardContext,
  { held, changes, overBudget }: Held,
): GuardResult['approval'] {
  const { rows, quarantined, observed, unexplained } = all
  const findings: ApprovalFinding<RouteReason>[] = []
  const max = removalsMax(context.routes)
  if (rows.size + quarantined.length === 0 && held.length > 0)
    findings.push({ reason: 'no_rows', attrs: { routes: observed } })
  const [first] = quarantined
  if (first && (held.length > 0 || !isAcknowledged(context.decisions))) {
    const { row, problem } = first
    const attrs = { invalid: quarantined.length, total: rows.size + quarantined.length, problem }
    const example = { announcement_id: row.announcementId, cidr: row.prefix }
    findings.push({ reason: 'invalid_rows', attrs: { ...attrs, ...example } })
  }
  if (overBudget.isOver) {
    const attrs = { max, team_max: withdrawalsOfTeamMax(context.routes), minutes: windowMinutes }
    const recent = new Set(context.recent.map(({ prefix }) => prefix)).size
    findings.push({ reason: 'too_many_withdrawals', attrs: { ...attrs, recent } })
  }
  if (held.some((prefix) => !rows.has(prefix)))
    findings.push({ reason: 'unexplained_routes', attrs: { routes: unexplained.length } })
  if (changes.isOver) findings.push({ reason: 'too_many_changes', attrs: { max } })
  if (changes.reserved.length > 0)
    findings.push({
      reason: 'reserved_communities',
      attrs: { communities: changes.reserved.map(namedCommunity) },
    })
  return findings.length > 0 ? { findings, items: [...held.map(withdrawalOf), ...changes.open] } : undefined
}

/** Invalid rows that block no change are reported until staff acknowledge them. */
function isAcknowledged(decisions: readonly Decision[]): boolean {
  return decisions.some(({ reason }) => reason === 'invalid_rows')
}

const namedCommunity = (community: string): string => `${community} (${reservedCommunity(community)})`
