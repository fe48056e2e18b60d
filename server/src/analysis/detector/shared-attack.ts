// Which reports of several collectors about one attack are stored, and under which id. Every collector evaluates the sum of all rates, so that
// each reports the attack, also while the database is down; one report of each interval is stored. It is decided by the times in the
// reports and not by when they arrive, so that reports of the past have the same result in any order of collectors. Pure.
import type { Detection } from './detector.ts'

/** The newest attack on a network, from the reports that were stored. */
export type SharedAttack = {
  readonly id: string
  /** Its reports are stored. */
  readonly collector: string
  readonly ended: Date | null
  readonly observed: Date
}

/** Three reports are missing: another collector takes over. */
const takeOverMs = 30_000
/** The event was ended by the loop of silent attacks. */
const staleMs = 600_000

/** Returns the attack after the report, if the report is to be stored under its id; undefined if it is another collector's to report. */
export function nextAttack(
  known: SharedAttack | undefined,
  { id, status, start, end, observed: time }: Pick<Detection, 'id' | 'status' | 'start' | 'end' | 'observed'>,
  collector: string,
): SharedAttack | undefined {
  const observed = new Date(time)
  const ended = end === undefined ? null : new Date(end)
  const sinceMs = known ? observed.getTime() - known.observed.getTime() : 0
  if (!known) return { id, collector, ended, observed }
  // An event that has ended stays so: an attack that continues elsewhere is another one.
  const isOver =
    known.ended !== null &&
    (Date.parse(start) > known.ended.getTime() || (status === 'ongoing' && sinceMs > takeOverMs))
  if (known.id !== id && (isOver || sinceMs > staleMs)) return { id, collector, ended, observed }
  if (known.collector !== collector && sinceMs <= takeOverMs) return undefined
  return { id: known.id, collector, ended, observed: sinceMs > 0 ? observed : known.observed }
}
