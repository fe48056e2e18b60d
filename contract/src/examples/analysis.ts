// Examples of security events and deliveries of detectors.
import {
  getRelatedEventRoute,
  getRelatedTimeseriesRoute,
  ingestDeliveryRoute,
  listEventsRoute,
  listRelatedEventsRoute,
  reviewEventRoute,
  type DeliveryValidation,
  type RelatedEvent,
} from '../events/event.ts'
import { example } from '../example.ts'
import {
  getIncidentRoute,
  getIncidentTimeseriesRoute,
  listIncidentsRoute,
  listStaffIncidentsRoute,
  type Incident,
} from '../events/incident.ts'
import { eventId, fastnetmonDelivery, sourceEventId, team, teamReference, web } from './world.ts'

const event: Omit<RelatedEvent, 'relationships'> = {
  id: eventId,
  flags: ['INCOMING'],
  status: ['EVENT_ENDED', 'MITIGATION_ENDED'],
  affected_network: '203.0.113.77/32',
  source_timezone: 'Europe/Amsterdam',
  start: '2026-04-01T03:12:09.120Z',
  end: '2026-04-01T03:31:44.870Z',
  source_key: 'fastnetmon',
  source_event_id: sourceEventId,
  source_resource_id: '',
  source_location_id: 'ams',
  source_country: 'NL',
  source_location: 'Amsterdam',
  target_country: 'NL',
  target_location: 'Amsterdam',
  classification_key: 'udp.amplification.dns',
  description: 'Incoming UDP amplification (DNS) on 203.0.113.77',
  affected_bps: 9_500_000_000,
  affected_pps: 812_345,
}

const related: RelatedEvent = {
  ...event,
  relationships: [
    {
      id: 30_177,
      match_resouce_name: web.cidr,
      match_resource_link: `/v3/ipam/announcements/${web.id}`,
      match_resource: 'announcement',
      match_type: 'covers',
      match_value: web.cidr,
    },
  ],
}

/** The event as its first delivery alone makes it. */
const trial: DeliveryValidation = {
  validated: true,
  state: 'done',
  error: null,
  notes: [],
  event_count: 1,
  events: [
    {
      ...event,
      status: ['EVENT_PENDING'],
      end: null,
      target_country: '',
      target_location: '',
      parsed_data: {
        vectors: ['udp.amplification.dns'],
        protocols: ['udp'],
        top_sources: [{ address: '198.51.100.53', packets: 1024, bytes: 1_443_840 }],
        source_ports: [{ port: 53, packets: 1024, bytes: 1_443_840 }],
        destination_ports: [{ port: 30_010, packets: 1024, bytes: 1_443_840 }],
        thresholds: { threshold: 'mbits', direction: 'incoming' },
        peaks: {
          bps: { value: 9_500_000_000, at: event.start },
          pps: { value: 812_345, at: event.start },
        },
        timeline: [{ at: event.start, signals: ['pending'], bps: 9_500_000_000, pps: 812_345 }],
        mitigation: { actions: ['ban'] },
        source: fastnetmonDelivery.body,
      },
      has_attachment: false,
    },
  ],
}

const incident: Incident = {
  id: eventId,
  network: event.affected_network,
  direction: 'incoming',
  classification_key: event.classification_key,
  start: event.start,
  end: event.end,
  affected_bps: event.affected_bps,
  affected_pps: event.affected_pps,
  sources: ['fastnetmon', 'flows'],
  event_count: 2,
  confidence: 'high',
  mitigation: 'ended',
  flags: event.flags,
  status: event.status,
  relationships: related.relationships,
}

export const analysisExamples = [
  example(listIncidentsRoute, {
    query: { ongoing: false, start: '2026-04-01T00:00:00Z', ordering: '-affected_bps', limit: 100 },
    response: { results: [incident], count: 1 },
  }),
  example(listStaffIncidentsRoute, {
    query: { ongoing: false, start: '2026-04-01T00:00:00Z', ordering: '-affected_bps', limit: 100 },
    response: { results: [{ ...incident, team: teamReference }], count: 1 },
  }),
  example(getIncidentRoute, {
    params: { incident_id: eventId },
    response: {
      ...incident,
      events: [related, { ...related, id: 'q4m2vh7xw3d5k6n8', source_key: 'flows', source_event_id: '41' }],
    },
  }),
  example(getIncidentTimeseriesRoute, {
    query: { start: '2026-03-30T22:00:00Z', end: '2026-04-01T22:00:00Z', interval: 86_400 },
    response: {
      start: '2026-03-30T22:00:00.000Z',
      end: '2026-04-01T22:00:00.000Z',
      interval: 86_400,
      timestamps: ['2026-03-30T22:00:00.000Z', '2026-03-31T22:00:00.000Z'],
      series: [
        {
          key: {},
          label: 'All',
          unit: 'incidents',
          values: [0, 1],
          min: 0,
          max: 1,
          avg: 0.5,
          last: 1,
          p95: 1,
        },
      ],
    },
  }),
  example(listEventsRoute, {
    query: {
      team_id: team.id,
      status: ['EVENT_ENDED'],
      classification_key: ['udp.amplification.dns'],
      min_bps: 1_000_000_000,
      ordering: '-event__start',
      limit: 100,
    },
    response: { results: [related], count: 1 },
  }),
  example(listRelatedEventsRoute, {
    query: {
      flag: ['INCOMING'],
      start: '2026-04-01T00:00:00Z',
      end: '2026-04-02T00:00:00Z',
      affected_network: web.cidr,
      ordering: '-event__affected_bps',
      limit: 100,
    },
    response: { results: [related], count: 1 },
  }),
  example(getRelatedTimeseriesRoute, {
    query: {
      start: '2026-03-30T22:00:00Z',
      end: '2026-04-01T22:00:00Z',
      interval: 86_400,
      timezone: 'Europe/Amsterdam',
      group_by: 'peak_bps',
    },
    response: {
      start: '2026-03-30T22:00:00.000Z',
      end: '2026-04-01T22:00:00.000Z',
      interval: 86_400,
      timestamps: ['2026-03-30T22:00:00.000Z', '2026-03-31T22:00:00.000Z'],
      series: [
        {
          key: { peak_bps: 'from_1g' },
          label: '1 to 10 Gbit/s',
          unit: 'events',
          values: [0, 1],
          min: 0,
          max: 1,
          avg: 0.5,
          last: 1,
          p95: 1,
        },
      ],
    },
  }),
  example(getRelatedEventRoute, {
    params: { event_id: eventId },
    query: { include: 'marks' },
    response: {
      ...event,
      parsed_data: {
        vectors: ['udp.amplification.dns'],
        protocols: ['udp'],
        top_sources: [{ address: '198.51.100.53', packets: 41_200_000 }],
        source_ports: [{ port: 53, packets: 780_000_000 }],
        peaks: {
          bps: { value: 9_500_000_000, at: '2026-04-01T03:16:20.000Z' },
          pps: { value: 812_345, at: '2026-04-01T03:16:20.000Z' },
        },
        timeline: [
          { at: '2026-04-01T03:12:09.120Z', signals: ['ongoing'], bps: 4_100_000_000, pps: 350_112 },
          { at: '2026-04-01T03:31:44.870Z', signals: ['ended'] },
        ],
      },
      has_attachment: false,
      marks: [{ mark: 'MITIGATION_ENDED', since: '2026-04-01T03:40:02.118Z' }],
    },
  }),
  example(reviewEventRoute, {
    params: { event_id: eventId },
    query: { include: 'review' },
    body: { verdict: 'false_positive', comment: 'Load test of our shop, announced in ticket 4711.' },
    response: {
      ...event,
      status: ['EVENT_ENDED', 'MITIGATION_ENDED', 'FALSE_POSITIVE'],
      parsed_data: { peaks: { bps: { value: 9_500_000_000, at: '2026-04-01T03:16:20.000Z' } } },
      has_attachment: false,
      review: {
        verdict: 'false_positive',
        acknowledged: null,
        acknowledged_by: null,
        comments: [
          {
            id: 52,
            text: 'Load test of our shop, announced in ticket 4711.',
            author: 'user:7',
            created: '2026-04-01T06:02:11.402Z',
          },
        ],
      },
    },
  }),
  example(ingestDeliveryRoute, {
    params: { source_key: 'fastnetmon' },
    body: fastnetmonDelivery.body,
    response: { delivery_id: fastnetmonDelivery.delivery_id },
    trial,
  }),
]
