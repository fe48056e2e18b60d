// Updates the marks MITIGATION_ACTIVE and MITIGATION_ENDED of events from the traffic that installed rules drop: a rule
// that is only desired has no effect. Processes the events of a team in parts, so that no team delays others for long.
import type { Db } from '../db/postgres.ts'
import { markEvents, saveEffects, type MarkChange, type MarkEffect } from '../events/relate/event-mark.ts'
import {
  listAttacks,
  listActiveRules,
  listMitigatingTeams,
  type DetectedAttack,
  listScoped,
  type HeldRow,
  type ScopedEvent,
} from './mitigation.store.ts'
import type { Effect, MeasureMitigation } from './measure-mitigation.ts'
import { createMitigation, type HeldList, type Mitigation } from './mitigation.ts'
import { findStored } from './shield-rule.ts'

/** Events per read, and per transaction. */
const readMax = 200
const changedMax = 100

export type MitigationReport = { readonly marked: number; readonly failed: readonly unknown[] }

/**
 * Gets the seconds from the detection of each attack until the first scrubber installed a rule written since, once per
 * attack.
 */
export type OnMitigated = (seconds: readonly number[]) => void

export type MarkOptions = {
  readonly signal?: AbortSignal
  readonly onMitigated?: OnMitigated
  /** Measures the part that rules drop; if it is absent or has no answer, the conditions of the rules decide. */
  readonly measure?: MeasureMitigation
}

/** An attack is mitigated from this part of its octets or packets on. */
const shareMin = 0.05

/** Returns how many events got other marks, and the errors of teams; the other teams are not affected. */
export async function markMitigations(db: Db, options: MarkOptions = {}): Promise<MitigationReport> {
  let marked = 0
  const failed: unknown[] = []
  for (const teamId of await listMitigatingTeams(db)) {
    if (options.signal?.aborted) break
    try {
      marked += await markTeam(db, teamId, options)
    } catch (error) {
      failed.push(error)
    }
  }
  return { marked, failed }
}

async function markTeam(
  db: Db,
  teamId: number,
  { signal, onMitigated = () => {}, measure = async () => new Map<string, Effect>() }: MarkOptions,
): Promise<number> {
  const held = heldOf(await listActiveRules(db, teamId))
  let marked = 0
  for (let last = ''; ;) {
    if (signal?.aborted) return marked
    const events = await listScoped(db, teamId, last, readMax)
    const { changes, effects } = await changesOf(db, teamId, events, held, measure)
    for (let at = 0; at < changes.length; at += changedMax) {
      const part = changes.slice(at, at + changedMax)
      marked += await db.transaction().execute((trx) => markEvents(trx, teamId, part))
      onMitigated(part.flatMap(({ seconds }) => seconds ?? []))
    }
    await saveEffects(db, teamId, effects)
    if (events.length < readMax) return marked
    last = events.at(-1)!.eventId
  }
}

/** The lists of each scrubber, without rules that cannot be parsed. */
const heldOf = (rows: readonly HeldRow[]): HeldList[][] =>
  [...Map.groupBy(rows, ({ scrubber }) => scrubber).values()].map((lists) =>
    lists.map(({ prefix, rules }) => ({
      prefix,
      rules: rules.flatMap((rule) => {
        const parsed = findStored(rule, prefix)
        return parsed ? [{ id: rule.id, created: new Date(rule.created), ...parsed }] : []
      }),
    })),
  )

type Covered = { readonly effect: MarkEffect; readonly seconds: number | null }

async function changesOf(
  db: Db,
  teamId: number,
  events: readonly ScopedEvent[],
  held: readonly (readonly HeldList[])[],
  measure: MeasureMitigation,
): Promise<{
  readonly changes: readonly (MarkChange & { readonly seconds: number | null })[]
  readonly effects: readonly { readonly eventId: string; readonly effect: MarkEffect }[]
}> {
  const mitigations = held.map(createMitigation)
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
  const measured = await measure({ teamId, held, attacks })
  const covered = new Map(
    attacks.flatMap((attack) => {
      const found = coveredOf(attack, measured.get(attack.eventId), mitigations, held)
      return found ? [[attack.eventId, found] as const] : []
    }),
  )
  return {
    changes: events
      .filter(({ eventId, isActive }) => covered.has(eventId) !== isActive)
      .map(({ eventId, isActive, wasMitigated }) => ({
        eventId,
        marks: { MITIGATION_ACTIVE: !isActive, MITIGATION_ENDED: isActive },
        seconds: wasMitigated ? null : (covered.get(eventId)?.seconds ?? null),
      })),
    effects: [...covered].map(([eventId, { effect }]) => ({ eventId, effect })),
  }
}

/** Undefined if the attack is not mitigated: as it is measured, or else by the conditions of the rules. */
function coveredOf(
  attack: DetectedAttack,
  measured: Effect | undefined,
  mitigations: readonly Mitigation[],
  held: readonly (readonly HeldList[])[],
): Covered | undefined {
  if (measured) {
    const { share_bytes, share_packets, source, rules: ids } = measured
    if (Math.max(share_bytes, share_packets) < shareMin) return undefined
    const rules = held.flat().flatMap(({ rules: all }) => all.filter(({ id }) => ids.includes(id)))
    return { effect: { share_bytes, share_packets, source }, seconds: secondsTo(attack, rules) }
  }
  const rules = mitigations.flatMap((one) => one.ruleAgainst(attack) ?? [])
  const effect: MarkEffect = { share_bytes: null, share_packets: null, source: 'rules' }
  return rules.length > 0 ? { effect, seconds: secondsTo(attack, rules) } : undefined
}

/** Null if any rule is older than the detection: the attack was mitigated without a reaction. */
function secondsTo(
  { detectedSeconds, detected }: DetectedAttack,
  rules: readonly { readonly created: Date }[],
): number | null {
  return detected !== null && rules.length > 0 && rules.every(({ created }) => created >= detected)
    ? detectedSeconds
    : null
}
