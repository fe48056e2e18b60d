// Route flap damping: an announcement of a prefix that was switched too often waits. Withdrawals are never damped,
// since waiting would keep up what its owner wants gone. Pure.
import type { Prefix } from '../net/prefix.ts'
import { changesPerHourMax } from './announcement.ts'
import type { Plan } from './plan.ts'

const hourMs = 3_600_000

/** Until when the prefix waits, given the times at which its desired state changed; undefined when it does not. */
export function dampedUntil(changes: readonly Date[], now: Date): Date | undefined {
  const oldest = changes.at(-1 - changesPerHourMax)
  if (oldest === undefined) return undefined
  const until = new Date(oldest.getTime() + hourMs)
  return until > now ? until : undefined
}

/** The plan without the announcements that wait, and until when each of those does. What is there already stays. */
export function damp(plan: Plan, now: Date): { plan: Plan; waiting: ReadonlyMap<Prefix, Date> } {
  const waiting = new Map<Prefix, Date>()
  for (const { prefix } of plan.announce) {
    const until = plan.observed.has(prefix)
      ? undefined
      : dampedUntil(plan.rows.get(prefix)?.changes ?? [], now)
    if (until) waiting.set(prefix, until)
  }
  if (waiting.size === 0) return { plan, waiting }
  return { plan: { ...plan, announce: plan.announce.filter(({ prefix }) => !waiting.has(prefix)) }, waiting }
}
