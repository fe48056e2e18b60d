// The guard between the plans of a region's routers and the routers: which withdrawals and which changes of origin or
// next hop may go out now, and which wait for staff. Pure. It never holds a new announcement, and never lets a
// withdrawal pass that no row explains and nobody approved.
import type { HoldFinding, HoldReason } from '@pharos/contract/hold'
import type { Prefix } from '../../net/prefix.ts'
import { isLingering } from './observe.ts'
import type { CheckedRow, Plan, RouteChange } from './plan.ts'
import type { Route } from './speaker.ts'

export const windowMinutes = 10
/** How long a decision of staff about a hold stands. */
export const approvalMinutes = 15
export const rejectionHours = 24

/** What staff decided about a hold, while it stands. */
export type Decision = {
  readonly approved: boolean
  readonly reason: HoldReason
  readonly withdrawals: ReadonlySet<string>
  /** Keys of changeKey(). */
  readonly changes: ReadonlySet<string>
  readonly decided: Date
}

/** A withdrawal that nobody approved or asked for by name, and that was sent in the last ten minutes. */
export type RecentWithdrawal = { readonly prefix: string; readonly teamId: number | null }

export type GuardContext = {
  /** Routes of ours on the region's routers, however many of them the plans are about. */
  readonly routes: number
  readonly recent: readonly RecentWithdrawal[]
  readonly decisions: readonly Decision[]
}

/** The plan of one router. */
export type RouterPlan = { readonly router: string; readonly plan: Plan }

export type HeldChange = {
  readonly router: string
  readonly prefix: Prefix
  readonly from: string
  readonly to: string
}

export type PlannedHold = {
  /** Why, the gravest first; at least one. */
  readonly findings: readonly HoldFinding[]
  readonly withdrawals: readonly Prefix[]
  readonly changes: readonly HeldChange[]
}

/**
 * `counted`: takes from the budget of the region. Not if staff approved it, if a request names it, or if it was sent
 * before and the router still shows the route.
 */
export type Withdrawal = {
  readonly prefix: Prefix
  readonly teamId: number | null
  readonly counted: boolean
}

export type Verdict = {
  /** Withdrawals that may go out now. */
  readonly withdraw: readonly Withdrawal[]
  /** Withdrawals that wait for staff, or that staff rejected: these routes stay, and come back after a restart. */
  readonly held: ReadonlySet<Prefix>
  /** Those of `held` that staff rejected: nobody is asked again while the decision stands. */
  readonly declined: ReadonlySet<Prefix>
  /** Changes that wait or were rejected, by changeKey(). */
  readonly heldChanges: ReadonlySet<string>
  readonly hold?: PlannedHold
}

/** The most withdrawals of a region in ten minutes, and changes in one run: the larger of 3 and 5 % of its routes. */
export function withdrawalsMax(routesInRegion: number): number {
  return Math.max(3, Math.floor(routesInRegion * 0.05))
}

/** Of these a single team may use half, so that none can block the others. */
export function withdrawalsOfTeamMax(routesInRegion: number): number {
  return Math.ceil(withdrawalsMax(routesInRegion) / 2)
}

/** Identifies a change: an approval covers it for as long as it leads to the same route. */
export function changeKey(router: string, { prefix, to }: RouteChange): string {
  return `${router} ${prefix} ${routeText(to)}`
}

/** The same of a change as a hold keeps it. */
export const heldChangeKey = ({ router, prefix, to }: HeldChange): string => `${router} ${prefix} ${to}`

/** What a change shows people: `AS64496 via 192.0.2.1`. */
function routeText({ asPath, nextHop }: Route): string {
  const origin = asPath.at(-1)
  return `${origin === undefined ? 'own AS' : `AS${origin}`} via ${nextHop}`
}

/** Decides what of the plans is applied and what is held. */
export function guardPlans(plans: readonly RouterPlan[], context: GuardContext): Verdict {
  const all = merge(plans)
  const explained = sortWithdrawals(all.withdraw, all.rows, context.decisions)
  const unexplained = sortWithdrawals(all.unexplained, all.rows, context.decisions)
  const rowsDoubtful = areRowsDoubtful(all)
  const overBudget = rowsDoubtful ? noBudget(explained.open) : findOverBudget(explained.open, all, context)
  const heldRequests = rowsDoubtful ? explained.requested : []
  const changes = sortChanges(plans, context)
  const held = [...overBudget.held, ...heldRequests, ...unexplained.open]
  const hold = holdOf(all, context, { held, changes: changes.open, overBudget })
  const free = explained.open.filter((prefix) => !overBudget.held.has(prefix))
  const requested = rowsDoubtful ? [] : explained.requested
  const teamOf = (prefix: Prefix) => all.rows.get(prefix)?.teamId ?? null
  const withdrawalOf = (counted: boolean) => (prefix: Prefix) => ({ prefix, teamId: teamOf(prefix), counted })
  const declined = [...explained.declined, ...unexplained.declined]
  return {
    withdraw: [
      ...[...explained.approved, ...unexplained.approved, ...requested].map(withdrawalOf(false)),
      ...free.map(withdrawalOf(true)),
    ],
    held: new Set([...held, ...declined]),
    declined: new Set(declined),
    heldChanges: changes.held,
    ...(hold ? { hold } : {}),
  }
}

/** What one router is sent of its plan. */
export function sendsOf(
  { router, plan }: RouterPlan,
  verdict: Verdict,
): { announce: Route[]; withdraw: Prefix[] } {
  const isHeld = (change: RouteChange) => verdict.heldChanges.has(changeKey(router, change))
  const changed = plan.change
    .filter((change) => !isHeld(change) || !plan.observed.has(change.prefix))
    .map((change) => (isHeld(change) ? change.from : change.to))
  const restored = plan.drained
    ? []
    : [...plan.lost.values()].filter(({ prefix }) => verdict.held.has(prefix))
  return {
    announce: [...plan.announce, ...changed, ...restored],
    // What a restart has taken away is withdrawn all the same: it is counted, and a late announcement is undone.
    withdraw: verdict.withdraw
      .map(({ prefix }) => prefix)
      .filter((prefix) => plan.observed.has(prefix) || plan.lost.has(prefix)),
  }
}

type Merged = Pick<Plan, 'rows' | 'quarantined'> & {
  readonly withdraw: readonly Prefix[]
  readonly unexplained: readonly Prefix[]
  readonly observed: number
}

/** The plans of one run are of the same rows. */
function merge(plans: readonly RouterPlan[]): Merged {
  const [first] = plans
  const union = (prefixes: (plan: Plan) => Iterable<Prefix>) => [
    ...new Set(plans.flatMap(({ plan }) => [...prefixes(plan)])),
  ]
  return {
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
  rows: Merged['rows'],
  decisions: readonly Decision[],
): Sorted {
  const groups = Object.groupBy(prefixes, (prefix) => {
    const row = rows.get(prefix)
    const decision = decisionAbout(decisions, (one) => one.withdrawals.has(prefix), row)
    if (decision) return decision.approved ? 'approved' : 'declined'
    if (row?.requested) return 'requested'
    return row && isLingering(row) ? 'approved' : 'open'
  })
  return { open: [], requested: [], approved: [], declined: [], ...groups }
}

/** The newest decision that is about it and was taken after the row last changed: a new change is a new question. */
function decisionAbout(
  decisions: readonly Decision[],
  isAbout: (decision: Decision) => boolean,
  row: CheckedRow | undefined,
): Decision | undefined {
  const changedMs = row?.changedMs ?? -Infinity
  return decisions
    .filter((one) => isAbout(one) && one.decided.getTime() > changedMs)
    .reduce<Decision | undefined>(
      (newest, one) => (newest && newest.decided >= one.decided ? newest : one),
      undefined,
    )
}

function sortChanges(plans: readonly RouterPlan[], { routes, decisions }: GuardContext) {
  const undecided: { readonly key: string; readonly change: HeldChange }[] = []
  const held = new Set<string>()
  for (const { router, plan } of plans) {
    for (const change of plan.change) {
      const key = changeKey(router, change)
      const decision = decisionAbout(decisions, (one) => one.changes.has(key), plan.rows.get(change.prefix))
      if (decision && !decision.approved) held.add(key)
      if (decision) continue
      const { prefix, from, to } = change
      undecided.push({ key, change: { router, prefix, from: routeText(from), to: routeText(to) } })
    }
  }
  const prefixes = new Set(undecided.map(({ change }) => change.prefix))
  if (prefixes.size <= withdrawalsMax(routes)) return { open: [], held }
  for (const { key } of undecided) held.add(key)
  return { open: undecided.map(({ change }) => change), held }
}

/** One bad row is left aside and stops nobody; many of them mean that the others cannot be trusted either. */
function areRowsDoubtful({ quarantined, rows }: Merged): boolean {
  return quarantined.length > Math.max(3, (rows.size + quarantined.length) * 0.05)
}

type OverBudget = { readonly held: ReadonlySet<Prefix>; readonly isOver: boolean }

const noBudget = (open: readonly Prefix[]): OverBudget => ({ held: new Set(open), isOver: false })

/**
 * Which of the withdrawals are over budget: all of a team that is over its share, then all of the others if these are
 * over that of the region. All rather than the last ones, since letting the first few of a mistake pass lets it drip.
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
  if (rest.length > 0 && countOf(rest, context.recent) > withdrawalsMax(context.routes))
    for (const prefix of rest) held.add(prefix)
  return { held, isOver: held.size > 0 }
}

/** Prefixes, not sends: one that was withdrawn, announced and is withdrawn again counts once. */
const countOf = (prefixes: readonly Prefix[], recent: readonly RecentWithdrawal[]): number =>
  new Set<string>([...prefixes, ...recent.map(({ prefix }) => prefix)]).size

type Held = {
  readonly held: readonly Prefix[]
  readonly changes: readonly HeldChange[]
  readonly overBudget: OverBudget
}

function holdOf(
  all: Merged,
  context: GuardContext,
  { held, changes, overBudget }: Held,
): PlannedHold | undefined {
  const { rows, quarantined, observed, unexplained } = all
  const findings: HoldFinding[] = []
  const max = withdrawalsMax(context.routes)
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
  if (changes.length > 0) findings.push({ reason: 'too_many_changes', attrs: { max } })
  return findings.length > 0 ? { findings, withdrawals: held, changes } : undefined
}

/** Bad rows that hold nothing back are shown until somebody has looked at them. */
function isAcknowledged(decisions: readonly Decision[]): boolean {
  return decisions.some(({ reason }) => reason === 'invalid_rows')
}
