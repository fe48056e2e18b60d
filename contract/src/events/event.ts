// Traffic and security analysis: security events of a team, and deliveries of detectors.
// Fields and their spelling (match_resouce_name) follow the specification.
import { Type, type Static } from 'typebox'
import { classificationKeys } from './classification.ts'
import { DeliveryNote } from './delivery-note.ts'
import { route } from '../route.ts'
import {
  Actor,
  EmptyIsAbsent,
  Id,
  Limit,
  Include,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
  Component,
  Enumeration,
} from '../scalar.ts'
import { Paragraphs } from '../text.ts'
import { bucketQuery, Timeseries } from '../timeseries.ts'

/** Properties of an event. */
export const eventFlags = [
  'INCOMING',
  'OUTGOING',
  'INTERNAL',
  'IPV6',
  'CARPET_BOMB',
  'MULTI_VECTOR',
  'BLACKHOLED',
] as const
export type EventFlag = (typeof eventFlags)[number]

/** State of an event: at most one of the first three, plus the state of its mitigation and review. */
export const eventStatuses = [
  'EVENT_PENDING',
  'EVENT_ONGOING',
  'EVENT_ENDED',
  'MITIGATION_ACTIVE',
  'MITIGATION_ENDED',
  'ACKNOWLEDGED',
  'FALSE_POSITIVE',
] as const
export type EventStatus = (typeof eventStatuses)[number]

/** State of an event according to one delivery. `pending`: detected, end unknown. */
export const eventSignals = [
  'pending',
  'ongoing',
  'ended',
  'mitigation_active',
  'mitigation_ended',
  'acknowledged',
  'false_positive',
] as const
export type EventSignal = (typeof eventSignals)[number]

/** The kinds of resources of a team to which an event can be related. */
export const matchResources = ['announcement', 'prefix', 'service', 'port', 'asn'] as const
export type MatchResource = (typeof matchResources)[number]

/** Relation of the resource to the event's network: see the description of Relationship. */
export const matchTypes = ['exact', 'covers', 'covered_by', 'origin_asn', 'source_resource'] as const
export type MatchType = (typeof matchTypes)[number]

export const Relationship = Component(
  'EventRelationship',
  {
    id: { ...Id, description: 'id of the relationship' },
    match_resouce_name: Type.String({ description: 'name of the resource, or its value if it has none' }),
    match_resource_link: Type.String({ description: 'path of the resource' }),
    match_resource: { ...Enumeration('MatchResource', matchResources), description: 'kind of the resource' },
    match_type: {
      ...Enumeration('MatchType', matchTypes),
      description: 'how it is related to the affected network',
    },
    match_value: Type.String({ description: "the resource's prefix or ASN" }),
  },
  {
    description:
      'Why the event concerns the team. `exact`: the resource is the affected network. `covers`: the resource covers ' +
      'it. `covered_by`: the affected network is larger and covers the resource. `origin_asn`: the affected network ' +
      'is in an announcement of the team that has this ASN as its origin. `source_resource`: the detector named it.',
  },
)
export type Relationship = Static<typeof Relationship>

const Country = Type.String({ description: 'ISO 3166-1 alpha-2, empty if unknown' })

const eventFields = {
  id: Type.String({ description: 'id of the event' }),
  flags: Type.Array(Enumeration('EventFlag', eventFlags), { description: 'properties of the event' }),
  status: Type.Array(Enumeration('EventStatus', eventStatuses), {
    description: 'state of the event, its mitigation and its review',
  }),
  affected_network: Type.String({
    description:
      'CIDR, such as 203.0.113.77/32: the largest affected network, or part of one, that the team holds. ' +
      'Empty if unknown',
  }),
  source_timezone: Type.String({ description: 'IANA name' }),
  start: { ...Time, description: 'start of the event' },
  end: Nullable({ ...Time, description: 'end of the event; null while it is ongoing' }),
  source_key: Type.String({ description: 'name of the detector' }),
  source_event_id: Type.String({ description: 'empty if the event also affects networks of others' }),
  source_resource_id: Type.String({ description: 'empty if the event also affects networks of others' }),
  source_location_id: Type.String({ description: "the detector's location; empty if unknown" }),
  source_country: Country,
  source_location: Type.String({ description: 'name of the place of the detection; empty if unknown' }),
  target_country: Country,
  target_location: Type.String({
    description: 'name of the place of the affected network; empty if unknown',
  }),
  classification_key: Type.String({ description: 'kind of attack, such as `udp.amplification.dns`' }),
  description: Type.String(),
  affected_bps: Type.Integer({ minimum: 0, description: 'bits per second, the peak so far' }),
  affected_pps: Type.Integer({ minimum: 0, description: 'packets per second, the peak so far' }),
}

const EventIncident = Component(
  'EventIncident',
  {
    id: Type.String({ description: 'id of the incident' }),
    sources: Type.Array(Type.String(), { description: 'the detectors that reported it' }),
    event_count: Type.Integer({ minimum: 1, description: 'number of its events' }),
  },
  {
    description:
      'With `include=incident`: the incident that events of one target and time belong to. See `GET /v3/lighthouse/security/incidents`.',
  },
)

export const RelatedEvent = Component('SecurityEvent', {
  ...eventFields,
  relationships: Type.Array(Relationship, {
    description: 'the resources of the team that the event concerns',
  }),
  incident: Optional(EventIncident),
})
export type RelatedEvent = Static<typeof RelatedEvent>

const Amount = Type.Integer({ minimum: 0 })
const Peak = Component('EventPeak', { value: Amount, at: Time })
const Port = Component('EventPort', {
  port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'TCP or UDP port' }),
  packets: Optional({ ...Amount, description: 'number of packets' }),
  bytes: Optional({ ...Amount, description: 'number of bytes' }),
})

/** Maximum number of samples in a timeline. */
export const timelineMax = 120

export const TimelineSample = Component('EventTimelineSample', {
  at: { ...Time, description: 'time of the sample' },
  signals: Type.Array(Enumeration('EventSignal', eventSignals), {
    description: 'states that the detector reported',
  }),
  bps: Optional(Type.Integer({ minimum: 0, description: 'bits per second at that time' })),
  pps: Optional(Type.Integer({ minimum: 0, description: 'packets per second at that time' })),
})
export type TimelineSample = Static<typeof TimelineSample>

/** Further details from the detector; each part is present only if the source provides it. */
export const ParsedData = Component('EventDetails', {
  vectors: Optional(Type.Array(Type.String(), { description: 'classification keys' })),
  protocols: Optional(Type.Array(Type.String(), { description: 'protocols of the traffic, such as `udp`' })),
  top_sources: Optional(
    Type.Array(
      Component('EventSource', {
        address: Type.String({ description: 'IP address' }),
        packets: Optional({ ...Amount, description: 'number of packets' }),
        bytes: Optional({ ...Amount, description: 'number of bytes' }),
      }),
    ),
  ),
  source_ports: Optional(Type.Array(Port, { description: 'ports from which the traffic came' })),
  destination_ports: Optional(Type.Array(Port, { description: 'ports to which the traffic went' })),
  thresholds: Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'trigger of the detection; `bps` and `pps` are rates, other names are specific to the detector. That of Pharos has the highest rates that ' +
        'were exceeded for certain (`lower_bps`, `lower_pps`), the number of sampled packets (`samples`), and the part of the leading kind of ' +
        'traffic (`leading_share`, 0 to 1)',
    }),
  ),
  peaks: Optional(Component('EventPeaks', { bps: Optional(Peak), pps: Optional(Peak) })),
  timeline: Optional(
    Type.Array(TimelineSample, {
      maxItems: timelineMax,
      description:
        "signals and rates of each delivery, by the detector's time or else the time of receipt. Of many " +
        'deliveries a sample is kept, with the first of each signal and the highest rates',
    }),
  ),
  total_bytes: Optional({ ...Amount, description: 'bytes of the whole event' }),
  total_packets: Optional({ ...Amount, description: 'packets of the whole event' }),
  mitigation: Optional(
    Component('EventMitigation', {
      actions: Optional(Type.Array(Type.String(), { description: 'what was done' })),
      rules: Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'rules that were applied' }),
      ),
    }),
  ),
  networks: Optional(
    Type.Array(Type.String(), {
      description: 'all affected networks that the team holds, if there are several',
    }),
  ),
  source: Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'the message of the detector, abridged; only for staff and for teams that hold all affected networks',
    }),
  ),
})
export type ParsedData = Static<typeof ParsedData>

const eventVerdicts = ['attack', 'false_positive'] as const

const Verdict = Nullable(Enumeration('EventVerdict', eventVerdicts))

/** The most comments of a team on one event. */
export const eventCommentsMax = 100

export const EventReview = Component(
  'EventReview',
  {
    verdict: { ...Verdict, description: "the team's verdict; null: none" },
    acknowledged: { ...NullableTime, description: 'when the team acknowledged it; null: not yet' },
    acknowledged_by: Nullable({ ...Actor, description: 'who acknowledged it' }),
    comments: Type.Array(
      Component('EventComment', {
        id: { ...Id, description: 'id of the comment' },
        text: Type.String({ description: 'the comment' }),
        author: { ...Actor, description: 'who wrote it' },
        created: { ...Time, description: 'when it was written' },
      }),
      { description: 'oldest first' },
    ),
  },
  { description: 'With `include=review`: what the team has decided about the event. No other team sees it.' },
)
export type EventReview = Static<typeof EventReview>

/** Statuses and flags of an event that Pharos sets for a team by itself, in addition to the detectors' own. */
export const eventMarks = [
  'MITIGATION_ACTIVE',
  'MITIGATION_ENDED',
  'BLACKHOLED',
] as const satisfies readonly (EventStatus | EventFlag)[]
export type EventMark = (typeof eventMarks)[number]

/** The source of the shares that rules drop: counters of scrubbers, flows that match installed rules, or only the rules' conditions. */
export const eventMarkSources = ['hits', 'flows', 'rules'] as const
export type EventMarkSource = (typeof eventMarkSources)[number]

const EventMarks = Type.Array(
  Component('EventMark', {
    mark: { ...Enumeration('EventMarkName', eventMarks), description: 'the status or flag that it adds' },
    since: { ...Time, description: 'since when' },
    share_bytes: Optional(
      Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            'of `MITIGATION_ACTIVE`: the part of the octets towards the target that the rules drop; null if it is not known',
        }),
      ),
    ),
    share_packets: Optional(
      Nullable(Type.Number({ minimum: 0, maximum: 1, description: 'the same of the packets' })),
    ),
    source: Optional({
      ...Enumeration('EventMarkSource', eventMarkSources),
      description:
        'of `MITIGATION_ACTIVE`, the source of the shares: `hits`, counters of scrubbers; `flows`, those of the last minute by the rules that scrubbers hold; ' +
        '`rules`, the conditions of the rules, where flows do not show the attack',
    }),
  }),
  {
    description:
      "With `include=marks`: the statuses and flags that do not come from the detector. `MITIGATION_ACTIVE`: rules of the team's shield lists " +
      'that a scrubber holds drop at least 5 % of the octets or packets of the attack; `MITIGATION_ENDED`: they did; `BLACKHOLED`: a router shows a black hole that the team ' +
      'requested for it. No other team sees them.',
  },
)

export const RelatedEventDetail = Component('SecurityEventDetail', {
  ...eventFields,
  parsed_data: ParsedData,
  has_attachment: Type.Boolean({ description: 'whether the event has files' }),
  review: Optional(EventReview),
  marks: Optional(EventMarks),
  incident: Optional(EventIncident),
})
export type RelatedEventDetail = Static<typeof RelatedEventDetail>

export const orderingNames = [
  'start',
  'end',
  'affected_bps',
  'affected_pps',
  'id',
  'classification_key',
] as const

/** Each key with and without `event__`. */
export const relatedEventOrderings = [
  ...orderingNames.map((name) => `event__${name}` as const),
  ...orderingNames,
] as const

const relatedEventOrderingDefault = 'event__start,event__end,event__affected_bps,event__affected_pps'

export const lighthouse = {
  credential: 'any',
  module: 'lighthouse',
  scope: 'lighthouse:read',
  grant: 'lighthouse.see',
} as const

const Rate = (unit: string) =>
  Optional(
    Type.Integer({
      minimum: 0,
      maximum: 999_999_999_999_999,
      description: `events whose peak was at least this many ${unit} per second`,
    }),
  )

const EventId = Type.String({ minLength: 1, maxLength: 300 })

/** The filters of events, and of incidents by their events. */
export const eventFilterQuery = {
  flag: Optional(
    EmptyIsAbsent(
      Repeatable({ ...Enumeration('EventFlag', eventFlags), description: 'a property of the event' }),
    ),
  ),
  status: Optional(
    Repeatable({
      ...Enumeration('EventStatus', eventStatuses),
      description: 'a state of the event, its mitigation or its review',
    }),
  ),
  classification_key: Optional(
    Repeatable(
      Type.Enum<typeof classificationKeys>(classificationKeys, {
        title: 'EventClassification',
        description: 'kind of attack',
      }),
    ),
  ),
  source_key: Optional(
    Repeatable(Type.String({ minLength: 1, maxLength: 100, description: 'the key of a source' })),
  ),
  start: Optional(EmptyIsAbsent(Time)),
  end: Optional(EmptyIsAbsent(Time)),
  ongoing: Optional(
    Type.Boolean({ description: '`true`: events that have not ended; `false`: those that have' }),
  ),
  min_bps: Rate('bits'),
  min_pps: Rate('packets'),
  affected_network: Optional(
    EmptyIsAbsent(
      Type.String({
        maxLength: 100,
        description:
          'an address or a CIDR: events on networks that overlap it; other text: contained in the network',
      }),
    ),
  ),
  description: Optional(
    EmptyIsAbsent(
      Type.String({ maxLength: 500, description: 'contained in the description, case-insensitive' }),
    ),
  ),
  search: Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      description:
        'case-insensitive: contained in the description, in the label or key of the classification, or in the key of ' +
        'the source; an address or a CIDR that the affected network overlaps, or a part of the network with a dot or ' +
        'a colon; or at least the first six characters of the id',
    }),
  ),
}

/** The filters and the paging of every list of events. */
const eventListQuery = {
  ...eventFilterQuery,
  incident: Optional({
    ...EventId,
    description: 'id of an incident, or of an event in it: the events of the incident',
  }),
  ordering: Ordering(relatedEventOrderings, relatedEventOrderingDefault),
  limit: Limit,
  offset: Offset,
}

export const windowAndOrder =
  'The window from `start` to `end` selects events that overlap it, both inclusive. An ongoing event ' +
  'has `end` null, overlaps every later window, and sorts last by `end` in both directions.'

export const listRelatedEventsRoute = route({
  name: 'listRelatedEvents',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/events/related',
  summary: 'Event List Related',
  description:
    "The security events that concern the team's announcements, prefixes and ASNs; `relationships` lists them. " +
    windowAndOrder,
  permission: lighthouse,
  query: Strict({ ...eventListQuery, include: Optional(Include('EventListInclude', ['incident'])) }),
  response: Page(RelatedEvent),
  success: 200,
})

export const listEventsRoute = route({
  name: 'listEvents',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/events',
  summary: 'Event List All',
  description:
    "The security events of all of the user's teams that have the module and whose requirement of a second factor " +
    'the user meets, each event once, with its relationships to these teams; for an API token, those of its team. ' +
    'Also events that concern no team, on a prefix that one of these teams held when they started; their ' +
    '`relationships` are empty. Staff get every event, or with `team_id` those that this team sees. ' +
    windowAndOrder,
  permission: lighthouse,
  query: Strict({
    ...eventListQuery,
    team_id: Optional({ ...Id, description: 'for staff: the events that this team sees' }),
  }),
  response: Page(RelatedEvent),
  success: 200,
  errors: ['forbidden'],
})

export const eventMetrics = ['count', 'max_bps', 'max_pps', 'sum_bytes'] as const
export type EventMetric = (typeof eventMetrics)[number]

export const eventGroupings = [
  'classification_key',
  'affected_network',
  'source_country',
  'peak_bps',
] as const
export type EventGrouping = (typeof eventGroupings)[number]

/** The bands of `group_by=peak_bps`, each from its rate up to that of the next, in bits per second. */
export const peakBands = { below_1g: 0, from_1g: 1e9, from_10g: 1e10, from_100g: 1e11 } as const
export type PeakBand = keyof typeof peakBands

/** The most series of one answer, beside that of all others together. */
const eventSeriesMax = 50
/** The query parameter `limit` of a series by group. */
export const seriesLimit = Type.Integer({
  minimum: 1,
  maximum: eventSeriesMax,
  default: 10,
  description: 'the most series, beside that of all others',
})

export const getRelatedTimeseriesRoute = route({
  name: 'getRelatedEventTimeseries',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/events/related/timeseries',
  summary: 'Event List Related Timeseries',
  description:
    'The events of the related list over time, with the same filters. An event counts in every bucket that it ' +
    'overlaps, so that a long attack is in each of its hours; one that has not ended lasts until now. The window is ' +
    'the last 24 hours unless `start` or `end` say otherwise, and is widened to whole buckets. `metric`: `count`, the ' +
    'number of events; `max_bps` and `max_pps`, the highest peak among them; `sum_bytes`, their bytes as far as ' +
    'detectors report them, spread evenly over each event. `group_by` makes one series for each value, the largest ' +
    'first, and one of all others; `peak_bps` makes one for each band of the peak rate: `below_1g`, `from_1g`, ' +
    '`from_10g`, `from_100g`. Times after now are null, and so are rates and bytes of a bucket without events. `sum_bytes` and `affected_network` ' +
    'take 31 days at most.',
  permission: lighthouse,
  query: Strict({
    ...eventFilterQuery,
    ...bucketQuery,
    metric: { ...Enumeration('EventMetric', eventMetrics), default: 'count', description: 'what is shown' },
    group_by: Optional({
      ...Enumeration('EventGrouping', eventGroupings),
      description: 'what the series are',
    }),
    limit: seriesLimit,
  }),
  response: Timeseries,
  success: 200,
  conditional: true,
})

const ofEvent = Strict({ event_id: Type.String({ maxLength: 300 }) })
const eventInclude = { include: Optional(Include('EventInclude', ['review', 'marks', 'incident'])) }

export const getRelatedEventRoute = route({
  name: 'getRelatedEvent',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/events/related/{event_id}',
  summary: 'Event Detail Related',
  description:
    'Returns one security event that concerns the team, with details of the detector; 404 for any other. If ' +
    'the event also affects networks of other teams, the answer is limited to the networks, address family, ' +
    'samples and rules of the team. Times, classification, rates and totals are those of the whole event.',
  permission: lighthouse,
  params: ofEvent,
  query: Strict(eventInclude),
  response: RelatedEventDetail,
  success: 200,
  conditional: true,
})

export const reviewEventRoute = route({
  name: 'reviewEvent',
  group: 'Analysis',
  method: 'PATCH',
  path: '/v3/lighthouse/security/events/related/{event_id}',
  summary: 'Review event',
  description:
    'Changes what the team has decided about the event: `verdict` `false_positive` adds FALSE_POSITIVE to the `status` that this team sees, ' +
    '`attack` removes it if the detector reported it, null leaves the decision to the detector; `acknowledged` adds ACKNOWLEDGED. Later ' +
    'deliveries do not change it. `comment` adds a comment. `include=review` returns all of it.',
  permission: { ...lighthouse, scope: 'lighthouse:write', grant: 'events.review' },
  params: ofEvent,
  query: Strict(eventInclude),
  body: Strict({
    verdict: Optional({ ...Verdict, description: 'null: none' }),
    acknowledged: Optional(Type.Boolean({ description: 'whether the team has acknowledged it' })),
    comment: Optional(
      Paragraphs({ minLength: 1, maxLength: 2_000, description: 'a comment, added to those before' }),
    ),
  }),
  response: RelatedEventDetail,
  success: 200,
  conditional: true,
  errors: ['quota_exceeded'],
})

const AcceptedDelivery = Component('AcceptedDelivery', {
  delivery_id: Type.String({ description: 'id of the delivery: the one that the sender gave, or a new one' }),
})

/** The most events that a validation returns. */
export const validatedEventsMax = 100

export const DeliveryValidation = Component('DeliveryValidation', {
  validated: Type.Literal(true, { description: 'nothing was stored' }),
  state: {
    ...Enumeration('DeliveryValidationState', ['done', 'partial', 'failed']),
    description: 'the state that the delivery would have: see `GET /v3/admin/deliveries`',
  },
  error: Nullable(
    Type.String({ description: 'the first error, with its place in the delivery; null if there is none' }),
  ),
  notes: Type.Array(DeliveryNote, { description: 'errors first; at most 100' }),
  event_count: Type.Integer({ minimum: 0, description: 'number of events in the delivery' }),
  events: Type.Array(RelatedEventDetail, {
    maxItems: validatedEventsMax,
    description: 'the events as this delivery alone would make them',
  }),
})
export type DeliveryValidation = Static<typeof DeliveryValidation>

export const ingestDeliveryRoute = route({
  name: 'ingestDelivery',
  group: 'Ingest',
  method: 'POST',
  path: '/v3/ingest/events/{source_key}',
  summary: 'Ingest a delivery',
  description:
    'Accepts a message of a detector, of any media type but forms, without a `Content-Encoding` (415). It is stored as received and processed by a loop. ' +
    'The secret of the source is sent as `Authorization: Token <secret>`, as the password of HTTP Basic, or ' +
    'as `?token=`. A delivery is identified by its `Idempotency-Key` or `webhook-id` header: a repeated one ' +
    'gets the same answer and is stored once; another body with the same id is rejected. Only the key and the ' +
    'network of an event are essential: everything else that cannot be read is left out and noted. An ' +
    'unreadable delivery is stored with the reason and can be replayed after a fix. `?validate=true` stores ' +
    'nothing and returns 200 with what would become of the delivery.',
  permission: { credential: 'source' },
  params: Strict({ source_key: Type.String({ maxLength: 100 }) }),
  query: Strict({
    token: Optional(Type.String({ maxLength: 500, description: 'the secret of the source' })),
    validate: Optional(Type.Boolean({ description: 'return what would become of the delivery' })),
  }),
  body: Type.Unknown(),
  response: AcceptedDelivery,
  trial: DeliveryValidation,
  success: 202,
  errors: ['body_too_large'],
})

export const analysisRoutes = [
  listEventsRoute,
  listRelatedEventsRoute,
  getRelatedTimeseriesRoute,
  getRelatedEventRoute,
  reviewEventRoute,
  ingestDeliveryRoute,
]
