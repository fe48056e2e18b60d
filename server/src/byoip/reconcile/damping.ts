// Route flap damping: an announcement of a prefix that was enabled and disabled too often waits. Withdrawals are never
// damped, since waiting would keep announced what its owner wants gone. Pure.
import type { Prefix } from '../../net/prefix.ts'
import type { Plan, PlanRow } from './plan.ts'

const hourMs = 3_600_000

/** Until when the prefix waits: until `limitMs`, of as many changes ago as an hour may have, is an hour old. */
export function dampedUntil({ limitMs }: Pick<PlanRow, 'limitMs'>, now: Date): Date | undefined {
  return limitMs !== null && limitMs + hourMs > now.getTime() ? new Date(limitMs + hourMs) : undefined
}

/**
 * Returns the plan without the damped announcements, and until when each of them waits. Damping delays new routes and never
 * removes existing ones: a route that a router has shown since it was enabled is not damped, so that a router gets it back at
 * once after a restart.
 */
export function damp(plan: Plan, now: Date): { plan: Plan; waiting: ReadonlyMap<Prefix, Date> } {
  const waiting = new Map<Prefix, Date>()
  for (const { prefix } of plan.announce) {
    const row = plan.rows.get(prefix)
    if (!row || plan.observed.has(prefix) || row.announcedOrigin !== null) continue
    const until = dampedUntil(row, now)
    if (until) waiting.set(prefix, until)
  }
  if (waiting.size === 0) return { plan, waiting }
  return { plan: { ...plan, announce: plan.announce.filter(({ prefix }) => !waiting.has(prefix)) }, waiting }
}
