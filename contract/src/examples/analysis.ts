// Examples of security events and deliveries of detectors.
import {
  getRelatedEventRoute,
  ingestDeliveryRoute,
  listRelatedEventsRoute,
  type RelatedEvent,
} from '../analysis.ts'
import { example } from '../example.ts'
import { eventId, web } from './world.ts'

const sourceEventId = '0b8a4c52-6f0e-4d1b-9a57-1f2c3d4e5f60'

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
  description: 'UDP flood from port 53',
  affected_bps: 9_500_000_000,
  affected_pps: 812_345,
}

export const analysisExamples = [
  example(listRelatedEventsRoute, {
    query: {
      flag: ['INCOMING'],
      start: '2026-04-01T00:00:00Z',
      end: '2026-04-02T00:00:00Z',
      affected_network: web.cidr,
      ordering: '-event__affected_bps',
      limit: 100,
    },
    response: {
      results: [
        {
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
        },
      ],
      count: 1,
    },
  }),
  example(getRelatedEventRoute, {
    params: { event_id: eventId },
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
    },
  }),
  example(ingestDeliveryRoute, {
    params: { source_key: 'fastnetmon' },
    body: {
      ip: '203.0.113.77',
      action: 'ban',
      alert_scope: 'host',
      attack_details: {
        attack_uuid: sourceEventId,
        attack_severity: 'high',
        host_network: web.cidr,
        attack_detection_threshold_direction: 'incoming',
        total_incoming_traffic: 1_187_500_000,
        total_incoming_pps: 812_345,
      },
    },
    response: { delivery_id: '7d0f3b1e-52c8-4a96-b1d4-90e3a7c65f28' },
  }),
]
