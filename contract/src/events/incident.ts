// Incidents: the security events of a team on one target and time, whatever the number of detectors that report them.
import { Type, type Static } from 'typebox'
import {
  eventFilterQuery,
  eventFlags,
  eventGroupings,
  eventMetrics,
  eventStatuses,
  lighthouse,
  orderingNames,
  RelatedEvent,
  Relationship,
  seriesLimit,
  windowAndOrder,
} from './event.ts'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  TeamReference,
  Time,
} from '../scalar.ts'
import { bucketQuery, Timeseries } from '../timeseries.ts'

export const incidentDirections = ['incoming', 'outgoing', 'internal'] as const
export type IncidentDirection = (typeof incidentDirections)[number]

export const incidentConfidences = ['low', 'medium', 'high'] as const
export type IncidentConfidence = (typeof incidentConfidences)[number]

const incidentMitigations = ['none', 'active', 'ended'] as const

/** The most events that the detail of an incident contains. */
export const incidentEventsMax = 1_000

/** The fields of an incident in lists, details and messages. */
export const incidentFigures = {
  id: Type.String({
    description:
      'id of the incident: that of the event which was first in it. The ids of its other events find it too',
  }),
  network: Type.String({
    description:
      'CIDR: the largest network of its events, or part of one, that the team holds. Empty if unknown',
  }),
  direction: {
    ...Enumeration('IncidentDirection', incidentDirections),
    description: 'direction of its traffic',
  },
  classification_key: Type.String({
    description: 'kind of attack: that of its largest event whose kind is known',
  }),
  start: { ...Time, description: 'start of its first event' },
  end: Nullable({ ...Time, description: 'end of its last event; null while one is ongoing' }),
  affected_bps: Type.Integer({
    minimum: 0,
    description:
      'bits per second: the greatest among its detectors, each with the sum of its peaks on networks that are not inside one another',
  }),
  affected_pps: Type.Integer({ minimum: 0, description: 'packets per second, as `affected_bps`' }),
  sources: Type.Array(Type.String(), { description: 'the detectors that reported it' }),
  event_count: Type.Integer({ minimum: 1, description: 'number of its events' }),
}

const fields = {
  ...incidentFigures,
  confidence: {
    ...Enumeration('IncidentConfidence', incidentConfidences),
    description:
      '`low`: the kind of attack is unknown or mixed; `medium`: 60 % of it are one known kind; `high`: also a second detector, a rate of ' +
      'twice the threshold (its lower bound, if traffic is sampled), or the verdict `attack`',
  },
  mitigation: {
    ...Enumeration('IncidentMitigation', incidentMitigations),
    description: 'whether one of its events is mitigated, or was',
  },
  flags: Type.Array(Enumeration('EventFlag', eventFlags), { description: 'properties of its events' }),
  status: Type.Array(Enumeration('EventStatus', eventStatuses), {
    description: 'the states of its events together; `FALSE_POSITIVE` if all of them are',
  }),
  relationships: Type.Array(Relationship, {
    description: 'the resources of the team that its events concern',
  }),
}

export const Incident = Component('SecurityIncident', fields)
export type Incident = Static<typeof Incident>

export const StaffIncident = Component('StaffIncident', {
  ...fields,
  team: {
    ...TeamReference,
    description: 'the team whose networks are concerned: an attack on several teams is an incident of each',
  },
})
export type StaffIncident = Static<typeof StaffIncident>

export const IncidentDetail = Component('SecurityIncidentDetail', {
  ...fields,
  events: Type.Array(RelatedEvent, {
    maxItems: incidentEventsMax,
    description: `its events, in the order of their starts; of more than ${incidentEventsMax} the largest ones`,
  }),
})
export type IncidentDetail = Static<typeof IncidentDetail>

const incidentFilterQuery = {
  ...eventFilterQuery,
  false_positive: Optional(
    Type.Boolean({
      description:
        '`false`: incidents with an event that is no false positive; `true`: those with one that is',
    }),
  ),
}

const filtered =
  'The filters are those of the events, and select the incidents with an event that passes all of them; `ongoing`, `min_bps` and `min_pps` are of ' +
  'the incident as a whole. '

export const listIncidentsRoute = route({
  name: 'listIncidents',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/incidents',
  summary: 'List incidents',
  description:
    "The attacks on the team's networks, each once, whatever the number of detectors that report it. Events belong to one incident if they have " +
    'the same direction, their networks cover each other, and less than 30 minutes are between the end of one and the start of the other. ' +
    filtered +
    windowAndOrder,
  permission: lighthouse,
  query: Strict({
    ...incidentFilterQuery,
    ordering: Ordering(orderingNames, '-start'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Incident),
  success: 200,
})

export const getIncidentTimeseriesRoute = route({
  name: 'getIncidentTimeseries',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/incidents/timeseries',
  summary: 'Get incidents over time',
  description:
    'As `GET /v3/lighthouse/security/events/related/timeseries`, of incidents: an attack that several detectors report counts once. ' +
    filtered,
  permission: lighthouse,
  query: Strict({
    ...incidentFilterQuery,
    ...bucketQuery,
    metric: {
      ...Enumeration(
        'IncidentMetric',
        eventMetrics.filter((metric) => metric !== 'sum_bytes'),
      ),
      default: 'count',
      description: 'what is shown',
    },
    group_by: Optional({
      ...Enumeration(
        'IncidentGrouping',
        eventGroupings.filter((grouping) => grouping !== 'affected_network' && grouping !== 'source_country'),
      ),
      description: 'what the series are',
    }),
    limit: seriesLimit,
  }),
  response: Timeseries,
  success: 200,
  conditional: true,
})

export const getIncidentRoute = route({
  name: 'getIncident',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/incidents/{incident_id}',
  summary: 'Get incident',
  description:
    'Returns an incident with its events. The id of any of its events finds it, so that the id of an incident that another one took over does too.',
  permission: lighthouse,
  params: Strict({ incident_id: Type.String({ maxLength: 300 }) }),
  response: IncidentDetail,
  success: 200,
  conditional: true,
})

export const listStaffIncidentsRoute = route({
  name: 'listIncidentsOfAll',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/incidents',
  summary: 'List incidents of all teams',
  description:
    'The incidents of every team, as each of them sees its own, without the false positives of the teams. Those that overlap the window, by default the last 24 hours. ' +
    windowAndOrder,
  permission: staffReading('operator.see'),
  query: Strict({
    team_id: Optional(Repeatable({ ...Id, description: 'id of the team' })),
    ongoing: incidentFilterQuery.ongoing,
    start: incidentFilterQuery.start,
    end: incidentFilterQuery.end,
    ordering: Ordering(orderingNames, '-start'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(StaffIncident),
  success: 200,
})

export const incidentRoutes = [
  listIncidentsRoute,
  getIncidentTimeseriesRoute,
  getIncidentRoute,
  listStaffIncidentsRoute,
]
