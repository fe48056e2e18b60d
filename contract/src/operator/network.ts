// The name servers, scrubbers and exporters of flows of the provider for staff: what each does now, and what is wrong with it.
import { Type, type Static } from 'typebox'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'
import { partStates } from './status.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** As the state of the installation counts it. */
const State = Enumeration('PartState', partStates)

const filters = {
  state: Optional(Repeatable({ ...State, description: 'state now' })),
  search: Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'contained in the name or an address; case-insensitive',
    }),
  ),
}
const slice = { limit: Limit, offset: Offset }

const Names = (description: string) => Type.Array(Type.String(), { description })

export const StaffNameServer = Component('NameServer', {
  id: { ...Id, description: 'id of the name server' },
  name: Type.String({ description: 'its name in NS records' }),
  kind: {
    ...Enumeration('NameServerKind', ['dns', 'sandbox']),
    description: '`sandbox`: part of Pharos, for tests',
  },
  address: Nullable(Type.String({ description: 'where it is notified and asked; null for `sandbox`' })),
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'its port' }),
  region: Type.String({ description: 'where it is; empty if not set' }),
  public: Type.Boolean({ description: 'whether new zones name it in NS records' }),
  catalog: Type.Boolean({ description: 'whether it learns its zones from the catalog zone' }),
  signing: {
    ...Enumeration('NameServerSigning', ['pharos', 'external']),
    description: '`external`: it gets zones unsigned and signs them itself',
  },
  state: {
    ...State,
    description: '`failing`: it does not answer, or is behind; `unknown`: not asked for five minutes',
  },
  checked: { ...NullableTime, description: 'last attempt to ask it; null if never' },
  seen: { ...NullableTime, description: 'last answer; null if never' },
  error: Nullable(Type.String({ description: 'code of the last failure; null after an answer' })),
  software: Nullable(Type.String({ description: 'version as it reports it; null if it does not' })),
  zones: count('zones that were observed on it'),
  zones_behind: count('zones of which it keeps an old version, or that it fails to serve, for 25 seconds'),
  late_zones: Names('the names of these zones, the first 20'),
})
export type StaffNameServer = Static<typeof StaffNameServer>

export const listNameServersRoute = route({
  name: 'listNameServers',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/dns/servers',
  summary: 'List name servers',
  description:
    'The name servers of the provider, whether they answer, and the zones that they are behind with.',
  permission: staffReading('operator.see'),
  query: Strict({
    ...filters,
    ordering: Ordering(['name', 'checked', 'zones_behind', 'zones'], 'name'),
    ...slice,
  }),
  response: Page(StaffNameServer),
  success: 200,
})

export const StaffScrubber = Component('Scrubber', {
  id: { ...Id, description: 'id of the scrubber' },
  name: Type.String({ description: 'unique name' }),
  kind: Type.String({ description: 'kind of its driver, such as `flowspec`' }),
  prefixes: Names('it gets the lists of prefixes inside these; empty: all lists'),
  state: {
    ...State,
    description: '`failing`: it cannot be read or written; `unknown`: no reconciler works on it',
  },
  lists: count('lists of rules that it has, or should have'),
  lists_failing: count('lists that it has rejected, or whose state on it is not known'),
  lists_waiting: count('lists with a newer version that is not applied yet'),
  rules: count('installed rules at the last reading'),
  rules_max: count('the most installed rules of all lists together'),
  read: { ...NullableTime, description: 'when a list was last read back; null if none is on it' },
})
export type StaffScrubber = Static<typeof StaffScrubber>

export const listScrubbersRoute = route({
  name: 'listScrubbers',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/shield/scrubbers',
  summary: 'List scrubbers',
  description: 'The scrubbers that drop the traffic of shield rules, with the lists and rules on each.',
  permission: staffReading('operator.see'),
  query: Strict({
    ...filters,
    ordering: Ordering(['name', 'lists', 'lists_failing', 'rules'], 'name'),
    ...slice,
  }),
  response: Page(StaffScrubber),
  success: 200,
})

const Numbers = (description: string) => Type.Array(Type.Integer({ minimum: 0 }), { description })

export const StaffExporter = Component('FlowExporter', {
  id: { ...Id, description: 'id of the exporter in the flow store' },
  address: Type.String({ description: 'address from which it sends, or the agent address of sFlow' }),
  device: Nullable(
    Component('ExporterDevice', {
      id: { ...Id, description: 'id of the device' },
      name: Type.String({ description: 'name of the device' }),
    }),
  ),
  state: {
    ...State,
    description: '`failing`: no flows for 15 minutes; `unknown`: no collector runs',
  },
  first_seen: { ...Time, description: 'first flows' },
  last_seen: { ...Time, description: 'last flows, to within a minute' },
  sampling_rate: Nullable(
    Type.Integer({ minimum: 1, description: 'sampling rate of the platform file; null: as it announces' }),
  ),
  several: Type.Boolean({
    description:
      'several exporters share the address: templates, sampling rates and sequence numbers are kept by source port',
  }),
  unknown_interfaces: Numbers(
    'interfaces of its flows in the past week that the inventory lacks: their traffic belongs to no port',
  ),
  unknown_internal: Names(
    'internal interfaces of the platform file that no interface has: their flows are not left out',
  ),
  longest_flow_seconds: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        'longest flow in one record of the past day, if it is longer than 120 s: set the active timeout to 60 s',
    }),
  ),
  ambiguous_rates: Nullable(Numbers('both sampling rates of the last record that had two')),
  implausible: Nullable(
    Component(
      'ImplausibleFlow',
      {
        at: { ...Time, description: 'when it was received' },
        octets: count('octets'),
        packets: count('packets'),
        rate: count('sampling rate; 0: unknown'),
        in_if: count('number of the interface of entry'),
        out_if: count('number of the interface of exit'),
        duration_ms: count('duration'),
      },
      { description: 'the last record that cannot be right and was left out' },
    ),
  ),
})
export type StaffExporter = Static<typeof StaffExporter>

export const listExportersRoute = route({
  name: 'listExporters',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/flows/exporters',
  summary: 'List exporters of flows',
  description:
    'Everything that has sent flows, with its device, the interfaces that the inventory does not know, and records that cannot be right, as ' +
    '`pharos flows exporters` prints them.',
  permission: staffReading('operator.see'),
  query: Strict({
    ...filters,
    ordering: Ordering(['address', 'first_seen', 'last_seen'], 'address'),
    ...slice,
  }),
  response: Page(StaffExporter),
  success: 200,
})

export const adminNetworkRoutes = [listNameServersRoute, listScrubbersRoute, listExportersRoute]
