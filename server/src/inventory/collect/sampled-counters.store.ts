// The SQL of counters that devices send by themselves: the newest sample of each interface, from which polls read.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { storedJson } from '../../db/stored-json.ts'
import { mapSampled, type SampledInterface, type SampledName } from './next-sample.ts'

type StoredRow = Omit<SampledInterface, 'counters'> & {
  readonly counters: Readonly<Record<SampledName, string | null>>
}

const sampleColumns = sql`c.if_index as "ifIndex", c.name, extract(epoch from c.received)::float8 * 1000 as at,
  c.uptime_ms::float8 as "uptimeMs", c.type, c.speed_bps::float8 as "speedBps", c.is_admin_up as "isAdminUp",
  c.is_oper_up as "isOperUp", c.counters`

const sampledOf = ({ counters, ...row }: StoredRow): SampledInterface => ({
  ...row,
  at: Math.round(row.at),
  counters: mapSampled((name) => {
    const text = counters[name]
    return text === null ? null : BigInt(text)
  }),
})

/** Locks and returns the device that an exporter belongs to, if that is read by sFlow. */
export async function lockSampledDevice(trx: Trx, exporter: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select d.id from flow_exporters e join devices d on d.id = e.device_id
    where e.address = ${exporter} and d.driver = 'sflow' for no key update of d`.execute(trx)
  return rows[0]?.id
}

export async function deleteOldSamples(trx: Trx, deviceId: number): Promise<void> {
  await sql`
    delete from sampled_counters where device_id = ${deviceId} and received < now() - interval '1 day'`.execute(
    trx,
  )
}

export async function upsertSamples(
  trx: Trx,
  deviceId: number,
  samples: readonly SampledInterface[],
): Promise<void> {
  const rows = storedJson(
    samples.map(({ counters, ifIndex, ...sample }) => ({
      if_index: ifIndex,
      name: sample.name,
      received: new Date(sample.at).toISOString(),
      uptime_ms: sample.uptimeMs,
      type: sample.type,
      speed_bps: sample.speedBps,
      is_admin_up: sample.isAdminUp,
      is_oper_up: sample.isOperUp,
      counters: Object.fromEntries(
        Object.entries(counters).map(([name, value]) => [name, value === null ? null : String(value)]),
      ),
    })),
  )
  await sql`
    insert into sampled_counters (device_id, if_index, name, received, uptime_ms, type, speed_bps, is_admin_up, is_oper_up, counters)
    select ${deviceId}, n.if_index, n.name, n.received, n.uptime_ms, n.type, n.speed_bps, n.is_admin_up, n.is_oper_up, n.counters
    from jsonb_populate_recordset(null::sampled_counters, ${rows}::jsonb) n
    on conflict (device_id, if_index) do update set
      name = excluded.name, received = excluded.received, uptime_ms = excluded.uptime_ms, type = excluded.type,
      speed_bps = excluded.speed_bps, is_admin_up = excluded.is_admin_up, is_oper_up = excluded.is_oper_up,
      counters = excluded.counters`.execute(trx)
}

/** The newest samples of a device by number. A name of the platform file replaces that of the agent. */
export async function listSamples(db: Db, deviceId: number): Promise<readonly SampledInterface[]> {
  const { rows } = await sql<StoredRow & { readonly given: string | null }>`
    select ${sampleColumns}, (
      select s.interfaces ->> c.if_index::text from flow_exporter_settings s
      where s.device_id = c.device_id and s.interfaces ? c.if_index::text order by s.id limit 1) as given
    from sampled_counters c where c.device_id = ${deviceId} order by c.if_index`.execute(db)
  return rows.map(({ given, ...row }) => ({ ...sampledOf(row), name: given ?? row.name }))
}
