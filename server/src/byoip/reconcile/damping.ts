// Route flap damping: an announcement of a prefix that was switched too often waits. Withdrawals are never damped,
// since waiting would keep up what its owner wants gone. Pure.
import type { Prefix } from '../../net/prefix.ts'
import type { Plan, PlanRow } from './plan.ts'

const hourMs = 3_600_000

/** Until when the prefix waits: until `limitMs`, of as many changes ago as an hour may have, is an hour old. */
export function dampedUntil({ limitMs }: Pick<PlanRow, 'limitMs'>, now: Date): Date | undefined {
  return limitMs !== null && limitMs + hourMs > now.getTime() ? new Date(limitMs + hourMs) : undefined
}

/** The plan without the announcements that wait, and until when each of those does. What is there already stays. */
export function damp(plan: Plan, now: Date): { plan: Plan; waiting: ReadonlyMap<Prefix, Date> } {
  const waiting = new Map<Prefix, Date>()
  for (const { prefix } of plan.announce) {
    const row = plan.observed.has(prefix) ? undefined : plan.rows.get(prefix)
    const until = row && dampedUntil(row, now)
    if (until) waiting.set(prefix, until)
  }
  if (waiting.size === 0) return { plan, waiting }
  return { plan: { ...plan, announce: plan.announce.filter(({ prefix }) => !waiting.has(prefix)) }, waiting }
}
