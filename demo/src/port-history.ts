// The traffic of the simulated ports of the demo in the past year, from the same functions of time as their counters and the flows of attacks.
import { sql } from 'kysely'
import type { Db } from '../../server/src/db/postgres.ts'
import type {
  SandboxDeviceSettings,
  SandboxInterface,
} from '../../server/src/drivers/sandbox-device/settings.ts'
import { partOfLag } from '../../server/src/drivers/sandbox-device/settings.ts'
import { interfaceSeed, octetsAt, meanPacketOctets } from '../../server/src/drivers/sandbox-device/traffic.ts'
import { attackOctets, type DemoAttack } from './traffic/model.ts'

const dayMs = 86_400_000
const historyMonths = 12
const minuteDays = 30

/** The first day of the oldest month that pages list, and the day before: it has begun there in time zones east of UTC. */
const historyStart = (now: Date): number =>
  Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - historyMonths, 0)

export type DemoPort = {
  readonly portId: number
  readonly device: string
  readonly key: string
  readonly settings: SandboxDeviceSettings
  readonly since: Date
}

/** With today, the whole newest month that can be closed: on its first day a month is too new. */
const billedDays = 63

export type HistoryOptions = {
  readonly now: Date
  /** Ends it after a day. */
  readonly signal: AbortSignal
  /** The share of the days that were added. */
  readonly onProgress: (share: number) => void
}

/**
 * Adds the buckets of 5 minutes of the past weeks, which bills are made of: the first bill would be of a part of the month without them.
 */
export async function addBilledDays(
  db: Db,
  ports: readonly DemoPort[],
  attacks: readonly DemoAttack[],
  now: Date,
): Promise<void> {
  for (let back = 1; back <= billedDays; back++)
    for (const port of ports) await addDay(db, { port, attacks, day: dayBefore(now, back) }, [300])
}

/** Adds today, the minutes of the past weeks and the days before, the newest first. */
export async function addPortHistory(
  db: Db,
  ports: readonly DemoPort[],
  attacks: readonly DemoAttack[],
  { now, signal, onProgress }: HistoryOptions,
): Promise<void> {
  for (const port of ports) await addMinutes(db, { port, attacks, day: dayBefore(now, 0) }, now)
  const days = Math.round((dayBefore(now, 0) - historyStart(now)) / dayMs)
  for (let back = 1; back <= days; back++) {
    if (signal.aborted) return
    const steps = [...(back <= minuteDays ? [60] : []), ...(back > billedDays ? [300] : [])]
    for (const port of ports) await addDay(db, { port, attacks, day: dayBefore(now, back) }, steps)
    onProgress(back / days)
  }
}

type PortDay = {
  readonly port: DemoPort
  readonly attacks: readonly DemoAttack[]
  /** Its start, Unix milliseconds. */
  readonly day: number
}

const dayBefore = (now: Date, back: number): number => (Math.floor(now.getTime() / dayMs) - back) * dayMs

/** Devices have no counters of the time before: a port came up when it was handed over. */
export async function addStateChanges(db: Db, ports: readonly DemoPort[]): Promise<void> {
  for (const { portId, since } of ports)
    await sql`
      update interfaces i set last_change = ${since}
      from ports p where p.id = ${portId} and (i.device_id, i.key) = (p.device_id, p.interface_key) and i.last_change is null`.execute(
      db,
    )
}

/** Ports without their oldest day: a run that was interrupted is continued by the next start. */
export async function listNewPorts(db: Db, now: Date): Promise<DemoPort[]> {
  const { rows } = await sql<DemoPort>`
    select p.id as "portId", d.name as device, p.interface_key as key, d.settings, lower(a.valid) as since
    from ports p join devices d on d.id = p.device_id and d.driver = 'sandbox'
      join port_assignments a on a.port_id = p.id and a.valid @> now()
    where not exists (select from port_days y where y.port_id = p.id and y.day <= greatest(
      ${new Date(historyStart(now)).toISOString()}::date + 1, (lower(a.valid) at time zone 'UTC')::date + 1))`.execute(
    db,
  )
  return rows
}

/** Undefined if the port had no traffic on that day. */
function wireOf({ settings, key, since }: DemoPort, day: number): SandboxInterface | undefined {
  const wire = settings.interfaces.find(({ name }) => name === key)
  const isDown = wire?.oper === 'down' || wire?.oper === 'not_present' || wire?.admin === 'down'
  return isDown || day < since.getTime() ? undefined : wire
}

async function addDay(db: Db, of: PortDay, steps: readonly number[]): Promise<void> {
  const wire = wireOf(of.port, of.day)
  if (wire) for (const seconds of steps) await addRow(db, of, wire, seconds)
}

type Counted = { readonly octetsIn: readonly bigint[]; readonly octetsOut: readonly bigint[] }

/** Octets in and out over this number of steps. */
function countedSince(
  { port: { device, settings }, attacks, day }: PortDay,
  wire: SandboxInterface,
  stepMs: number,
  steps: number,
): Counted {
  const seed = interfaceSeed(device, wire.name)
  const increases = (bps: number, one: number): bigint[] => {
    let before = octetsAt(day, bps, one)
    return Array.from({ length: steps }, (_, step) => {
      const after = octetsAt(day + (step + 1) * stepMs, bps, one)
      const increase = after - before
      before = after
      return increase
    })
  }
  const ofDay = attacks.filter(({ startMs, endMs }) => startMs < day + dayMs && endMs > day)
  const port = { device, name: wire.lag ?? wire.name }
  const part = partOfLag(settings, wire, 'out_bps')
  const attacked = (step: number): bigint => {
    const from = day + step * stepMs
    return BigInt(Math.round(attackOctets(ofDay, port, from, from + stepMs) * part))
  }
  return {
    octetsIn: increases(wire.in_bps ?? 0, seed),
    octetsOut: increases(wire.out_bps ?? 0, seed + 1).map((octets, step) => octets + attacked(step)),
  }
}

async function addRow(db: Db, of: PortDay, wire: SandboxInterface, seconds: number) {
  const { port, day } = of
  const stepMs = seconds * 1000
  const steps = dayMs / stepMs
  const { octetsIn, octetsOut } = countedSince(of, wire, stepMs, steps)
  const texts = (values: readonly bigint[]) => `{${values.join(',')}}`
  const packets = (values: readonly bigint[]) => texts(values.map((octets) => octets / meanPacketOctets))
  const zeros = `{${Array(steps).fill(0).join(',')}}`
  await sql`
    insert into port_days (port_id, seconds, day, covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in,
      errors_out, discards_in, discards_out)
    values (${port.portId}, ${seconds}, ${new Date(day).toISOString().slice(0, 10)}::date,
      array_fill(${stepMs}::integer, array[${steps}::integer]), ${texts(octetsIn)}::bigint[], ${texts(octetsOut)}::bigint[],
      ${packets(octetsIn)}::bigint[], ${packets(octetsOut)}::bigint[], ${zeros}::bigint[], ${zeros}::bigint[], ${zeros}::bigint[],
      ${zeros}::bigint[])
    on conflict do nothing`.execute(db)
}

/** The minutes of today before the collector has begun. */
async function addMinutes(db: Db, of: PortDay, now: Date): Promise<void> {
  const { port, day } = of
  const wire = wireOf(port, day)
  if (!wire) return
  const minutes = Math.floor((now.getTime() - day) / 60_000)
  const { octetsIn, octetsOut } = countedSince(of, wire, 60_000, minutes)
  const rows = octetsIn.map((inbound, minute) => ({
    port_id: port.portId,
    minute: new Date(day + minute * 60_000).toISOString(),
    covered_ms: 60_000,
    octets_in: String(inbound),
    octets_out: String(octetsOut[minute]!),
    packets_in: String(inbound / meanPacketOctets),
    packets_out: String(octetsOut[minute]! / meanPacketOctets),
    errors_in: 0,
    errors_out: 0,
    discards_in: 0,
    discards_out: 0,
  }))
  await sql`
    insert into port_samples select n.* from jsonb_populate_recordset(null::port_samples, ${JSON.stringify(rows)}::jsonb) n
    on conflict do nothing`.execute(db)
}
