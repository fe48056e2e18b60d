// The state of each part of the installation as SQL, for the lists of staff and for the counts of `pharos status`: a part counts as it is listed.
import type { PartState, StatusPart } from '@pharos/contract/operator/status'
import { sql, type RawBuilder } from 'kysely'
import { lockClass } from '../db/lock-class.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { failing as isSourceFailing } from '../events/ingest/source-list.store.ts'
import { deviceStatusSql } from '../inventory/device/device.store.ts'
import { runningSeconds } from './status.store.ts'

/** Whether a loop of a running process with the name is late, as in `isLate` of process-list.ts. */
const hasLateLoop = (name: RawBuilder<unknown>) => sql`exists (
  select from processes p, jsonb_array_elements(p.loops) l
  where p.seen >= now() - make_interval(secs => ${sql.lit(runningSeconds)}) and l ->> 'name' = ${name}
    and coalesce((l ->> 'last_success')::timestamptz, p.started)
      < p.seen - make_interval(secs => 3 * (l ->> 'interval_seconds')::float8 + 60))`

/** Whether a process has the lock of the leadership. */
const isLed = (name: RawBuilder<unknown>) => sql`exists (
  select from pg_locks l where l.locktype = 'advisory' and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and l.classid::bigint = ${sql.lit(lockClass.leadership)} and l.objid::bigint = hashtext(${name})::bigint & 4294967295)`

const shieldLoop = sql`'shield:' || s.name`

/** Of the scrubber `s`. Without a reconciler that works on it, nobody knows what it holds. */
export const scrubberState = sql<PartState>`case
  when not ${isLed(shieldLoop)} then 'unknown'
  when ${hasLateLoop(shieldLoop)}
    or exists (select from shield_installs i where i.scrubber = s.name and i.state = 'unreachable') then 'failing'
  else 'ok' end`

/** Seconds for which a name server may be behind, and without a query of its serials. */
const behindSeconds = 25
const observedSeconds = 300

/** The zones `z` of the name server `v` that are not at their newest version. */
export const lateZones = sql`(
  select z.zone_id from dns_server_zones z where z.server_id = v.id and z.state in ('behind', 'failing')
    and greatest(z.since, z.reached) < now() - make_interval(secs => ${sql.lit(behindSeconds)})) z`

/** Of the name server `v`. */
export const nameServerState = sql<PartState>`case
  when v.checked is null or v.checked < now() - make_interval(secs => ${sql.lit(observedSeconds)}) then 'unknown'
  when v.error is not null or exists (select from ${lateZones}) then 'failing'
  else 'ok' end`

/** Seconds without flows after which an exporter is silent. */
const silentSeconds = 900

/** Of the exporter `e`. Without a collector, nobody knows whether it sends. */
export const exporterState = sql<PartState>`case
  when e.last_seen >= now() - make_interval(secs => ${sql.lit(silentSeconds)}) then 'ok'
  when not exists (select from processes p where p.seen >= now() - make_interval(secs => ${sql.lit(runningSeconds)})
    and 'collector' = any(p.roles)) then 'unknown'
  else 'failing' end`

const webhookState = sql`case
  when w.disabled_reason = 'user' then 'paused'
  when not w.enabled or w.failing_since is not null then 'failing'
  when w.last_delivery is null then 'unknown'
  else 'ok' end`

const deviceState = sql`case ${deviceStatusSql}
  when 'online' then 'ok' when 'maintenance' then 'paused' when 'unknown' then 'unknown' else 'failing' end`

const sourceState = sql`case when ${isSourceFailing} then 'failing'
  when exists (select from deliveries d where d.source_key = s.key) then 'ok' else 'unknown' end`

type CountedPart = Exclude<StatusPart, 'regions' | 'routers' | 'sessions' | 'registries'>

/** The state of each row of a part. Devices that nothing reads have none. */
const states: Readonly<Record<CountedPart, RawBuilder<unknown>>> = {
  devices: sql`select ${deviceState} as state
    from devices d left join device_states s on s.device_id = d.id where d.driver <> 'none'`,
  detectors: sql`select ${sourceState} as state from sources s`,
  webhooks: sql`select ${webhookState} as state from webhooks w`,
  name_servers: sql`select ${nameServerState} as state from dns_servers v`,
  scrubbers: sql`select ${scrubberState} as state from scrubbers s`,
  exporters: sql`select ${exporterState} as state from flow_exporters e`,
}

export type PartStateRow = { readonly part: StatusPart; readonly state: PartState; readonly count: number }

/** Counts what the database lists, by part and state. */
export async function countPartStates(db: Db | Trx): Promise<PartStateRow[]> {
  const all = Object.entries(states).map(
    ([part, statement]) => sql`select ${sql.lit(part)} as part, r.state from (${statement}) r`,
  )
  const { rows } = await sql<PartStateRow>`
    select part, state, count(*) as count from (${sql.join(all, sql` union all `)}) a group by part, state`.execute(
    db,
  )
  return rows
}
