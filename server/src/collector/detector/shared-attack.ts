// Which reports of several collectors about one attack are stored, and under which id. Every collector evaluates the sum of all rates, so that
// each reports the attack, also while the database is down; one report of each interval is stored. It is decided by the times in the
// reports and not by when they arrive, so that reports of the past have the same result in any order of collectors. Pure.
import { attackId, attackStartOf } from './attack-id.ts'
import type { Detection } from './detection.ts'

/** The newest attack on a network, from the reports that were stored. */
export type SharedAttack = {
  readonly id: string
  /** The collector whose reports are stored. */
  readonly collector: string
  /** The end of its event: by a report, or for silence. */
  readonly ended: Date | null
  readonly observed: Date
}

/** Three reports are missing: another collector takes over. */
const takeOverMs = 30_000
/** Time without a report after which an attack with another id is another attack. */
const staleMs = 600_000

type Report = Pick<Detection, 'id' | 'network' | 'direction' | 'status' | 'start' | 'end' | 'observed'>

/** Returns the attack after the report, if the report is to be stored under its id; undefined if it is another collector's to report. */
export function nextAttack(
  known: SharedAttack | undefined,
  report: Report,
  collector: string,
): SharedAttack | undefined {
  const observed = new Date(report.observed)
  const ended = report.end === undefined ? null : new Date(report.end)
  if (!known || isNew(known, report)) return { id: report.id, collector, ended, observed }
  const sinceMs = observed.getTime() - known.observed.getTime()
  if (isContinued(known, report, collector, sinceMs)) {
    // Its own id may be that of the event that has ended, which stays so.
    return { id: attackId(report.network, report.observed, report.direction), collector, ended, observed }
  }
  if (known.collector !== collector && sinceMs <= takeOverMs) return undefined
  return {
    ...known,
    collector,
    ended: known.ended && ended && known.ended > ended ? known.ended : (ended ?? known.ended),
    observed: sinceMs > 0 ? observed : known.observed,
  }
}

function isNew({ ended, observed }: SharedAttack, { start }: Report): boolean {
  return Date.parse(start) > (ended?.getTime() ?? observed.getTime() + staleMs)
}

/**
 * Returns whether the attack continues after its event has ended. Reports from before the end, which waited in a spool,
 * belong to that event.
 */
function isContinued(
  known: SharedAttack,
  { id, status, observed }: Report,
  collector: string,
  sinceMs: number,
): boolean {
  if (status !== 'ongoing') return false
  if (known.ended === null) return known.id !== id && sinceMs > staleMs
  return (
    Date.parse(observed) > known.ended.getTime() && (known.collector === collector || sinceMs > takeOverMs)
  )
}

/**
 * The report as it is stored. For an attack that continues after its event has ended, start and totals cover both
 * events.
 */
export function storedReport(detection: Detection, { id }: SharedAttack): object {
  const start = attackStartOf(id)
  // Collectors notice an attack within seconds.
  if (Date.parse(detection.start) >= start - takeOverMs) return { ...detection, id }
  return { ...detection, id, start: new Date(start), total_bytes: undefined, total_packets: undefined }
}
