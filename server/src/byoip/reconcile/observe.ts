// From what a router holds after a run to what the rows then say: states and, where something is not yet as desired,
// the reason for people. Pure.
import type { Prefix } from '../../net/prefix.ts'
import type { RegionState } from '../announcement/announcement.ts'
import type { CheckedRow, Plan, PlanRow, QuarantinedRow } from './plan.ts'
import type { SeenRow } from './reconcile.store.ts'
import { sameRoute, type Route } from './speaker.ts'

/** What a run ended with. */
export type Outcome = {
  readonly after: ReadonlyMap<Prefix, Route>
  readonly wanted: ReadonlyMap<Prefix, Route>
  readonly waiting: ReadonlyMap<Prefix, Date>
  /** What was sent away. */
  readonly withdrawn: ReadonlySet<Prefix>
  readonly held: ReadonlySet<Prefix>
  readonly declined: ReadonlySet<Prefix>
  /** What the router refused. */
  readonly refused: ReadonlySet<string>
}

type Seen = { readonly state: RegionState; readonly message: string | null }

/** The rows of the region whose stored state or message is not what was seen. */
export function seenRows(regionId: number, plan: Plan, outcome: Outcome): SeenRow[] {
  const quarantined = plan.quarantined.filter(({ row }) => row.regionId === regionId)
  return [...seenOfRows(plan, outcome), ...quarantined.flatMap(seenOfQuarantined)]
}

function seenOfRows(plan: Plan, outcome: Outcome): SeenRow[] {
  const seen: SeenRow[] = []
  for (const row of plan.rows.values()) {
    const { state, message } = row.desired ? seenOfDesired(row, outcome) : seenOfUndesired(row, outcome)
    if (state === row.state && message === row.message) continue
    seen.push({ announcementId: row.announcementId, desired: row.desired, state, message })
  }
  return seen
}

function seenOfDesired({ prefix }: CheckedRow, { after, wanted, waiting, refused }: Outcome): Seen {
  if (refused.has(prefix)) return { state: 'error', message: 'The router of the region refuses the prefix.' }
  const present = after.get(prefix)
  const route = wanted.get(prefix)
  if (present && (!route || sameRoute(present, route))) return { state: 'announced', message: null }
  const until = waiting.get(prefix)
  return { state: 'announcing', message: until ? dampedMessage(until) : 'The router does not show it yet.' }
}

function dampedMessage(until: Date): string {
  return `It was switched too often within an hour; it is announced at ${until.toISOString()} at the earliest.`
}

function seenOfUndesired(row: CheckedRow, { after, withdrawn, held, declined, refused }: Outcome): Seen {
  const { prefix } = row
  if (!after.has(prefix)) return { state: 'withdrawn', message: null }
  if (refused.has(prefix))
    return { state: 'error', message: 'The router of the region refuses the withdrawal.' }
  if (held.has(prefix)) {
    return {
      state: 'withdrawing',
      message: "The withdrawal waits for the operator's approval; it is still announced.",
    }
  }
  if (declined.has(prefix)) {
    return {
      state: 'withdrawing',
      message: 'The operator has declined the withdrawal; it is still announced.',
    }
  }
  return { state: 'withdrawing', message: withdrawn.has(prefix) ? lingeringMessage(row) : null }
}

/** Whether the row says that its withdrawal was sent since it was last switched, and did not help. */
export function isLingering(row: PlanRow): boolean {
  return row.state === 'withdrawing' && row.message === lingeringMessage(row)
}

/** The same at every run, since a row is written only where it changes. */
function lingeringMessage({ changedMs }: PlanRow): string {
  const since = changedMs === null ? '' : `; it was switched off at ${new Date(changedMs).toISOString()}`
  return `The withdrawal was sent, and the router still shows it${since}.`
}

function seenOfQuarantined({ row, reason }: QuarantinedRow): SeenRow[] {
  const message = `This cannot be carried out: ${reason}. What is announced stays announced.`
  if (row.state === 'error' && row.message === message) return []
  if (!Number.isInteger(row.announcementId) || typeof row.desired !== 'boolean') return []
  return [{ announcementId: row.announcementId, desired: row.desired, state: 'error', message }]
}
