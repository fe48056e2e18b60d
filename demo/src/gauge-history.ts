// The light levels and the load of the simulated devices of the demo in the past months, from the same functions of
// time as today's.
import { sql } from 'kysely'
import type { Db } from '../../server/src/db/postgres.ts'
import type { SandboxDeviceSettings } from '../../server/src/drivers/sandbox-device/settings.ts'
import { SandboxDeviceSource } from '../../server/src/drivers/sandbox-device/source.ts'
import { gaugeRows, slotsOfDay } from '../../server/src/inventory/collect/gauge-rows.ts'
import { watchOptics } from '../../server/src/inventory/optics/watch-optics.ts'
import type { HistoryOptions } from './port-history.ts'

const dayMs = 86_400_000
const historyDays = 180
/** Older days have fewer values: only their figures are kept. */
const wholeDays = 90
const everySlots = 12

type DemoDevice = { readonly id: number; readonly name: string; readonly settings: SandboxDeviceSettings }

/** Adds the days that a device does not have yet, and reads them by the rules of early warning. */
export async function addGaugeHistory(db: Db, { now, signal, onProgress }: HistoryOptions): Promise<void> {
  const devices = await listDevices(db)
  if (devices.length === 0) return
  const today = Math.floor(now.getTime() / dayMs) * dayMs
  for (let back = 0; back <= historyDays; back++) {
    for (const device of devices) {
      if (signal.aborted) return
      await addDay(db, device, today - back * dayMs, back > wholeDays ? everySlots : 1, signal)
    }
    onProgress(back / historyDays)
  }
  await sql`
    update transceivers t set inserted = ${new Date(today - historyDays * dayMs)}, warned_day = null
    from interfaces i where i.id = t.interface_id and i.device_id = any(${devices.map(({ id }) => id)}::integer[])`.execute(
    db,
  )
  await watchOptics(db, now, signal)
}

/** Devices that have been surveyed, without their oldest day. */
async function listDevices(db: Db): Promise<DemoDevice[]> {
  const { rows } = await sql<DemoDevice>`
    select d.id, d.name, d.settings from devices d
    where d.driver = 'sandbox' and exists (select from gauges g where g.device_id = d.id)
      and not exists (select from gauge_days y join gauges g on g.id = y.gauge_id
        where g.device_id = d.id and y.day <= (now() at time zone 'UTC')::date - ${sql.lit(historyDays - 1)})`.execute(
    db,
  )
  return rows
}

async function addDay(
  db: Db,
  { id, name, settings }: DemoDevice,
  day: number,
  every: number,
  signal: AbortSignal,
): Promise<void> {
  const now = Date.now()
  const days = new Map<string, (number | null)[]>()
  for (let slot = 0; slot < slotsOfDay; slot += every) {
    const at = new Date(day + slot * (dayMs / slotsOfDay))
    if (at.getTime() > now) break
    const source = new SandboxDeviceSource({ name, settings, now: () => at })
    const [health, optics] = [await source.readHealth(signal), await source.readOptics(signal)]
    for (const { key, metric, lane, part, value } of gaugeRows({ health, optics, uptimeCs: undefined })) {
      const gauge = JSON.stringify([key, metric, lane, part])
      const slots = days.get(gauge) ?? Array.from({ length: slotsOfDay }, () => null)
      slots[slot] = value
      days.set(gauge, slots)
    }
  }
  const rows = [...days].map(([gauge, slots]) => {
    const [key, metric, lane, part] = JSON.parse(gauge) as readonly unknown[]
    return { key, metric, lane, part, slots }
  })
  await sql`
    insert into gauge_days (gauge_id, day, slots)
    select g.id, ${new Date(day).toISOString().slice(0, 10)}::date, n.slots
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as n (key text, metric text, lane smallint, part text, slots real[])
      join gauges g on g.device_id = ${id} and (g.metric, g.lane, g.part) = (n.metric, n.lane, n.part)
      left join transceivers t on t.id = g.transceiver_id left join interfaces i on i.id = t.interface_id
    where i.key is not distinct from n.key
    on conflict (gauge_id, day) do update set slots = (
      select array_agg(coalesce(u.old, u.new) order by u.n)
      from unnest(gauge_days.slots, excluded.slots) with ordinality u (old, new, n))
    where gauge_days.samples is null`.execute(db)
}
