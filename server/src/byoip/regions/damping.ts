// Route flap damping: an announcement of a prefix that was enabled and disabled too often is delayed. Withdrawals are never
// damped, since a delay would keep a prefix announced against its owner's request. Pure.
import type { Prefix } from '../../net/prefix.ts'
import type { Plan, PlanRow } from './plan.ts'

const hourMs = 3_600_000

/** Returns until when the prefix is damped: until the oldest change of the hour's allowance (`limitMs`) is an hour old. */
export function dampedUntil({ limitMs }: Pick<PlanRow, 'limitMs'>, now: Date): Date | undefined {
  return limitMs !== null && limitMs + hourMs > now.getTime() ? new Date(limitMs + hourMs) : undefined
}

/**
 * Whether a router has shown the route since it was last enabled. The stored origin alone does not tell: it stays from before if the
 * route was disabled and enabled within one run. Enabling removes the state and reason of the last run, and the next run sets them.
 */
const isShownSinceEnabled = ({ announcedOrigin, state, reason }: PlanRow): boolean =>
  announcedOrigin !== null && (state === 'announced' || (reason !== null && reason !== 'damped'))

/**
 * Returns the plan without the damped announcements, and until when each of them is delayed. Damping delays new routes and never
 * removes existing ones: a route that a router has shown since it was enabled is not damped, so that a restarted router gets it
 * back immediately.
 */
export function damp(plan: Plan, now: Date): { plan: Plan; waiting: ReadonlyMap<Prefix, Date> } {
  const waiting = new Map<Prefix, Date>()
  for (const { prefix } of plan.announce) {
    const row = plan.rows.get(prefix)
    if (!row || plan.observed.has(prefix) || isShownSinceEnabled(row)) continue
    const until = dampedUntil(row, now)
    if (until) waiting.set(prefix, until)
  }
  if (waiting.size === 0) return { plan, waiting }
  return { plan: { ...plan, announce: plan.announce.filter(({ prefix }) => !waiting.has(prefix)) }, waiting }
}
