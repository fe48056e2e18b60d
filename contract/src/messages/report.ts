// The report of a month: traffic with its 95th percentile, attacks, the figures of each service, and changes. The portal, the PDF and
// the mail show the same report.
import { Type, type Static } from 'typebox'
import { BillablePort } from '../inventory/bill.ts'
import { FlowTimeseries } from '../flow/flow.ts'
import { route } from '../route.ts'
import { Component, Enumeration, Id, Nullable, NullableTime, Strict, TeamReference, Time } from '../scalar.ts'
import { Timeseries } from '../timeseries.ts'

const Count = Type.Integer({ minimum: 0 })

/** `no_flows`: no flows were recorded; `unavailable`: flow records cannot be read now, or are not kept. */
export const reportTrafficStates = ['measured', 'no_flows', 'unavailable'] as const
export type ReportTrafficState = (typeof reportTrafficStates)[number]

const ReportShare = Component('ReportShare', {
  label: Type.String({ description: 'name for people' }),
  bytes: { ...Count, description: 'bytes of the month, in both directions' },
})
export type ReportShare = Static<typeof ReportShare>

const Shares = (of: string) => Type.Array(ReportShare, { description: `the largest ${of}, at most six` })

const ReportTraffic = Component('ReportTraffic', {
  state: {
    ...Enumeration('ReportTrafficState', reportTrafficStates),
    description:
      '`no_flows`: no flow of the team was recorded in the month; `unavailable`: flow records cannot be read now, or are not kept. Without ' +
      'flows all other fields are empty',
  },
  hours: Nullable(FlowTimeseries),
  bytes_in: Nullable({ ...Count, description: 'bytes that the team received in the month' }),
  bytes_out: Nullable({ ...Count, description: 'bytes that the team sent in the month' }),
  protocols: Shares('protocols'),
  applications: Shares('service ports'),
  networks: Shares('remote networks'),
  families: Shares('address families'),
  facilities: Shares('facilities, by the devices of the provider that exported the flows'),
})
export type ReportTraffic = Static<typeof ReportTraffic>

/** The most attacks and changes that a report lists. */
export const reportAttacksMax = 10
export const reportChangesMax = 200

const ReportAttack = Component('ReportAttack', {
  id: Type.String({ description: 'id of the event' }),
  network: Type.String({ description: 'the target as CIDR; empty if unknown' }),
  classification_key: Type.String({ description: 'kind of attack' }),
  start: Time,
  end: { ...NullableTime, description: 'null while it lasts' },
  bps: { ...Count, description: 'highest rate in bits per second; 0 if the detector reported none' },
  pps: { ...Count, description: 'highest rate in packets per second' },
})
export type ReportAttack = Static<typeof ReportAttack>

const ReportAttacks = Component('ReportAttacks', {
  count: { ...Count, description: 'events of the month, including those that began before it' },
  count_before: { ...Count, description: 'events of the month before' },
  days: Timeseries,
  kinds: Type.Array(
    Component('ReportAttackKind', {
      classification_key: Type.String({ description: 'kind of attack' }),
      count: { ...Count, description: 'events of the kind' },
    }),
    { description: 'the most frequent kinds, at most six' },
  ),
  largest: Type.Array(ReportAttack, {
    description: `the attacks with the highest rates, at most ${reportAttacksMax}`,
  }),
})
export type ReportAttacks = Static<typeof ReportAttacks>

const ReportService = Component('ReportService', {
  id: { ...Id, description: 'id of the service' },
  name: Type.String({ description: 'name of the service' }),
  ports: Type.Array(BillablePort, {
    description: 'its ports, or one row for all of them: see listBillablePorts',
  }),
})
export type ReportService = Static<typeof ReportService>

export const reportChangeKinds = [
  'announcement_created',
  'announcement_enabled',
  'announcement_disabled',
  'announcement_suspended',
  'announcement_resumed',
  'announcement_deleted',
  'shield_changed',
  'shield_reverted',
  'shield_removed',
] as const
export type ReportChangeKind = (typeof reportChangeKinds)[number]

const ReportChange = Component('ReportChange', {
  at: { ...Time, description: 'time of the change' },
  kind: { ...Enumeration('ReportChangeKind', reportChangeKinds), description: 'code of the change' },
  prefix: Type.String({ description: 'the prefix of the announcement or the list' }),
  rules: Nullable({ ...Count, description: 'number of rules after the change; null for an announcement' }),
})
export type ReportChange = Static<typeof ReportChange>

const notShown = 'null if the caller may not read it'

export const MonthlyReport = Component('MonthlyReport', {
  month: Type.String({ description: 'the month, such as 2026-03' }),
  timezone: Type.String({ description: 'IANA name of the time zone of the team, in which the month is' }),
  start: { ...Time, description: 'its first moment' },
  end: { ...Time, description: 'its end, exclusive' },
  complete: Type.Boolean({ description: 'whether the month is over' }),
  prepared: { ...Time, description: 'when the report was made' },
  provider: Type.String({ description: 'name of the provider' }),
  team: TeamReference,
  traffic: ReportTraffic,
  attacks: ReportAttacks,
  services: Nullable(
    Type.Array(ReportService, { description: `services with ports in the month; ${notShown}` }),
  ),
  changes: Nullable(
    Type.Array(ReportChange, {
      description: `changes of announcements and shield rules, oldest first, the first ${reportChangesMax}; ${notShown}`,
    }),
  ),
  change_count: { ...Count, description: 'number of all these changes' },
})
export type MonthlyReport = Static<typeof MonthlyReport>

const params = Strict({
  month: Type.String({
    pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$',
    expects: 'a month such as 2026-03',
    description: 'the month in the time zone of the team; the current one so far',
    examples: ['2026-03'],
  }),
})
const permission = {
  credential: 'any',
  module: 'lighthouse',
  scope: 'lighthouse:read',
  grant: 'report.see',
} as const

export const getMonthlyReportRoute = route({
  name: 'getMonthlyReport',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/reports/{month}',
  summary: 'Get monthly report',
  description:
    'Traffic, attacks, services and changes of a month of the team, in its time zone. `hours` of the traffic has one series for each ' +
    'direction in bits per second, with its 95th percentile; `days` of the attacks has one for each band of the peak rate. Services need the module `inventory`, changes ' +
    '`ipam` or `shield`, and an API token the scopes of these. Members who subscribe in getNotificationSettings get ' +
    'the report of each month by mail on its second day, once its services are billed.',
  permission,
  params,
  response: MonthlyReport,
  success: 200,
  conditional: true,
})

export const downloadMonthlyReportRoute = route({
  name: 'downloadMonthlyReport',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/reports/{month}/pdf',
  summary: 'Download monthly report',
  description: 'The same report as a PDF for printing.',
  permission,
  params,
  download: ['application/pdf'],
  success: 200,
})

export const reportRoutes = [getMonthlyReportRoute, downloadMonthlyReportRoute]
