// The SQL of the completeness of the store's flows: waiting data at the collectors, and losses.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

/** The report of a collector. `lost`: minutes of which it lost flows since the last report, Unix seconds. */
export type CollectorDelay = {
  /** When the first flow of the oldest waiting file was received; undefined without waiting files. */
  readonly waitingMs: number | undefined
  readonly lost: readonly number[]
}

/** Seconds without a report after which a collector's last delay still counts. */
const reportedSeconds = 60
/** Flows are not kept longer; losses of before concern no answer. */
const keptDays = 400

/** Replaces the report of the collector, and adds its losses. Removes collectors that ended long ago. */
export async function saveFlowDelay(db: Db, collector: string, delay: CollectorDelay): Promise<void> {
  const lost = [...new Set(delay.lost)].map((second) => `[${iso(second)},${iso(second + 60)})`)
  const waiting = delay.waitingMs === undefined ? null : new Date(delay.waitingMs)
  await sql`
    with gone as (delete from flow_delays where reported < now() - make_interval(days => ${keptDays}))
    insert into flow_delays as d (collector, reported, waiting_since, lost)
    values (${collector}, now(), least(${waiting}::timestamptz, now()), ${`{${lost.join(',')}}`}::tstzmultirange)
    on conflict (collector) do update set reported = now(), waiting_since = excluded.waiting_since,
      lost = (d.lost + excluded.lost) * tstzmultirange(tstzrange(now() - make_interval(days => ${keptDays}), null))`.execute(
    db,
  )
}

const iso = (second: number): string => new Date(second * 1000).toISOString()

export type FlowDelay = {
  /** Age of the oldest flows that wait; null if no collector reports. */
  readonly seconds: number | null
  /** Null if no collector reports. */
  readonly completeUntil: Date | null
  /** Whether a collector lost flows of the window, or ended with flows of it that were never stored. */
  readonly isLost: boolean
}

/** Of all collectors together, since any of them may have flows of any team. */
export async function readFlowDelay(
  db: Db,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Promise<FlowDelay> {
  const window = sql`tstzrange(${new Date(startMs)}, ${new Date(Math.max(endMs, startMs))}, '[]')`
  const { rows } = await sql<{ known: boolean; since: Date | null; lost: boolean; now: Date }>`
    select now() as now, coalesce(bool_or(is_reporting), false) as known,
      min(waiting_since) filter (where is_reporting) as since,
      coalesce(bool_or(lost && ${window} or (not is_reporting and tstzrange(waiting_since, reported, '[]') && ${window})), false) as lost
    from (select *, reported > now() - make_interval(secs => ${reportedSeconds}) as is_reporting from flow_delays) d`.execute(
    db,
  )
  const { now, known, since, lost } = rows[0]!
  if (!known) return { seconds: null, completeUntil: null, isLost: lost }
  const completeUntil = since ?? now
  return {
    seconds: Math.max(0, Math.round((now.getTime() - completeUntil.getTime()) / 1000)),
    completeUntil,
    isLost: lost,
  }
}
