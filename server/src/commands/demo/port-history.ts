// The traffic of the simulated ports of the demo in the past year, from the same function of time as their counters.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import type { SandboxDeviceSettings, SandboxInterface } from '../../drivers/sandbox-device/settings.ts'
import { interfaceSeed, octetsAt, packetOctets } from '../../drivers/sandbox-device/traffic.ts'

const dayMs = 86_400_000
const historyDays = 365
const minuteDays = 30

type DemoPort = {
  readonly portId: number
  readonly device: string
  readonly key: string
  readonly settings: SandboxDeviceSettings
  readonly since: Date
}

/** Adds the days that a port does not have yet, the newest first; the signal ends it after a day. */
export async function addPortHistory(db: Db, now: Date, signal: AbortSignal): Promise<void> {
  const ports = await listPorts(db)
  const today = Math.floor(now.getTime() / dayMs) * dayMs
  for (let back = 0; back <= historyDays; back++) {
    const day = today - back * dayMs
    if (signal.aborted) return
    for (const port of ports) await addDay(db, port, day, back, now)
  }
}

/** Ports without their oldest day: a run that was interrupted is continued by the next start. */
async function listPorts(db: Db): Promise<DemoPort[]> {
  const { rows } = await sql<DemoPort>`
    select p.id as "portId", d.name as device, p.interface_key as key, d.settings, lower(a.valid) as since
    from ports p join devices d on d.id = p.device_id and d.driver = 'sandbox'
      join port_assignments a on a.port_id = p.id and a.valid @> now()
    where not exists (select from port_days y where y.port_id = p.id and y.day <= greatest(
      (now() at time zone 'UTC')::date - ${sql.lit(historyDays)} + 1, (lower(a.valid) at time zone 'UTC')::date + 1))`.execute(
    db,
  )
  return rows
}

async function addDay(db: Db, port: DemoPort, day: number, back: number, now: Date): Promise<void> {
  const wire = port.settings.interfaces.find(({ name }) => name === port.key)
  if (!wire || wire.oper === 'down' || wire.oper === 'not_present' || wire.admin === 'down') return
  if (day < port.since.getTime()) return
  if (back === 0) await addMinutes(db, port, wire, day, now)
  else {
    if (back <= minuteDays) await addRow(db, port, wire, day, 60)
    await addRow(db, port, wire, day, 300)
  }
}

/** Octets in and out between two times. */
function countedBetween({ device }: DemoPort, wire: SandboxInterface, from: number, until: number) {
  const seed = interfaceSeed(device, wire.name)
  const between = (bps: number, one: number) => octetsAt(until, bps, one) - octetsAt(from, bps, one)
  return [between(wire.in_bps ?? 0, seed), between(wire.out_bps ?? 0, seed + 1)] as const
}

async function addRow(db: Db, port: DemoPort, wire: SandboxInterface, day: number, seconds: number) {
  const stepMs = seconds * 1000
  const starts = Array.from({ length: dayMs / stepMs }, (_, at) => day + at * stepMs)
  const counted = starts.map((start) => countedBetween(port, wire, start, start + stepMs))
  const [inbound, outbound] = [counted.map(([octets]) => octets), counted.map(([, octets]) => octets)]
  const texts = (values: readonly bigint[]) => `{${values.join(',')}}`
  const packets = (values: readonly bigint[]) => texts(values.map((octets) => octets / packetOctets))
  const zeros = `{${starts.map(() => 0).join(',')}}`
  await sql`
    insert into port_days (port_id, seconds, day, covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in,
      errors_out, discards_in, discards_out)
    values (${port.portId}, ${seconds}, ${new Date(day).toISOString().slice(0, 10)}::date,
      array_fill(${stepMs}::integer, array[${starts.length}::integer]), ${texts(inbound)}::bigint[], ${texts(outbound)}::bigint[],
      ${packets(inbound)}::bigint[], ${packets(outbound)}::bigint[], ${zeros}::bigint[], ${zeros}::bigint[], ${zeros}::bigint[],
      ${zeros}::bigint[])
    on conflict do nothing`.execute(db)
}

/** The minutes of today before the collector has begun. */
async function addMinutes(db: Db, port: DemoPort, wire: SandboxInterface, day: number, now: Date) {
  const rows = []
  for (let start = day; start + 60_000 <= now.getTime(); start += 60_000) {
    const [octetsIn, octetsOut] = countedBetween(port, wire, start, start + 60_000)
    rows.push({
      port_id: port.portId,
      minute: new Date(start).toISOString(),
      covered_ms: 60_000,
      octets_in: String(octetsIn),
      octets_out: String(octetsOut),
      packets_in: String(octetsIn / packetOctets),
      packets_out: String(octetsOut / packetOctets),
      errors_in: 0,
      errors_out: 0,
      discards_in: 0,
      discards_out: 0,
    })
  }
  await sql`
    insert into port_samples select n.* from jsonb_populate_recordset(null::port_samples, ${JSON.stringify(rows)}::jsonb) n
    on conflict do nothing`.execute(db)
}
