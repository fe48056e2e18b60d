// The SQL of the readings of every five minutes: the modules of interfaces, their light levels, and the load of devices. A value
// goes into its slot of the day's row, so that a gauge needs one row a day.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { storedJson } from '../../db/stored-json.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import type { SeenTransceiver } from './device-source.ts'
import { gaugeRows, slotsOfDay, type GaugeReadings, type GaugeRow } from './gauge-rows.ts'
import { listChanges, type KnownModule } from './module-changes.ts'

const slotSeconds = 86_400 / slotsOfDay
/** The slot of now, from 1. */
const slotNow = sql`(1 + floor(extract(epoch from now() at time zone 'UTC' - date_trunc('day', now() at time zone 'UTC'))
  / ${sql.lit(slotSeconds)})::integer)`

/** Whether changes are logged: not at the first survey of a device, when every module is new. */
type Survey = { readonly isFirst: boolean }

/**
 * Adds and updates the modules that the device lists, and marks the others as removed. A module with another serial number is
 * another one; a module that comes back continues its history. The interfaces have been saved.
 */
export async function saveTransceivers(
  trx: Trx,
  deviceId: number,
  seen: readonly SeenTransceiver[],
  { isFirst }: Survey,
): Promise<RefusedRow<unknown>[]> {
  const ids = await interfaceIds(trx, deviceId)
  const listed = [
    ...new Map(
      seen.flatMap((one) => {
        const interfaceId = ids.get(one.interfaceKey)
        return interfaceId === undefined ? [] : [[interfaceId, rowOf(interfaceId, one)] as const]
      }),
    ).values(),
  ]
  const { rows: known } = await sql<KnownModule>`
    select t.id, t.interface_id, t.vendor, t.part, t.serial from transceivers t join interfaces i on i.id = t.interface_id
    where i.device_id = ${deviceId} and t.is_present`.execute(trx)
  const { removed, changes } = listChanges(known, listed)
  await sql`
    update transceivers set is_present = false where id = any(${removed}::integer[])`.execute(trx)
  const refused = await writeRows(trx, listed, (some) => upsertModules(trx, some))
  if (isFirst) return refused
  const unlogged = await writeRows(trx, changes, (some) => insertModuleChanges(trx, some))
  return [...refused, ...unlogged]
}

async function upsertModules(trx: Trx, listed: readonly ListedModule[]): Promise<void> {
  await sql`
    insert into transceivers (interface_id, vendor, part, serial, type, wavelength_nm, reach_m, connector, lanes, has_ddm)
    select n.interface_id, n.vendor, n.part, n.serial, n.type, n.wavelength_nm, n.reach_m, n.connector, n.lanes, n.has_ddm
    from jsonb_populate_recordset(null::transceivers, ${storedJson(listed)}::jsonb) n
    on conflict (interface_id, vendor, part, serial) do update set type = excluded.type,
      wavelength_nm = excluded.wavelength_nm, reach_m = excluded.reach_m, connector = excluded.connector,
      lanes = excluded.lanes, has_ddm = excluded.has_ddm, is_present = true, seen = now()`.execute(trx)
}

async function insertModuleChanges(trx: Trx, changes: readonly object[]): Promise<void> {
  await sql`
    insert into interface_log (interface_id, kind, before, after)
    select n.interface_id, 'module', n.before, n.after
    from jsonb_populate_recordset(null::interface_log, ${storedJson(changes)}::jsonb) n`.execute(trx)
}

async function interfaceIds(trx: Trx, deviceId: number): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: number; key: string }>`
    select id, key from interfaces where device_id = ${deviceId}`.execute(trx)
  return new Map(rows.map(({ key, id }) => [key, id]))
}

/** Vendor, part and serial are in an index, whose entries have at most 2,700 octets. */
const textOf = (text: string | null): string => (text ?? '').slice(0, 200)

type ListedModule = ReturnType<typeof rowOf>
const rowOf = (interfaceId: number, module: SeenTransceiver) => ({
  interface_id: interfaceId,
  vendor: textOf(module.vendor),
  part: textOf(module.part),
  serial: textOf(module.serial),
  type: module.type ?? '',
  wavelength_nm: module.wavelengthNm,
  reach_m: module.reachM && Math.round(module.reachM),
  connector: module.connector ?? '',
  lanes: module.lanes,
  has_ddm: module.hasDdm,
})

/** Saves the load of the device and the levels of the modules that the last survey found. */
export const saveGauges = (
  trx: Trx,
  deviceId: number,
  readings: GaugeReadings,
): Promise<RefusedRow<GaugeRow>[]> =>
  writeRows(trx, gaugeRows(readings), (some) => upsertGauges(trx, deviceId, some))

async function upsertGauges(trx: Trx, deviceId: number, gauges: readonly GaugeRow[]): Promise<void> {
  const rows = storedJson(gauges)
  // A module of a disabled interface has no history: its laser is off on purpose.
  await sql`
    with n as (
      select distinct on (t.id, n.metric, n.lane, n.part) t.id as transceiver_id, n.metric, n.lane, n.part, n.value, n.limits, i.admin
      from jsonb_to_recordset(${rows}::jsonb)
        as n (key text, metric text, lane smallint, part text, value real, limits jsonb)
        left join interfaces i on i.device_id = ${deviceId} and i.key = n.key
        left join transceivers t on t.interface_id = i.id and t.is_present
      where n.key is null or t.id is not null),
    saved as (
      insert into gauges (device_id, transceiver_id, metric, lane, part, value, limits)
      select ${deviceId}, transceiver_id, metric, lane, part, value, limits from n
      on conflict (device_id, transceiver_id, metric, lane, part) do update set
        value = excluded.value, at = now(), limits = excluded.limits
      returning id, transceiver_id, metric, lane, part, value)
    insert into gauge_days (gauge_id, day, slots)
    select s.id, (now() at time zone 'UTC')::date, array_fill(null::real, array[${slotNow} - 1]) || s.value
      || array_fill(null::real, array[${sql.lit(slotsOfDay)} - ${slotNow}])
    from saved s join n on (n.metric, n.lane, n.part) = (s.metric, s.lane, s.part)
      and n.transceiver_id is not distinct from s.transceiver_id
    where n.admin is distinct from 'down'
    on conflict (gauge_id, day) do update set slots[${slotNow}] = excluded.slots[${slotNow}]`.execute(trx)
}
