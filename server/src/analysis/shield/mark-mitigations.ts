// Keeps the marks MITIGATION_ACTIVE and MITIGATION_ENDED of events in step with the rules that scrubbers hold: a rule that is merely wanted
// changes nothing. Works through the events of a team in parts, so that no team keeps others waiting for long.
import type { Db } from '../../db/postgres.ts'
import { markEvents, type MarkChange } from '../event-mark.ts'
import {
  listAttacks,
  listHeld,
  listMitigatingTeams,
  type DetectedAttack,
  listScoped,
  type HeldRow,
  type ScopedEvent,
} from './mitigation.store.ts'
import { createMitigation, type Mitigation } from './mitigation.ts'
import { findStored } from './shield-rule.ts'

/** Events that are read at once, and those that one transaction changes. */
const readMax = 200
const changedMax = 100

export type MitigationReport = { readonly marked: number; readonly failed: readonly unknown[] }

/** Gets the seconds from the detection of each attack until a scrubber first held a rule that was written since, once for each. */
export type OnMitigated = (seconds: readonly number[]) => void

/** Returns how many events got other marks, and the errors of teams; the other teams are not affected. */
export async function markMitigations(
  db: Db,
  signal?: AbortSignal,
  onMitigated: OnMitigated = () => {},
): Promise<MitigationReport> {
  let marked = 0
  const failed: unknown[] = []
  for (const teamId of await listMitigatingTeams(db)) {
    if (signal?.aborted) break
    try {
      marked += await markTeam(db, teamId, signal, onMitigated)
    } catch (error) {
      failed.push(error)
    }
  }
  return { marked, failed }
}

async function markTeam(
  db: Db,
  teamId: number,
  signal: AbortSignal | undefined,
  onMitigated: OnMitigated,
): Promise<number> {
  const mitigations = mitigationsOf(await listHeld(db, teamId))
  let marked = 0
  for (let last = ''; ;) {
    if (signal?.aborted) return marked
    const events = await listScoped(db, teamId, last, readMax)
    const changes = await changesOf(db, teamId, events, mitigations)
    for (let at = 0; at < changes.length; at += changedMax) {
      const part = changes.slice(at, at + changedMax)
      marked += await db.transaction().execute((trx) => markEvents(trx, teamId, part))
      onMitigated(part.flatMap(({ seconds }) => seconds ?? []))
    }
    if (events.length < readMax) return marked
    last = events.at(-1)!.eventId
  }
}

/** One for each scrubber. A rule that cannot be read counts for nothing. */
const mitigationsOf = (rows: readonly HeldRow[]): Mitigation[] =>
  [...Map.groupBy(rows, ({ scrubber }) => scrubber).values()].map((lists) =>
    createMitigation(
      lists.map(({ prefix, rules }) => ({
        prefix,
        rules: rules.flatMap((rule) => {
          const parsed = findStored(rule, prefix)
          return parsed ? [{ id: rule.id, created: new Date(rule.created), ...parsed }] : []
        }),
      })),
    ),
  )

async function changesOf(
  db: Db,
  teamId: number,
  events: readonly ScopedEvent[],
  mitigations: readonly Mitigation[],
): Promise<(MarkChange & { readonly seconds: number | null })[]> {
  const concerned = events.filter(
    ({ network, hasSeveral, isRecent }) =>
      isRecent && network !== null && (hasSeveral || mitigations.some((one) => one.mayConcern(network))),
  )
  const attacks =
    mitigations.length === 0 || concerned.length === 0
      ? []
      : await listAttacks(
          db,
          teamId,
          concerned.map(({ eventId }) => eventId),
        )
  const covered = new Map(
    attacks.flatMap((attack) => {
      const rules = mitigations.flatMap((one) => one.ruleAgainst(attack) ?? [])
      return rules.length > 0 ? [[attack.eventId, secondsTo(attack, rules)] as const] : []
    }),
  )
  return events
    .filter(({ eventId, isActive }) => covered.has(eventId) !== isActive)
    .map(({ eventId, isActive, wasMitigated }) => ({
      eventId,
      marks: { MITIGATION_ACTIVE: !isActive, MITIGATION_ENDED: isActive },
      seconds: wasMitigated ? null : (covered.get(eventId) ?? null),
    }))
}

/** Null if one of the rules is older than the detection: the attack was mitigated without anybody's reaction. */
function secondsTo(
  { detectedSeconds, detected }: DetectedAttack,
  rules: readonly { readonly created: Date }[],
): number | null {
  return detected !== null && rules.every(({ created }) => created >= detected) ? detectedSeconds : null
}
