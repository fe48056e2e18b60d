// Records the examples of events, incidents, deliveries of detectors and the search: an amplification attack on a host of the team, reported by two
// detectors and dropped by a rule, and the delivery of a third detector that cannot be read.
import { eventId, web } from '@pharos/contract/examples/world'
import { getDeliveryRoute, listDeliveriesRoute, listSourcesRoute } from '@pharos/contract/events/delivery'
import {
  getRelatedEventRoute,
  getRelatedTimeseriesRoute,
  ingestDeliveryRoute,
  listEventsRoute,
  listRelatedEventsRoute,
  reviewEventRoute,
} from '@pharos/contract/events/event'
import { addEventAttachmentRoute, listEventAttachmentsRoute } from '@pharos/contract/events/event-attachment'
import { getEventTrafficRoute } from '@pharos/contract/events/event-traffic'
import { getFilterKeysRoute } from '@pharos/contract/events/filter-key'
import {
  getIncidentRoute,
  getIncidentTimeseriesRoute,
  listIncidentsRoute,
  listStaffIncidentsRoute,
} from '@pharos/contract/events/incident'
import { searchRoute } from '@pharos/contract/search'
import { updateShieldRulesRoute } from '@pharos/contract/shield/shield'
import { getTimezoneRoute } from '@pharos/contract/timezone'
import { seedChecks } from '../../../src/byoip/announcement/testing.ts'
import { writeCapture } from '../../../src/events/attachment/capture.ts'
import { ethernet, ipv4Packet } from '../../../src/events/attachment/testing.ts'
import { insertFlows } from '../../../src/flow/testing.ts'
import { markMitigations } from '../../../src/shield/mark-mitigations.ts'
import {
  addNetwork,
  allowed,
  atWithFlows,
  ban,
  createFlows,
  createReconcile,
  deliver,
  denied,
  flowReports,
  host,
  ingest,
  requestOf,
  sentAs,
  sourceEventId,
  unban,
} from './attack.ts'
import type { Recorder } from './recorder.ts'

const denialId = 902
const inEvent = { params: { event_id: eventId } }
const inAttack = { params: { source_key: 'fastnetmon', source_event_id: sourceEventId } }
const attackDay = { start: '2026-04-01T00:00:00Z' }
const twoDays = { start: '2026-03-30T22:00:00Z', end: '2026-04-01T22:00:00Z', interval: 86_400 }

const bgpAlert = {
  time: '2026-03-31T21:47:15.062Z',
  sourceKey: 'sightline',
  deliveryId: '9b54c0d2-1f7e-4b83-a6d9-3c20e8f71a65',
  body: { data: { id: '87', attributes: { alert_class: 'bgp', ongoing: false } } },
}
/** The notification was not configured for JSON. */
const unreadable = {
  time: '2026-04-01T08:03:02.771Z',
  sourceKey: 'sightline',
  deliveryId: '29f4c1b7-8e0d-4a5c-93c6-1d7be2a4f083',
  contentType: 'text/plain',
  body: `Host Detection alert #88, start 2026-04-01 08:02:58 UTC, host ${host}`,
}

export async function recordEvents(recorder: Recorder): Promise<void> {
  await addNetwork(recorder)
  await insertFlows(recorder.api.shared.flowStore, createFlows())
  await deliver(recorder, bgpAlert)
  await recordReport(recorder)
  await recordMitigation(recorder)
  await deliver(recorder, unban, ...flowReports.slice(1))
  await recordEvent(recorder)
  await deliver(recorder, unreadable)
  await recordLists(recorder)
  await recordForStaff(recorder)
}

async function recordReport(recorder: Recorder): Promise<void> {
  const { at, call, record, nextId } = recorder
  await nextId('deliveries', 66_120)
  await at(ban.time)
  await record(ingestDeliveryRoute, { params: { source_key: ban.sourceKey }, body: ban.body }, requestOf(ban))
  await ingest(recorder)
  await deliver(recorder, ...flowReports.slice(0, 1))
  await nextId('attachments', 918)
  await at('2026-04-01T03:12:31.004Z')
  await call(
    addEventAttachmentRoute,
    { ...inAttack, body: createCapture() },
    sentAs({ 'x-filename': 'attack.pcap', 'content-type': 'application/vnd.tcpdump.pcap' }),
  )
  await record(
    addEventAttachmentRoute,
    { ...inAttack, body: { packets: 'The body is the file itself, such as a capture.' } },
    sentAs({ 'x-filename': 'attack.json' }),
  )
}

function createCapture(): Buffer {
  const startNs = BigInt(Date.parse(ban.time)) * 1_000_000n
  const packets = Array.from({ length: 40 }, (_, at) => {
    const bytes = ethernet(ipv4Packet(`198.51.100.${100 + at}`, host))
    return { at: startNs + BigInt(at) * 1_260_000n, length: 1494, bytes }
  })
  return writeCapture({ linkType: 1, packets })
}

/** The team drops the attack with a rule; the scrubber counts what it drops. */
async function recordMitigation(recorder: Recorder): Promise<void> {
  const { at, call, record, nextId } = recorder
  const reconcile = createReconcile(recorder)
  await nextId('shield_rules', denialId - 1)
  await at('2026-04-01T03:16:02.204Z')
  await call(updateShieldRulesRoute, {
    body: { prefix: web.cidr, rules: [allowed, denied] },
  })
  await reconcile('2026-04-01T03:16:02.390Z')
  for (const time of ['2026-04-01T03:17:02.390Z', '2026-04-01T03:18:02.390Z'])
    await reconcile(time, { [denialId]: { packets: 48_700_000, bytes: 71_100_000_000 } })
  await markMitigations(recorder.owner)

  await atWithFlows(recorder, '2026-04-01T03:18:10.000Z')
  await record(getEventTrafficRoute, {
    ...inEvent,
    query: { start: '2026-04-01T03:15:00Z', end: '2026-04-01T03:18:00Z', interval: 60 },
  })
  await record(getFilterKeysRoute, {
    query: { dataset: ['flows'], key: 'service_port', prefix: '44', limit: 100 },
  })
}

/** An hour after its end, rules no longer concern the event. */
async function recordEvent({ owner, at, record }: Recorder): Promise<void> {
  await at('2026-04-01T04:32:02.118Z')
  await markMitigations(owner)
  await at('2026-04-01T06:02:11.402Z')
  await record(listEventAttachmentsRoute, { ...inEvent, query: { kind: ['pcap'], limit: 100 } })
  await record(getRelatedEventRoute, { ...inEvent, query: { include: 'marks' } })
  await record(reviewEventRoute, {
    ...inEvent,
    query: { include: 'review' },
    body: {
      verdict: 'attack',
      acknowledged: true,
      comment: 'Attack on the game server, ticket 4711.',
    },
  })
}

async function recordLists({ api, at, record }: Recorder): Promise<void> {
  await at('2026-04-01T08:10:00.000Z')
  await record(listEventsRoute, {
    query: {
      status: ['EVENT_ENDED'],
      source_key: ['fastnetmon'],
      classification_key: ['udp.amplification.dns'],
      min_bps: 1_000_000_000,
      ordering: '-event__start',
      limit: 100,
    },
  })
  await record(listRelatedEventsRoute, {
    query: {
      ...attackDay,
      flag: ['INCOMING'],
      end: '2026-04-02T00:00:00Z',
      affected_network: web.cidr,
      ordering: '-event__affected_bps',
      limit: 100,
    },
  })
  await record(getRelatedTimeseriesRoute, {
    query: { ...twoDays, timezone: 'Europe/Amsterdam', group_by: 'peak_bps' },
  })
  await record(listIncidentsRoute, {
    query: { ...attackDay, ongoing: false, ordering: '-affected_bps', limit: 100 },
  })
  await record(getIncidentRoute, { params: { incident_id: eventId } })
  await record(getIncidentTimeseriesRoute, { query: twoDays })
  await record(getTimezoneRoute, { query: { location: 'SYD' } })
  await seedChecks(api.database.postgres, ['ams', 'fra'])
  await record(searchRoute, { query: { q: host } })
}

async function recordForStaff({ record }: Recorder): Promise<void> {
  await record(listStaffIncidentsRoute, {
    query: { ...attackDay, ongoing: false, ordering: '-affected_bps', limit: 100 },
  })
  await record(listDeliveriesRoute, {
    query: { ...attackDay, source_key: ['fastnetmon', 'sightline'], ordering: '-received', limit: 100 },
  })
  await record(getDeliveryRoute, { params: { delivery_id: unreadable.deliveryId } })
  await record(listSourcesRoute, { query: { ordering: 'key', limit: 100 } })
}
