// The attack of the examples: the team's network in two regions, the flows of an amplification attack on one of its hosts, the detectors that
// report it, and the scrubber in front of it.
import { team, web } from '@pharos/contract/examples/world'
import { updatePtrRecordsRoute } from '@pharos/contract/dns/ptr'
import { ingestDeliveryRoute } from '@pharos/contract/events/event'
import type { NewShieldRule } from '@pharos/contract/shield/shield'
import { sql } from 'kysely'
import { seedAnnouncement } from '../../../src/byoip/announcement/testing.ts'
import type { Detection } from '../../../src/collector/detector/detection.ts'
import { encodeNativeBlock } from '../../../src/drivers/clickhouse/native-block.ts'
import { SandboxScrubber } from '../../../src/drivers/sandbox-scrubber/scrubber.ts'
import { sourceSecretMac } from '../../../src/events/ingest/delivery.ts'
import { ingestDeliveries } from '../../../src/events/ingest/ingest.ts'
import { saveFlowDelay } from '../../../src/flow/flow-delay.ts'
import { testFlow, type TestFlow } from '../../../src/flow/testing.ts'
import { createOwnershipCache } from '../../../src/inventory/holding/ownership.ts'
import { refreshStates } from '../../../src/shield/expire-lists.ts'
import { reconcileScrubber } from '../../../src/shield/reconcile.ts'
import { HitsRecorder } from '../../../src/shield/record-hits.ts'
import type { RuleHits, RuleId } from '../../../src/shield/scrubber.ts'
import { addRegions } from './byoip.ts'
import { recordingKeys, type Recorder, type Request } from './recorder.ts'

export const host = '203.0.113.77'
const resolver = '192.0.2.53'
const attackStart = '2026-04-01T03:12:09.120Z'
const attackEnd = '2026-04-01T03:31:44.870Z'
const detectorSecret = 'the secret of the detectors'
const hourMs = 3_600_000

/** The detector's id of the attack. */
export const sourceEventId = '0b8a4c52-6f0e-4d1b-9a57-1f2c3d4e5f60'

type Delivery = {
  readonly time: string
  readonly sourceKey: string
  readonly deliveryId: string
  readonly body: unknown
  readonly contentType?: string
}

const fastnetmonAttack = {
  ip: host,
  alert_scope: 'host',
  attack_details: {
    attack_uuid: sourceEventId,
    attack_severity: 'high',
    host_network: web.cidr,
    attack_detection_threshold: 'mbits',
    attack_detection_threshold_direction: 'incoming',
    total_incoming_traffic: 1_187_500_000,
    total_incoming_pps: 812_345,
    incoming_udp_traffic: 1_180_000_000,
    incoming_udp_pps: 805_000,
  },
}

/** FastNetMon reports the attack. */
export const ban: Delivery = {
  time: attackStart,
  sourceKey: 'fastnetmon',
  deliveryId: '7d0f3b1e-52c8-4a96-b1d4-90e3a7c65f28',
  body: {
    action: 'ban',
    ...fastnetmonAttack,
    packet_dump_detailed: [
      {
        ip_version: 'ipv4',
        source_ip: '198.51.100.153',
        destination_ip: host,
        source_port: 53,
        destination_port: 30_010,
        protocol: 'udp',
        packets: 1,
        length: 1480,
        sample_ratio: 1024,
      },
    ],
  },
}

export const unban: Delivery = {
  time: attackEnd,
  sourceKey: 'fastnetmon',
  deliveryId: 'c15e90b7-3f4a-4f0d-8e2c-6a7b1d9350e4',
  body: { action: 'unban', ...fastnetmonAttack },
}

const detected = {
  id: `${host}/32|2026-04-01T03:12:10.000Z`,
  network: `${host}/32`,
  direction: 'incoming',
  classification: 'udp.amplification.dns',
  description: `Incoming UDP amplification (DNS) on ${host}`,
  start: '2026-04-01T03:12:10.000Z',
  peak_bps: 9_488_000_000,
  peak_pps: 811_200,
  peak_lower_bps: 9_120_000_000,
  peak_lower_pps: 779_700,
  samples: 8_150,
  share: 0.99,
  threshold_bps: 1_000_000_000,
  protocols: ['udp'],
  vectors: [{ classification: 'udp.amplification.dns', bps: 9_488_000_000, pps: 811_200 }],
} satisfies Partial<Detection>

/** The detector of Pharos reports the same attack from flows. */
export const flowReports: readonly Delivery[] = [
  {
    ...detected,
    status: 'ongoing' as const,
    observed: '2026-04-01T03:12:30.000Z',
    bps: 9_488_000_000,
    pps: 811_200,
    lower_bps: 9_120_000_000,
    lower_pps: 779_700,
    total_bytes: 23_720_000_000,
    total_packets: 16_224_000,
  },
  {
    ...detected,
    status: 'ended' as const,
    end: '2026-04-01T03:31:50.000Z',
    observed: '2026-04-01T03:32:50.000Z',
    bps: 0,
    pps: 0,
    lower_bps: 0,
    lower_pps: 0,
    total_bytes: 1_395_300_000_000,
    total_packets: 954_400_000,
  },
].map((body: Detection) => ({
  time: body.observed,
  sourceKey: 'flows',
  deliveryId: `${body.id} ${body.observed} ${body.status}`,
  body,
}))

/** The rules of the team against the attack. */
export const allowed: NewShieldRule = {
  action: 'allow',
  protocol: 'udp',
  source: resolver,
  source_port: '53',
  comment: 'Our resolver',
}
export const denied: NewShieldRule = {
  action: 'deny',
  protocol: 'udp',
  source_port: '53,123',
  destination: host,
  comment: 'Amplification',
  expires: '2026-04-02T04:00:00Z',
}

/** The headers of a detector's request. */
export const sentAs = (headers: Readonly<Record<string, string>>): Request => ({
  headers: { authorization: `Token ${detectorSecret}`, ...headers },
})

/** Without a type, the body is JSON. */
export const requestOf = ({ deliveryId, contentType }: Delivery): Request =>
  sentAs({ 'idempotency-key': deliveryId, ...(contentType && { 'content-type': contentType }) })

/** Receives deliveries at their times and processes each, as the loop of the collector does. */
export async function deliver(recorder: Recorder, ...deliveries: readonly Delivery[]): Promise<void> {
  for (const delivery of deliveries) {
    const { time, sourceKey, body } = delivery
    await recorder.at(time)
    await recorder.call(ingestDeliveryRoute, { params: { source_key: sourceKey }, body }, requestOf(delivery))
    await ingest(recorder)
  }
}

export const ingest = ({ api }: Recorder) => ingestDeliveries(api.database.postgres, createOwnershipCache())

/** The traffic of two hosts and the attack on one of them, as a router with a sampling rate of 1 in 1,024 exports it. */
export function createFlows(): TestFlow[] {
  const flow = (time: number, fields: Partial<TestFlow>) =>
    testFlow({ teamId: team.id, time: new Date(time), dst: host, samplingRate: 1024, ...fields })
  const sourceOf = (at: number) =>
    at % 3 === 0
      ? { src: `192.0.2.${100 + (at % 90)}`, srcAs: 64_511 }
      : { src: `198.51.100.${100 + (at % 90)}`, srcAs: 64_508 }
  const startMs = Date.parse(attackStart)
  const usual = Array.from({ length: 8 }, (_, day) => startMs - hourMs - day * 24 * hourMs).flatMap((from) =>
    Array.from({ length: 480 }, (_, at) => {
      const time = from + at * 11_000
      const dst = at % 3 === 0 ? '203.0.113.80' : host
      return [
        flow(time, { ...sourceOf(at), dst, protocol: 6, tcpFlags: 24, bytes: 96_000, packets: 90 }),
        ...(at % 8 === 0
          ? [flow(time, { src: resolver, srcPort: 53, srcAs: 64_511, bytes: 620, packets: 4 })]
          : []),
      ]
    }).flat(),
  )
  const count = Math.floor((Date.parse(attackEnd) - startMs) / 600)
  const attack = Array.from({ length: count }, (_, at) =>
    flow(startMs + 880 + at * 600, {
      ...sourceOf(at),
      dstPort: 1024 + at,
      ...(at % 12 === 0
        ? { srcPort: 123, bytes: 46_800, packets: 100 }
        : { srcPort: 53, bytes: 750_000 + (at % 7) * 1600, packets: 510 }),
    }),
  )
  return [...usual, ...attack]
}

/** The team announces its network. The provider has three detectors and a scrubber. */
export async function addNetwork(recorder: Recorder): Promise<void> {
  const { api, owner, nextId, at, call } = recorder
  await addRegions(recorder)
  await at('2026-03-02T09:12:39.871Z')
  await nextId('prefixes', 311)
  await sql`insert into prefixes (team_id, prefix, location_key) values (${team.id}, ${web.cidr}::cidr, 'ams')`.execute(
    owner,
  )
  await nextId('announcements', web.id)
  const { rows } = await sql<{ id: number }>`select id from regions order by id`.execute(owner)
  await seedAnnouncement(api.database.postgres, {
    teamId: team.id,
    prefix: web.cidr,
    enabled: true,
    regions: rows.map(({ id }) => id),
  })
  await sql`update announcement_regions set state = 'announced'`.execute(owner)
  await sql`update announcements set status = 'announced'`.execute(owner)
  await sql`insert into scrubbers (name, driver) values ('scrubber1.ams', '{"kind":"sandbox"}')`.execute(
    owner,
  )
  await sql`
    insert into sources (key, kind, name, settings, secret_mac)
    select key, key, name, settings::jsonb, ${sourceSecretMac(recordingKeys, detectorSecret)}
    from (values ('fastnetmon', 'FastNetMon Amsterdam', '{"location":"ams"}'),
      ('flows', 'Pharos, from flows', '{"bps":1000000000}'), ('sightline', 'Arbor Sightline', '{}')) s (key, name, settings)`.execute(
    owner,
  )
  await call(updatePtrRecordsRoute, { body: { records: [{ ip: host, ptrdname: 'play.lindholm.example.' }] } })
}

/** Sets the clock. The collector has stored all flows up to a second ago. */
export async function atWithFlows({ at, owner }: Recorder, time: string): Promise<void> {
  await at(time)
  await saveFlowDelay(owner, 'collector1', { waitingMs: Date.parse(time) - 1000, lost: [] })
}

/** Returns one run of the scrubber's loop, which reads these counters. */
export function createReconcile({ api, owner, at }: Recorder) {
  let counters: ReadonlyMap<RuleId, RuleHits> = new Map()
  const name = 'scrubber1.ams'
  const scrubber = new SandboxScrubber({
    name,
    rulesMax: 1000,
    latencyMs: 0,
    estimateHits: async () => counters,
  })
  const hits = new HitsRecorder({
    scrubber: name,
    flowStore: api.shared.flowStore,
    encode: encodeNativeBlock,
    report(error) {
      throw error
    },
    now: () => Date.now(),
  })
  return async (time: string, counted: Readonly<Record<number, RuleHits>> = {}): Promise<void> => {
    await at(time)
    counters = new Map(Object.entries(counted).map(([id, hits]) => [Number(id), hits]))
    await reconcileScrubber(
      { db: owner, elapsedMs: () => performance.now(), recordHits: (counts) => hits.record(counts) },
      { epoch: 0, fence: (db, work) => db.transaction().execute(work) },
      { name, prefixes: [], scrubber },
    )
    await refreshStates(owner)
  }
}
