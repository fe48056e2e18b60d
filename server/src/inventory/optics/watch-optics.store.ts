// The SQL of early warnings: closed days of gauges, modules whose last day is not evaluated yet, and the findings.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { OpticLimits } from '../collect/device-source.ts'
import { leastDbm, valueDays } from '../gauge/gauge.store.ts'
import type { LaneWarnings } from './lane-warnings.ts'

const keptDays = 400
/** Enough days for every rule before the first evaluated day. */
const ruleDays = 120

/** Adds the figures of closed days, and removes expired ones. */
export async function closeGaugeDays(db: Db): Promise<void> {
  await sql`
    update gauge_days d set (median, least, greatest, samples) = (
      select percentile_cont(0.5) within group (order by v), min(v), max(v), count(v) from unnest(d.slots) v
      where v is not null and (g.metric not in ('rx_power', 'tx_power') or v >= ${sql.lit(leastDbm)}))
    from gauges g
    where g.id = d.gauge_id and d.samples is null and d.day < (now() at time zone 'UTC' - interval '10 minutes')::date`.execute(
    db,
  )
  await sql`
    update gauge_days set slots = null where slots is not null and samples is not null and day < (now() at time zone 'UTC')::date - ${sql.lit(valueDays)}`.execute(
    db,
  )
  await sql`delete from gauge_days where day < (now() at time zone 'UTC')::date - ${sql.lit(keptDays)}`.execute(
    db,
  )
  await sql`delete from interface_log where at < now() - make_interval(days => ${sql.lit(keptDays)})`.execute(
    db,
  )
}

export type WatchedModule = {
  readonly id: number
  readonly interfaceId: number
  /** Days since 1970 in UTC. */
  readonly watchedDay: number | null
  readonly warnings: readonly LaneWarnings[]
}

/** Locks modules whose states do not include the day yet. */
export async function lockModules(trx: Trx, day: number, max: number): Promise<WatchedModule[]> {
  const { rows } = await sql<WatchedModule>`
    select id, interface_id as "interfaceId", warned_day - date '1970-01-01' as "watchedDay", warnings from transceivers
    where is_present and has_ddm and coalesce(warned_day - date '1970-01-01' < ${day}::integer, true)
    order by id limit ${max} for update skip locked`.execute(trx)
  return rows
}

export type LaneDay = {
  readonly transceiverId: number
  readonly lane: number
  readonly metric: 'rx_power' | 'tx_power' | 'bias'
  readonly limits: OpticLimits | null
  readonly days: readonly { readonly day: number; readonly value: number }[]
}

/** The daily medians of the modules, in ascending order of days. */
export async function listLaneDays(trx: Trx, ids: readonly number[], until: number): Promise<LaneDay[]> {
  const { rows } = await sql<LaneDay>`
    select g.transceiver_id as "transceiverId", g.lane, g.metric, g.limits,
      coalesce((select json_agg(json_build_object('day', d.day - date '1970-01-01', 'value', d.median) order by d.day)
        from gauge_days d where d.gauge_id = g.id and d.median is not null
          and d.day between date '1970-01-01' + ${until}::integer - ${sql.lit(ruleDays)} and date '1970-01-01' + ${until}::integer),
        '[]') as days
    from gauges g
    where g.transceiver_id = any(${ids}::integer[]) and g.metric in ('rx_power', 'tx_power', 'bias')
    order by g.lane`.execute(trx)
  return rows
}

export async function saveWarnings(
  trx: Trx,
  day: number,
  modules: readonly {
    readonly id: number
    readonly warnings: readonly LaneWarnings[]
    readonly has_warning: boolean
  }[],
): Promise<void> {
  await sql`
    update transceivers t set warned_day = date '1970-01-01' + ${day}::integer, warnings = n.warnings, has_warning = n.has_warning
    from jsonb_to_recordset(${JSON.stringify(modules)}::jsonb) as n (id integer, warnings jsonb, has_warning boolean)
    where t.id = n.id`.execute(trx)
}
