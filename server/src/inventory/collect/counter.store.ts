// The SQL of the counters of ports: the last reading of each and its minutes, written together with the rest of a poll.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { storedJson, storedText } from '../../db/stored-json.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import { advance, type Mark, type Progress } from '../usage/advance.ts'
import type { Bucket } from '../usage/bucket.ts'
import { mapCounters, type CounterValues } from '../usage/reading.ts'
import type { CounterRow } from './device-source.ts'

type PortRow = {
  readonly interfaceId: number
  readonly portId: number
  readonly key: string
  readonly speedBps: number | null
  readonly mac: string | null
  readonly type: number
  readonly state: StoredRow | null
  readonly open: StoredBucket | null
  readonly held: { readonly state: StoredRow; readonly open: StoredBucket | null } | null
  readonly isReplaced: boolean
  /** Time of `interface_since`, ms since 1970. */
  readonly interface_since_ms: number | null
}

type StoredValues = Readonly<Record<string, string | null>>
type StoredRow = Omit<CounterRow, keyof CounterValues> & { readonly values: StoredValues }
type StoredBucket = Omit<Bucket, 'values'> & { readonly values: StoredValues }

/**
 * Adds the increase of the counters of the device's ports since their last reading, and returns the refused rows. The
 * caller has the lease of the device.
 */
export async function saveCounters(
  trx: Trx,
  deviceId: number,
  rows: readonly CounterRow[],
): Promise<RefusedRow<unknown>[]> {
  const read = new Map(rows.map((row) => [storedText(row.key), row]))
  const ports = await listPorts(trx, deviceId, [...read.keys()])
  // A reading of before the link counted for another port.
  const advanced = ports
    .filter(({ key, interface_since_ms: sinceMs }) => read.get(key)!.at >= (sinceMs ?? 0))
    .map((port) => ({
      port,
      ...advance(progressOf(port), read.get(port.key)!, {
        speedBps: port.speedBps,
        isReplaced: port.isReplaced,
      }),
    }))
  const written = advanced.map(({ port, progress, closed, dropped }) => ({
    progress: {
      interface_id: port.interfaceId,
      state: storedRow(progress.last),
      open: progress.open && storedBucket(progress.open),
      held: progress.held && {
        state: storedRow(progress.held.last),
        open: progress.held.open && storedBucket(progress.held.open),
      },
      mac: port.mac,
      type: port.type,
      dropped,
    },
    samples: closed.map((bucket) => sampleOf(port.portId, bucket)),
  }))
  // A port whose samples are refused keeps its state: the next reading includes them.
  return writeRows(trx, written, async (some) => {
    await insertSamples(
      trx,
      some.flatMap(({ samples }) => samples),
    )
    await saveProgress(
      trx,
      some.map(({ progress }) => progress),
    )
  })
}

async function listPorts(trx: Trx, deviceId: number, keys: readonly string[]): Promise<PortRow[]> {
  const { rows } = await sql<PortRow>`
    select i.id as "interfaceId", p.id as "portId", i.key, i.speed_bps as "speedBps", i.mac, i.type, c.state, c.open, c.held,
      c.interface_id is not null and (c.mac, c.type) is distinct from (i.mac, i.type) as "isReplaced",
      extract(epoch from p.interface_since)::double precision * 1000 as interface_since_ms
    from ports p join interfaces i on i.id = p.interface_id
      left join interface_counters c on c.interface_id = i.id
    where p.device_id = ${deviceId} and i.key = any(${keys}::text[])`.execute(trx)
  return rows
}

async function saveProgress(trx: Trx, rows: readonly object[]): Promise<void> {
  await sql`
    insert into interface_counters (interface_id, state, open, held, mac, type, dropped, dropped_at)
    select n.interface_id, n.state, n.open, n.held, n.mac, n.type, n.dropped, case when n.dropped is not null then now() end
    from jsonb_to_recordset(${storedJson(rows)}::jsonb)
      as n (interface_id integer, state jsonb, open jsonb, held jsonb, mac text, type integer, dropped text)
    on conflict (interface_id) do update set
      state = excluded.state, open = excluded.open, held = excluded.held, mac = excluded.mac, type = excluded.type,
      dropped = coalesce(excluded.dropped, interface_counters.dropped),
      dropped_at = coalesce(excluded.dropped_at, interface_counters.dropped_at)`.execute(trx)
}

/**
 * A minute is inserted once. After the state of the counters was lost, the rest of a minute is added to it. A minute that comes again since
 * the clock went back is left as it is, and so is a day that has become rows of port_days.
 */
async function insertSamples(trx: Trx, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into port_samples as s
    select n.* from jsonb_populate_recordset(null::port_samples, ${storedJson(rows)}::jsonb) n
    where not exists (
      select from port_days d where d.port_id = n.port_id and d.seconds = 300 and d.day = (n.minute at time zone 'UTC')::date)
    on conflict (port_id, minute) do update set
      covered_ms = s.covered_ms + excluded.covered_ms,
      octets_in = s.octets_in + excluded.octets_in, octets_out = s.octets_out + excluded.octets_out,
      packets_in = s.packets_in + excluded.packets_in, packets_out = s.packets_out + excluded.packets_out,
      errors_in = s.errors_in + excluded.errors_in, errors_out = s.errors_out + excluded.errors_out,
      discards_in = s.discards_in + excluded.discards_in,
      discards_out = s.discards_out + excluded.discards_out
    where s.covered_ms + excluded.covered_ms <= 60000`.execute(trx)
}

const sampleOf = (portId: number, { startMs, coveredMs, values }: Bucket) => ({
  port_id: portId,
  minute: new Date(startMs).toISOString(),
  covered_ms: coveredMs,
  octets_in: textOf(values.octetsIn),
  octets_out: textOf(values.octetsOut),
  packets_in: textOf(values.packetsIn),
  packets_out: textOf(values.packetsOut),
  errors_in: textOf(values.errorsIn),
  errors_out: textOf(values.errorsOut),
  discards_in: textOf(values.discardsIn),
  discards_out: textOf(values.discardsOut),
})

const textOf = (value: bigint | null): string | null => (value === null ? null : String(value))

const storedValues = (values: CounterValues): StoredValues =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]))

const valuesOf = (stored: StoredValues): CounterValues =>
  mapCounters((name) => {
    const text = stored[name] ?? null
    return text === null ? null : BigInt(text)
  })

function storedRow(row: CounterRow): StoredRow {
  const { key, at, uptimeCs, discontinuity, admin, oper, bits } = row
  return {
    key,
    at,
    uptimeCs,
    discontinuity,
    admin,
    oper,
    bits,
    values: storedValues(mapCounters((name) => row[name])),
  }
}

const storedBucket = ({ values, ...bucket }: Bucket): StoredBucket => ({
  ...bucket,
  values: storedValues(values),
})

function progressOf({ state, open, held }: PortRow): Progress | undefined {
  if (!state) return undefined
  return { ...markOf(state, open), held: held && markOf(held.state, held.open) }
}

function markOf({ values, ...row }: StoredRow, open: StoredBucket | null): Mark {
  return {
    last: { ...row, ...valuesOf(values) },
    open: open && { ...open, values: valuesOf(open.values) },
  }
}
