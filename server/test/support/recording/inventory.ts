// Records the examples of the inventory: a transit service in Amsterdam with one measured port, its bill, and a cross connect.
import { amsterdam, fading, portId, serviceId, team, uplink, web } from '@pharos/contract/examples/world'
import {
  addDeviceAttachmentRoute,
  deleteAttachmentRoute,
  getAttachmentFileRoute,
  getStaffAttachmentRoute,
  listDeviceAttachmentsRoute,
  listStaffAttachmentsRoute,
} from '@pharos/contract/inventory/attachment'
import {
  getBillingSamplesRoute,
  listBillablePortsRoute,
  listBillingPeriodsRoute,
} from '@pharos/contract/inventory/bill'
import {
  getCrossConnectRoute,
  listCrossConnectsRoute,
  listStaffCrossConnectsRoute,
  moveCrossConnectRoute,
  uploadCrossConnectLetterRoute,
} from '@pharos/contract/inventory/cross-connect'
import {
  getDeviceMetricsRoute,
  getDeviceRoute,
  groupDevicesRoute,
  listDevicesRoute,
  listInterfacesRoute,
} from '@pharos/contract/inventory/device'
import { getInventoryMetricsRoute } from '@pharos/contract/inventory/metrics'
import { getPortRoute, listPortsRoute } from '@pharos/contract/inventory/port'
import { getPrefixRoute, listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import { getServiceRoute, listServicesRoute } from '@pharos/contract/inventory/service'
import { getTransceiverMetricsRoute } from '@pharos/contract/inventory/transceiver'
import { getPortUsageRoute } from '@pharos/contract/inventory/usage'
import { exportStaffBillsRoute, listStaffBillsRoute } from '@pharos/contract/operator/bill'
import { listStaffDevicesRoute, maintainDeviceRoute, pollDeviceRoute } from '@pharos/contract/operator/device'
import { sql } from 'kysely'
import { closePeriods } from '../../../src/inventory/bill/close-period.ts'
import type { LaneWarnings } from '../../../src/inventory/optics/lane-warnings.ts'
import { letterFile, type Recorder } from './recorder.ts'

const deviceId = 21
const interfaceId = 9033
const crossConnectId = 61
const photographId = 301
const prefixIds = { ipv4: 311, ipv6: 312 }
const inDevice = { params: { device_id: deviceId } }
const inPort = { params: { port_id: portId } }
const inService = { params: { service_id: serviceId } }
const inCrossConnect = { params: { cross_connect_id: crossConnectId } }
const inPhotograph = { params: { attachment_id: photographId } }

const dayMs = 86_400_000
const slotMs = 300_000
const slots = dayMs / slotMs
const dayOf = (date: string): number => Date.parse(date) / dayMs

/** Links to files begin with this address. */
export const withPublicUrl = (use: (settings: Record<string, string>) => Promise<void>): Promise<void> =>
  use({ PHAROS_PUBLIC_URL: 'https://pharos.example.net' })

export async function recordInventory(recorder: Recorder): Promise<void> {
  await addServices(recorder)
  await addDevice(recorder)
  await addModule(recorder)
  await addTraffic(recorder, '2026-02-28', '2026-03-14T09:30:00Z')
  await recordDevices(recorder)
  await recordPorts(recorder)
  await recordUsage(recorder)
  await recordOperator(recorder)
  await recordCrossConnects(recorder)
  await recordAttachments(recorder)
  await recordBills(recorder)
}

export async function addServices({ owner, nextId }: Recorder): Promise<void> {
  const prices = {
    currency: 'EUR',
    decimals: 2,
    monthly: '250',
    commit: '0.40',
    overage: '0.55',
    tiers: [],
    tier_mode: 'graduated',
  }
  await sql`
    insert into locations (key, name, country, timezone)
    values (${amsterdam.key}, ${amsterdam.name}, ${amsterdam.country}, 'Europe/Amsterdam')`.execute(owner)
  await nextId('services', serviceId)
  await sql`
    insert into services (team_id, name, type, location_key, commit_bps, burst_bps, start_date, external_ref, billing_ref, asn,
      billing_method, billing_timezone, billing_prices)
    values (${team.id}, 'Transit Amsterdam', 'transit', ${amsterdam.key}, 10000000000, 100000000000, '2026-03-01', 'PO-2026-0117',
        'LIND-TR-1', ${web.origin_asn}, 'p95', 'Europe/Amsterdam', ${JSON.stringify(prices)}),
      (${team.id}, 'DDoS protection', 'ddos', null, null, null, '2026-03-01', 'PO-2026-0117', 'LIND-DP-1', null, 'flat', 'UTC', null)`.execute(
    owner,
  )
  await nextId('prefixes', prefixIds.ipv4)
  await sql`
    insert into prefixes (team_id, prefix, name, location_key, created)
    select ${team.id}, prefix, 'Mail', ${amsterdam.key}, '2026-02-27T09:10:44.020Z'
    from unnest('{198.51.100.128/25,2001:db8:20::/48}'::cidr[]) prefix`.execute(owner)
}

/** The device with one port, which has been assigned to the service since February. */
export async function addDevice({ owner, nextId }: Recorder): Promise<void> {
  await nextId('devices', deviceId)
  await nextId('interfaces', interfaceId)
  await nextId('ports', portId)
  await sql`
    with credential as (
      insert into device_credentials (name, version) values ('Routers', 'v3') returning id),
    device as (
      insert into devices (name, role, vendor, model, serial, location_key, management_address, driver, credential_id, tags)
      select ${uplink.device_name}, 'edge', 'Juniper', 'MX204', 'XH3117AFC0', ${amsterdam.key}, '192.0.2.1', 'snmp', id, '{core}'
      from credential returning id),
    state as (
      insert into device_states (device_id, identity, booted)
      select id, '{"software": "23.4R2.13"}', '2025-12-09T07:26:12Z' from device),
    interface as (
      insert into interfaces (device_id, key, if_index, name, alias, type, mtu, mac, admin, oper, speed_bps, addresses, last_change,
        in_errors, out_errors, in_discards, out_discards)
      select id, ${uplink.name}, 531, ${uplink.name}, 'CUST: Lindholm AMS-0017', 6, 9192, '00:00:5e:00:53:17', 'up', 'up',
        100000000000, '{198.51.100.17/31}', '2026-02-03T04:12:55Z', 0, 0, 0, 12
      from device returning id, device_id),
    log as (
      insert into interface_log (interface_id, at, kind, before, after)
      select id, '2026-02-03T04:12:55Z', 'oper', 'down', 'up' from interface),
    port as (
      insert into ports (circuit_id, name, device_id, interface_key, interface_id, media, speed_bps, description, panel, module,
        position, created)
      select ${uplink.circuit_id}, ${uplink.name}, device_id, ${uplink.name}, id, '100GBASE-LR4', 100000000000, 'Uplink 1', 'AMS-A',
        'M2', '12', '2026-02-01T00:00:00Z'
      from interface returning id, device_id),
    session as (
      insert into bgp_sessions (device_id, port_id, peer, peer_asn, state, established, prefixes, reset, reset_code, reset_text)
      select device_id, id, '192.0.2.130', ${web.origin_asn}, 'established', '2026-03-12T04:13:02Z',
        '[{"family": "ipv4", "received": 12, "limit": 50}]', '2026-03-12T04:12:41Z', 4, 'hold time expired'
      from port)
    insert into port_assignments (port_id, service_id, team_id, valid)
    select id, ${serviceId}, ${team.id}, tstzrange('2026-02-01T00:00:00Z', null) from port`.execute(owner)
}

const lightAt = '2026-03-14T09:40:12.000Z'
const limits = (alarmLow: number, warnLow: number, warnHigh: number, alarmHigh: number) => ({
  alarmLow,
  warnLow,
  warnHigh,
  alarmHigh,
})
const levels = [
  { metric: 'rx_power', lane: 1, value: -9.42, limits: limits(-14, -11, 3.5, 5) },
  { metric: 'tx_power', lane: 1, value: 1.08, limits: limits(-8, -6, 4.5, 5.5) },
  { metric: 'bias', lane: 1, value: 38.02, limits: limits(5, 10, 80, 90) },
  { metric: 'temperature', lane: 0, value: 34.1, limits: limits(-10, -5, 70, 75) },
  { metric: 'voltage', lane: 0, value: 3.31, limits: limits(2.97, 3.13, 3.46, 3.63) },
]

/** The module of the port, with the warning that its loop has raised, and the load of the device. */
async function addModule({ owner }: Recorder): Promise<void> {
  const day = dayOf('2026-03-13')
  const warnings: readonly LaneWarnings[] = [
    {
      lane: fading.lane,
      states: [
        {
          finding: {
            code: 'trend',
            metric: 'rx_power',
            cause: 'path_or_far_module',
            perDay: fading.per_day!,
            daysLeft: dayOf(fading.limit_reached!) - day,
          },
          since: dayOf(fading.since),
          day,
          foundDays: 12,
          missedDays: 0,
          isRaised: true,
        },
      ],
    },
  ]
  await sql`
    with module as (
      insert into transceivers (interface_id, vendor, part, serial, type, wavelength_nm, reach_m, connector, lanes, has_ddm, inserted,
        warnings, has_warning)
      values (${interfaceId}, 'Example Optics', 'EX-Q28-LR4', 'XK0217A', '100GBASE-LR4', 1310, 10000, 'LC', 1, true,
        '2025-11-02T08:10:44Z', ${JSON.stringify(warnings)}, true)
      returning id),
    light as (
      insert into gauges (device_id, transceiver_id, metric, lane, value, at, limits)
      select ${deviceId}, m.id, l.metric, l.lane, l.value, ${lightAt}, l.limits
      from module m, jsonb_to_recordset(${JSON.stringify(levels)}) l (metric text, lane smallint, value real, limits jsonb)
      returning id, metric),
    load as (
      insert into gauges (device_id, metric, value, at) values (${deviceId}, 'cpu', 21, ${lightAt}) returning id),
    days as (
      insert into gauge_days (gauge_id, day, slots)
      select l.id, d.day, array_fill(d.value, '{288}')
      from light l, (values ('2026-03-12'::date, -9.3::real), ('2026-03-13', -9.36)) d (day, value) where l.metric = 'rx_power')
    insert into gauge_days (gauge_id, day, slots)
    select id, '2026-03-14', array_fill(18.4::real, '{102}') || array_fill(21::real, '{14}') || array_fill(null::real, '{172}')
    from load`.execute(owner)
}

/** Traffic to the customer in Mbit/s in each hour of a day, UTC. */
const hourly = [
  5210, 3840, 2910, 2480, 2330, 2460, 3020, 4150, 5040, 5480, 5760, 5930, 6020, 6080, 6190, 6480, 7120, 8060,
  9340, 10_480, 10_990, 10_720, 9310, 7150,
]

function bpsAt(ms: number): number {
  const slot = ms / slotMs
  const hour = Math.floor((slot % slots) / 12)
  const [before, after] = [hourly[hour]!, hourly[(hour + 1) % 24]!]
  return (before + ((after - before) * (slot % 12)) / 12) * 1_000_000 + ((slot * 7919) % 1009) * 700_000
}
const octetsIn = (ms: number): number => Math.floor((bpsAt(ms) * slotMs) / 8000)
const octetsOut = (ms: number): number => Math.floor((bpsAt(ms + 7 * slotMs) * 0.44 * slotMs) / 8000)

/** The router did not answer in these ten minutes. */
const isMissing = (ms: number): boolean =>
  ms >= Date.parse('2026-03-14T07:20:00Z') && ms < Date.parse('2026-03-14T07:30:00Z')

/** Days of the port until a time; the customer receives what the device sends. */
export async function addTraffic({ owner }: Recorder, first: string, until: string): Promise<void> {
  for (let day = Date.parse(first); day < Date.parse(until); day += dayMs) {
    const times = Array.from({ length: slots }, (_, slot) => day + slot * slotMs)
    const column = (valueOf: (ms: number) => number): (number | null)[] =>
      times.map((ms) => (ms >= Date.parse(until) || isMissing(ms) ? null : valueOf(ms)))
    const none = column(() => 0)
    await sql`
      insert into port_days (port_id, seconds, day, covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in, errors_out,
        discards_in, discards_out)
      values (${portId}, 300, ${new Date(day).toISOString().slice(0, 10)}, ${column(() => slotMs)}, ${column(octetsOut)},
        ${column(octetsIn)}, ${column((ms) => Math.floor(octetsOut(ms) / 410))}, ${column((ms) => Math.floor(octetsIn(ms) / 1120))},
        ${none}, ${none}, ${none}, ${none})
      on conflict (port_id, seconds, day) do update set covered_ms = excluded.covered_ms, octets_in = excluded.octets_in,
        octets_out = excluded.octets_out, packets_in = excluded.packets_in, packets_out = excluded.packets_out`.execute(
      owner,
    )
  }
}

/** The device has answered a poll; the last minutes of its port are not compacted yet. */
async function poll({ owner }: Recorder, time: string): Promise<void> {
  await sql`
    update device_states set seen = ${time}, next_poll = ${time}::timestamptz + interval '1 minute'`.execute(
    owner,
  )
  await sql`update bgp_sessions set seen = ${time}`.execute(owner)
  const start = Date.parse('2026-03-14T09:30:00Z')
  await sql`
    insert into port_samples (port_id, minute, covered_ms, octets_in, octets_out)
    select ${portId}, ${new Date(start)}::timestamptz + make_interval(mins => n), 60000, ${Math.floor(octetsOut(start) / 5)}::bigint,
      ${Math.floor(octetsIn(start) / 5)}::bigint
    from generate_series(0, 9) n`.execute(owner)
}

async function recordDevices(recorder: Recorder): Promise<void> {
  const { record, at } = recorder
  await at('2026-03-14T09:41:30.000Z')
  await poll(recorder, '2026-03-14T09:41:12.000Z')
  await record(listServicesRoute, { query: { state: ['production'], ordering: 'name', limit: 100 } })
  await record(getServiceRoute, inService)
  await record(listPrefixesRoute, { query: { location: [amsterdam.key], ordering: 'cidr', limit: 100 } })
  await record(getPrefixRoute, { params: { prefix_id: prefixIds.ipv4 } })
  await record(listDevicesRoute, {
    query: { status: ['online', 'degraded'], ordering: 'name', limit: 100 },
  })
  await record(groupDevicesRoute, { query: { by: 'location,status', search: 'edge' } })
  await record(getDeviceRoute, { ...inDevice, query: { include: 'services' } })
  await record(getDeviceMetricsRoute, {
    ...inDevice,
    query: { metric: ['cpu'], start: '2026-03-14T08:00:00Z', end: '2026-03-14T09:00:00Z', interval: 1800 },
  })
  await record(listInterfacesRoute, {
    ...inDevice,
    query: { type: ['ethernet'], ordering: 'name', limit: 100 },
  })
}

async function recordPorts({ record }: Recorder): Promise<void> {
  await record(listPortsRoute, {
    query: { service_id: [serviceId], include: 'optics', ordering: 'device_name,name', limit: 100 },
  })
  await record(getPortRoute, { ...inPort, query: { include: 'bgp_sessions,log' } })
  await record(getTransceiverMetricsRoute, {
    ...inPort,
    query: {
      metric: ['rx_power'],
      start: '2026-03-12T00:00:00Z',
      end: '2026-03-14T00:00:00Z',
      interval: 86_400,
    },
  })
  await record(getInventoryMetricsRoute)
}

async function recordOperator({ owner, record, at }: Recorder): Promise<void> {
  await at('2026-03-14T09:51:30.000Z')
  await sql`
    update device_states set missed = 5, error = 'unreachable', error_text = 'No answer to 3 requests.',
      next_poll = '2026-03-14T09:52:00Z'`.execute(owner)
  await record(listStaffDevicesRoute, {
    query: { status: ['offline', 'degraded'], ordering: 'name', limit: 100 },
  })
  await record(pollDeviceRoute, inDevice)
  await record(maintainDeviceRoute, { ...inDevice, body: { until: '2026-03-14T12:00:00Z' } })
}

async function recordCrossConnects({ owner, record, at, nextId }: Recorder): Promise<void> {
  await nextId('cross_connects', crossConnectId)
  await sql`
    with added as (
      insert into cross_connects (team_id, service_id, port_id, circuit_id, name, status, location_key, panel, module, position, z_name,
        z_panel, z_module, z_position, media, connector, chargeable, requested)
      values (${team.id}, ${serviceId}, ${portId}, 'XC-AMS-0061', 'Cross connect to Lindholm', 'awaiting_loa', ${amsterdam.key}, 'AMS-A',
        'M2', '12', ${team.name}, 'C-04', '1', '7', 'single-mode duplex', 'LC/UPC', true, '2026-03-19T12:00:00Z')
      returning id, team_id)
    insert into cross_connect_log (cross_connect_id, team_id, at, before, after, actor)
    select id, team_id, '2026-03-19T12:05:00Z', 'reserved', 'awaiting_loa', 'operator' from added`.execute(
    owner,
  )
  await nextId('attachments', photographId + 1)
  await at('2026-03-20T09:31:00.000Z')
  await record(listCrossConnectsRoute, { query: { waits_for: ['customer'], ordering: 'name', limit: 100 } })
  await record(getCrossConnectRoute, { ...inCrossConnect, query: { include: 'log' } })
  await record(uploadCrossConnectLetterRoute, inCrossConnect, { file: letterFile('loa.pdf') })
  await record(listStaffCrossConnectsRoute, {
    query: { waits_for: ['provider'], ordering: 'id', limit: 100 },
  })
  await at('2026-03-20T10:04:18.000Z')
  await record(moveCrossConnectRoute, {
    ...inCrossConnect,
    body: { status: 'awaiting_connect', provider_ref: 'DC-88123', note: 'Ordered at the data center.' },
  })
}

const photograph = {
  name: 'file',
  filename: 'rack A-12.jpg',
  type: 'image/jpeg',
  content: Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(481_012)]),
}

async function recordAttachments({ record, at, nextId }: Recorder): Promise<void> {
  await nextId('attachments', photographId)
  await at('2026-03-20T10:12:40.000Z')
  const { url } = await record(
    addDeviceAttachmentRoute,
    { ...inDevice, fields: { description: 'Front of the rack' } },
    { file: photograph },
  )
  await record(listDeviceAttachmentsRoute, {
    ...inDevice,
    query: { kind: ['image'], ordering: '-id', limit: 100 },
  })
  await record(listStaffAttachmentsRoute, { ...inDevice, query: { ordering: '-id', limit: 100 } })
  await record(getStaffAttachmentRoute, inPhotograph)
  const token = new URL(url!).searchParams.get('token')!
  await record(getAttachmentFileRoute, { ...inPhotograph, query: { token } })
  await record(deleteAttachmentRoute, inPhotograph)
}

async function recordBills(recorder: Recorder): Promise<void> {
  const { api, owner, record, at, nextId } = recorder
  const period = '2026-03'
  await sql`delete from port_samples`.execute(owner)
  await addTraffic(recorder, '2026-03-14', '2026-04-02T00:00:00Z')
  await nextId('billing_periods', 371)
  await at('2026-04-01T22:00:09.412Z')
  await closePeriods(api.database.postgres, new Date(), new AbortController().signal, { months: 1 })
  await record(listBillablePortsRoute, { ...inService, query: { period } })
  await record(listBillingPeriodsRoute, { ...inService, query: { ordering: '-period,name', limit: 12 } })
  await record(getBillingSamplesRoute, { ...inService, query: { period, port_id: portId } })
  await record(listStaffBillsRoute, { query: { period } })
  await record(exportStaffBillsRoute, { query: { period, current: true } })
}

/** The flow records of the port, as the flow store sums them for its hours; the last hour was compared with the counters. */
async function addFlows({ api, owner }: Recorder): Promise<void> {
  const hours = ['2026-03-14T06:00:00Z', '2026-03-14T08:00:00Z'].map((time) => {
    const start = Date.parse(time)
    const times = Array.from({ length: 12 }, (_, slot) => start + slot * slotMs)
    const sumOf = (octets: (ms: number) => number, share: number): number =>
      Math.floor(times.reduce((sum, ms) => sum + octets(ms), 0) * share)
    return { at: start / 1000, octets_in: sumOf(octetsIn, 0.984), octets_out: sumOf(octetsOut, 0.951) }
  })
  const rates = [{ count: 1, least: 1000, most: 1000 }]
  Object.assign(api.shared.flowStore, {
    query: async (text: string) => (text.includes('flows_by_interface_1h') ? hours : rates),
  })
  await sql`
    with exporter as (
      insert into flow_exporters (address, device_id) values ('192.0.2.1', ${deviceId}) returning id)
    insert into flow_counter_checks (exporter_id, port_id, hour, ratio)
    select id, ${portId}, '2026-03-14T08:00:00Z', 0.983 from exporter`.execute(owner)
}

async function recordUsage(recorder: Recorder): Promise<void> {
  const { record } = recorder
  await addFlows(recorder)
  await record(getPortUsageRoute, {
    ...inPort,
    query: {
      start: '2026-03-14T06:00:00Z',
      end: '2026-03-14T09:00:00Z',
      interval: 3600,
      metric: ['bps'],
      include: 'flow_records',
    },
  })
}
