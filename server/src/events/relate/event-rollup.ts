// The differences that changes of teams' events make to the kept counts (team_event_counts) and to the rollup by time (team_event_hours). Pure; both are
// written with the events, in one transaction.
import type { Selectable } from 'kysely'
import type { TeamEventCountsTable, TeamEventHoursTable, TeamEventsTable } from '../../db/schema.ts'

/** The fields of a row of team_events that are counted. */
export type CountedEvent = Readonly<
  Pick<
    Selectable<TeamEventsTable>,
    'team_id' | 'start_at' | 'end_at' | 'affected_bps' | 'affected_pps' | 'classification_key' | 'facet'
  >
>

/** Null: the team did not have the event before, or has it no longer. */
export type EventChange = { readonly before: CountedEvent | null; readonly after: CountedEvent | null }

export type CountRow = Selectable<TeamEventCountsTable>
export type HourRow = Selectable<TeamEventHoursTable>
export type HourKey = Pick<HourRow, 'team_id' | 'minutes' | 'at' | 'classification_key'>

const minuteMs = 60_000
const dayMs = 86_400_000
/** For each length of rows, the longest event whose peaks are in all rows that it overlaps. SQL: `longestKept`. */
const longestKept = { 15: dayMs, 60: dayMs, 360: 30 * dayMs } as const
/** The bucket of `end` of events that have not ended. */
const notEnded = 2_147_483_647
const lengths = [15, 60, 360] as const

/** Returns the bucket of a rate: 16 for each power of two, as SQL's rate_bucket(). */
export function rateBucket(rate: number): number {
  if (rate < 16) return rate
  // 53 bits are exact, so the exponent of the number itself is used.
  let exponent = Math.floor(Math.log2(rate))
  if (2 ** exponent > rate) exponent--
  else if (2 ** (exponent + 1) <= rate) exponent++
  return (exponent - 3) * 16 + (Math.floor(rate / 2 ** (exponent - 4)) % 16)
}

/** Returns the non-zero differences of the counts. */
export function countChanges(changes: readonly EventChange[]): CountRow[] {
  const rows = new Map<string, CountRow & { events: number }>()
  const count = (
    { team_id, start_at, end_at, affected_bps, affected_pps, facet }: CountedEvent,
    n: number,
  ) => {
    const add = (ofFacet: number, measure: CountRow['measure'], bucket: number): void => {
      const key = `${team_id} ${ofFacet} ${measure} ${bucket}`
      const row = rows.get(key)
      if (row) row.events += n
      else rows.set(key, { team_id, facet: ofFacet, measure, bucket, events: n })
    }
    const [start, end] = [dayOf(start_at), end_at === null ? notEnded : dayOf(end_at)]
    for (const each of [0, facet]) {
      add(each, 'all', 0)
      add(each, 'start', start)
      add(each, 'start_block', Math.trunc(start / 64))
      add(each, 'end', end)
      add(each, 'end_block', Math.trunc(end / 64))
    }
    add(0, 'bps', rateBucket(affected_bps))
    add(0, 'pps', rateBucket(affected_pps))
  }
  for (const { before, after } of changes) {
    if (before && after && isSameCount(before, after)) continue
    if (before) count(before, -1)
    if (after) count(after, 1)
  }
  return [...rows.values()].filter(({ events }) => events !== 0)
}

const dayOf = (at: Date): number => Math.floor(at.getTime() / dayMs)

/** Returns the additions to rows of the rollup. Maxima come from the current events: see `staleHours`. */
export function hourChanges(changes: readonly EventChange[]): HourRow[] {
  const rows = new Map<string, Mutable<HourRow>>()
  const count = (event: CountedEvent, n: number) => {
    for (const hour of hoursOf(event)) {
      const row = rows.get(keyOf(hour))
      const [max_bps, max_pps] = n > 0 ? [hour.max_bps, hour.max_pps] : [null, null]
      const [started, ended] = [n * hour.started, n * hour.ended]
      if (!row) {
        rows.set(keyOf(hour), { ...hour, started, ended, max_bps, max_pps })
        continue
      }
      row.started += started
      row.ended += ended
      row.max_bps = greater(row.max_bps, max_bps)
      row.max_pps = greater(row.max_pps, max_pps)
    }
  }
  for (const { before, after } of changes) {
    if (before && after && isSameHours(before, after)) continue
    if (before) count(before, -1)
    if (after) count(after, 1)
  }
  return [...rows.values()].filter(
    ({ started, ended, max_bps }) => started !== 0 || ended !== 0 || max_bps !== null,
  )
}

/** Returns the rows whose maxima may come from former values of events: these are read from the events again. */
export function staleHours(changes: readonly EventChange[]): HourKey[] {
  const rows = new Map<string, HourKey>()
  for (const { before, after } of changes) {
    if (!before?.end_at || (after && isSameHours(before, after))) continue
    const now = new Map(after ? hoursOf(after).map((hour) => [keyOf(hour), hour]) : [])
    for (const hour of hoursOf(before)) if (!contains(now.get(keyOf(hour)), hour)) rows.set(keyOf(hour), hour)
  }
  return [...rows.values()].map(({ team_id, minutes, at, classification_key }) => ({
    team_id,
    minutes,
    at,
    classification_key,
  }))
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const keyOf = ({ team_id, minutes, at, classification_key }: HourKey): string =>
  `${team_id} ${minutes} ${at.getTime()} ${classification_key}`

const greater = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b)

/**
 * The rows in which the event started and ended, and the rows between unless it is too long for rows of their length.
 * They have its peaks if it has ended.
 */
function hoursOf(event: CountedEvent): HourRow[] {
  const { team_id, start_at, end_at, classification_key } = event
  const lasted = end_at === null ? Infinity : end_at.getTime() - start_at.getTime()
  const [max_bps, max_pps] = end_at === null ? [null, null] : [event.affected_bps, event.affected_pps]
  return lengths.flatMap((minutes) => {
    const ms = minutes * minuteMs
    const first = Math.floor(start_at.getTime() / ms)
    const last = end_at === null ? null : Math.floor(end_at.getTime() / ms)
    const places =
      lasted <= longestKept[minutes]
        ? Array.from({ length: last! - first + 1 }, (_, n) => first + n)
        : new Set(last === null ? [first] : [first, last])
    return [...places].map((n) => ({
      team_id,
      minutes,
      at: new Date(n * ms),
      classification_key,
      started: Number(n === first),
      ended: Number(n === last),
      max_bps,
      max_pps,
    }))
  })
}

const isSameTime = (a: CountedEvent, b: CountedEvent): boolean =>
  a.start_at.getTime() === b.start_at.getTime() && a.end_at?.getTime() === b.end_at?.getTime()

const isSamePeak = (a: CountedEvent, b: CountedEvent): boolean =>
  a.affected_bps === b.affected_bps && a.affected_pps === b.affected_pps

const isSameCount = (a: CountedEvent, b: CountedEvent): boolean =>
  a.facet === b.facet && isSameTime(a, b) && isSamePeak(a, b)

/** Peaks of an event that has not ended are not kept. */
const isSameHours = (a: CountedEvent, b: CountedEvent): boolean =>
  a.classification_key === b.classification_key && isSameTime(a, b) && (isSamePeak(a, b) || a.end_at === null)

/** Returns whether the maxima of the current row are at least as large as in the former row. */
const contains = (now: HourRow | undefined, before: HourRow): boolean =>
  (now?.max_bps ?? -1) >= before.max_bps! && (now?.max_pps ?? -1) >= before.max_pps!
