// The guard between a plan and the router: which of its withdrawals may go out now, and which wait for a human. Pure.
// It never holds an announcement, and it never lets a withdrawal pass that no row explains and nobody approved.
import type { Prefix } from '../../net/prefix.ts'
import { isLingering } from './observe.ts'
import type { CheckedRow, Plan } from './plan.ts'
import type { Route } from './speaker.ts'

export const windowMinutes = 10
/** How long what staff decided about a withdrawal stands. */
export const approvalMinutes = 15
export const rejectionHours = 24
export const planAgeMsMax = 10_000

export type HoldReason =
  | 'stale_plan'
  | 'no_rows'
  | 'invalid_rows'
  | 'too_many_withdrawals'
  | 'unexplained_routes'

/** What staff decided about a hold, while it stands. */
export type Decision = {
  readonly approved: boolean
  readonly reason: string
  readonly withdrawals: ReadonlySet<string>
  readonly decided: Date
}

export type GuardContext = {
  /** Routes of ours on the region's router, however many of them the plan is about. */
  readonly routes: number
  /** Since the older of the rows and the routes was read. */
  readonly planAgeMs: number
  /** Withdrawals that nobody approved, sent in the last ten minutes. */
  readonly withdrawnRecently: number
  readonly decisions: readonly Decision[]
}

export type PlannedHold = {
  readonly reason: HoldReason
  readonly detail: string
  readonly withdrawals: readonly Prefix[]
}

/** `approved`: by staff, or because it was sent before and the router shows the route still. It is not counted again. */
export type Withdrawal = { readonly prefix: Prefix; readonly approved: boolean }

export type Verdict = {
  readonly announce: readonly Route[]
  readonly withdraw: readonly Withdrawal[]
  readonly hold?: PlannedHold
  /** Withdrawals that staff rejected: nothing is sent, and nobody is asked again while the decision stands. */
  readonly declined: readonly Prefix[]
}

/** The most withdrawals of a region in ten minutes: the larger of 3 and 5 % of its routes. */
export function withdrawalsMax(routesInRegion: number): number {
  return Math.max(3, Math.floor(routesInRegion * 0.05))
}

/** What of the plan is applied, and what is held. A plan that is too old is not applied at all. */
export function guardPlan(plan: Plan, context: GuardContext): Verdict {
  if (context.planAgeMs > planAgeMsMax) return holdStale(plan, context)
  const explained = sortOut(plan.withdraw, plan, context.decisions)
  const unexplained = sortOut(plan.unexplained, plan, context.decisions)
  const rowsDoubtful = areRowsDoubtful(plan)
  const tooMany = explained.open.length + context.withdrawnRecently > withdrawalsMax(context.routes)
  const holdsExplained = explained.open.length > 0 && (rowsDoubtful || tooMany)
  const held = [...(holdsExplained ? explained.open : []), ...unexplained.open]
  const hold = holdOf(plan, context, held, tooMany && holdsExplained)
  const approved = [...explained.approved, ...unexplained.approved]
  const free = holdsExplained ? [] : explained.open
  return {
    announce: plan.announce,
    withdraw: [
      ...approved.map((prefix) => ({ prefix, approved: true })),
      ...free.map((prefix) => ({ prefix, approved: false })),
    ],
    declined: [...explained.declined, ...unexplained.declined],
    ...(hold ? { hold } : {}),
  }
}

function holdStale(plan: Plan, { planAgeMs }: GuardContext): Verdict {
  const detail = `The plan is ${Math.round(planAgeMs / 1000)} s old; the next run plans anew.`
  const withdrawals = [...plan.withdraw, ...plan.unexplained]
  return { announce: [], withdraw: [], declined: [], hold: { reason: 'stale_plan', detail, withdrawals } }
}

type Sorted = Record<'open' | 'approved' | 'declined', readonly Prefix[]>

function sortOut(prefixes: readonly Prefix[], plan: Plan, decisions: readonly Decision[]): Sorted {
  const groups = Object.groupBy(prefixes, (prefix) => {
    const row = plan.rows.get(prefix)
    const decision = decisionAbout(prefix, row, decisions)
    if (!decision) return row && isLingering(row) ? 'approved' : 'open'
    return decision.approved ? 'approved' : 'declined'
  })
  return { open: [], approved: [], declined: [], ...groups }
}

/** The newest decision that names the prefix and was taken after it was last switched: a new switch is a new question. */
function decisionAbout(
  prefix: Prefix,
  row: CheckedRow | undefined,
  decisions: readonly Decision[],
): Decision | undefined {
  const switchedMs = row?.changedMs ?? -Infinity
  return decisions
    .filter(({ withdrawals, decided }) => withdrawals.has(prefix) && decided.getTime() > switchedMs)
    .reduce<Decision | undefined>(
      (newest, one) => (newest && newest.decided >= one.decided ? newest : one),
      undefined,
    )
}

/** One bad row is kept aside and stops nobody; many of them mean that the others are not to be believed either. */
function areRowsDoubtful({ quarantined, rows }: Plan): boolean {
  return quarantined.length > Math.max(3, (rows.size + quarantined.length) * 0.05)
}

function holdOf(
  plan: Plan,
  context: GuardContext,
  withdrawals: readonly Prefix[],
  tooMany: boolean,
): PlannedHold | undefined {
  const findings: (readonly [HoldReason, string])[] = []
  const { rows, quarantined, observed, unexplained } = plan
  const first = quarantined[0]
  if (rows.size + quarantined.length === 0 && withdrawals.length > 0) {
    findings.push(['no_rows', `The database names no row, while the router holds ${observed.size} routes.`])
  }
  if (first && (withdrawals.length > 0 || !isAcknowledged(context.decisions))) {
    const { row, reason } = first
    const total = rows.size + quarantined.length
    const example = `announcement ${row.announcementId}, ${row.prefix}: ${reason}`
    findings.push(['invalid_rows', `${quarantined.length} of ${total} rows make no sense (${example}).`])
  }
  if (tooMany) {
    const max = withdrawalsMax(context.routes)
    const before = `${context.withdrawnRecently} went out in the last ${windowMinutes} minutes`
    findings.push(['too_many_withdrawals', `More than ${max} withdrawals; ${before}.`])
  }
  if (withdrawals.some((prefix) => !rows.has(prefix))) {
    findings.push(['unexplained_routes', `No row says anything about ${unexplained.length} routes.`])
  }
  const [reason] = findings[0] ?? []
  return reason && { reason, detail: findings.map(([, text]) => text).join(' '), withdrawals }
}

/** Bad rows that hold nothing back are shown until somebody has looked at them. */
function isAcknowledged(decisions: readonly Decision[]): boolean {
  return decisions.some(({ reason }) => reason === 'invalid_rows')
}
