// Records the examples of shield: an amplification attack on a host of the team, rules against it, and a black hole.
import { eventId, sourceEventId, team, web } from '@pharos/contract/examples/world'
import { updatePtrRecordsRoute } from '@pharos/contract/dns/ptr'
import {
  createBlackholeRoute,
  deleteBlackholeRoute,
  getBlackholeRoute,
  listBlackholesRoute,
} from '@pharos/contract/shield/blackhole'
import {
  listShieldListsRoute,
  listShieldRulesRoute,
  revertShieldListRoute,
  simulateShieldRoute,
  updateShieldRulesRoute,
  type NewShieldRule,
} from '@pharos/contract/shield/shield'
import { suggestShieldRulesRoute } from '@pharos/contract/shield/suggestion'
import { sql } from 'kysely'
import { seedAnnouncement } from '../../../src/byoip/announcement/testing.ts'
import { SandboxScrubber } from '../../../src/drivers/sandbox-scrubber/scrubber.ts'
import { addSource } from '../../../src/events/testing.ts'
import { saveFlowDelay } from '../../../src/flow/flow-delay.ts'
import { insertFlows, testFlow, type TestFlow } from '../../../src/flow/testing.ts'
import { refreshStates } from '../../../src/shield/expire-lists.ts'
import { reconcileScrubber } from '../../../src/shield/reconcile.ts'
import type { RuleHits, RuleId } from '../../../src/shield/scrubber.ts'
import { addRegions } from './byoip.ts'
import type { Recorder } from './recorder.ts'

const host = '203.0.113.77'
const listId = 71
const blackholeIn = { params: { blackhole_id: 12 } }
const resolver = '192.0.2.53'
const attackStart = '2026-04-01T03:12:09.120Z'
const hourMs = 3_600_000

const allowed: NewShieldRule = {
  action: 'allow',
  protocol: 'udp',
  source: resolver,
  source_port: '53',
  comment: 'Our resolver',
}
const denied: NewShieldRule = {
  action: 'deny',
  protocol: 'udp',
  source_port: '53,123',
  destination: host,
  comment: 'Amplification',
  expires: '2026-04-02T04:00:00Z',
}

/** The traffic of two hosts and the attack on one of them, as a router with a sampling rate of 1 in 1,024 exports it. */
function createFlows(): TestFlow[] {
  const flow = (time: number, fields: Partial<TestFlow>) =>
    testFlow({ teamId: team.id, time: new Date(time), dst: host, samplingRate: 1024, ...fields })
  const sourceOf = (at: number) => `${at % 2 === 0 ? '198.51.100' : '192.0.2'}.${100 + (at % 90)}`
  const startMs = Date.parse(attackStart)
  const usual = Array.from({ length: 8 }, (_, day) => startMs - hourMs - day * 24 * hourMs).flatMap((from) =>
    Array.from({ length: 480 }, (_, at) => {
      const time = from + at * 11_000
      const dst = at % 3 === 0 ? '203.0.113.80' : host
      return [
        flow(time, { src: sourceOf(at), dst, protocol: 6, tcpFlags: 24, bytes: 96_000, packets: 90 }),
        ...(at % 8 === 0 ? [flow(time, { src: resolver, srcPort: 53, bytes: 620, packets: 4 })] : []),
      ]
    }).flat(),
  )
  const attack = Array.from({ length: 900 }, (_, at) =>
    flow(startMs + 880 + at * 600, {
      src: sourceOf(at),
      dstPort: 1024 + at,
      ...(at % 12 === 0
        ? { srcPort: 123, bytes: 93_600, packets: 200 }
        : { srcPort: 53, bytes: 290_000 + (at % 7) * 1500, packets: 205 }),
    }),
  )
  return [...usual, ...attack]
}

async function addAttack({ owner }: Recorder): Promise<void> {
  await addSource(owner, 'fastnetmon')
  const facet = await sql<{ id: number }>`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key)
    values (${team.id}, 0, 0, 'udp.amplification.dns', 'fastnetmon') returning id`.execute(owner)
  const details = JSON.stringify({ protocols: ['udp'], source_ports: [{ port: 53 }, { port: 123 }] })
  await sql`
    insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at, end_at,
      source_resource_id, source_location_id, source_country, source_location, classification_key, description, affected_bps,
      affected_pps, parsed_data)
    values (${eventId}, 'fastnetmon', ${sourceEventId}, '{INCOMING}', '{EVENT_ONGOING}', ${host}::cidr, 'UTC', ${attackStart}, null, '', '',
      '', '', 'udp.amplification.dns', '', 4100000000, 350112, ${details}::jsonb)`.execute(owner)
  await sql`
    insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
      classification_key, description, record, relationships, facet)
    values (${team.id}, ${eventId}, ${attackStart}, null, 4100000000, 350112, 0, ${host}::cidr, 'udp.amplification.dns', '', '{', '[]',
      ${facet.rows[0]!.id})`.execute(owner)
}

async function addNetwork(recorder: Recorder): Promise<void> {
  const { api, owner, nextId, at, call } = recorder
  await addRegions(recorder)
  await at('2026-03-02T09:12:39.871Z')
  await sql`insert into prefixes (team_id, prefix) values (${team.id}, ${web.cidr}::cidr)`.execute(owner)
  await nextId('announcements', web.id)
  const { rows } = await sql<{ id: number }>`select id from regions order by id`.execute(owner)
  await seedAnnouncement(api.database.postgres, {
    teamId: team.id,
    prefix: web.cidr,
    enabled: true,
    regions: rows.map(({ id }) => id),
  })
  await sql`update announcement_regions set state = 'announced'`.execute(owner)
  await sql`insert into scrubbers (name, driver) values ('scrubber1.ams', '{"kind":"sandbox"}')`.execute(
    owner,
  )
  await call(updatePtrRecordsRoute, { body: { records: [{ ip: host, ptrdname: 'play.lindholm.example.' }] } })
}

/** Sets the clock. The collector has stored all flows up to a second ago. */
async function atWithFlows({ at, owner }: Recorder, time: string): Promise<void> {
  await at(time)
  await saveFlowDelay(owner, 'collector1', { waitingMs: Date.parse(time) - 1000, lost: [] })
}

/** Returns one run of the scrubber's loop, which reads these counters. */
function createReconcile({ owner, at }: Recorder) {
  let counters: ReadonlyMap<RuleId, RuleHits> = new Map()
  const scrubber = new SandboxScrubber({
    name: 'scrubber1.ams',
    rulesMax: 1000,
    latencyMs: 0,
    estimateHits: async () => counters,
  })
  return async (time: string, counted: Readonly<Record<number, RuleHits>> = {}): Promise<void> => {
    await at(time)
    counters = new Map(Object.entries(counted).map(([id, hits]) => [Number(id), hits]))
    await reconcileScrubber(
      { db: owner, elapsedMs: () => performance.now() },
      { epoch: 0, fence: (db, work) => db.transaction().execute(work) },
      { name: 'scrubber1.ams', prefixes: [], scrubber },
    )
    await refreshStates(owner)
  }
}

export async function recordShield(recorder: Recorder): Promise<void> {
  const { api, record, call, at, nextId } = recorder
  const reconcile = createReconcile(recorder)
  await addNetwork(recorder)
  await nextId('shield_lists', listId)
  await nextId('shield_rules', 901)
  await at('2026-03-02T09:14:07.318Z')
  await call(updateShieldRulesRoute, { body: { prefix: web.cidr, rules: [allowed] } })
  await reconcile('2026-03-02T09:14:07.502Z')
  await insertFlows(api.shared.flowStore, createFlows())
  await addAttack(recorder)

  await atWithFlows(recorder, '2026-04-01T03:16:02.204Z')
  await record(suggestShieldRulesRoute, { params: { event_id: eventId }, body: { action: 'deny' } })
  await atWithFlows(recorder, '2026-04-01T03:17:31.010Z')
  const rules = [allowed, denied]
  await record(simulateShieldRoute, {
    body: { prefix: web.cidr, rules, start: '2026-04-01T02:17:31Z', end: '2026-04-01T03:17:31Z' },
  })
  await atWithFlows(recorder, '2026-04-01T03:18:31.204Z')
  await nextId('shield_rules', 914)
  await record(updateShieldRulesRoute, {
    body: { prefix: web.cidr, rules, version: 1, confirm_within: 600 },
  })
  await reconcile('2026-04-01T03:18:31.390Z')
  await reconcile('2026-04-01T03:19:44.190Z', {
    901: { packets: 310_442, bytes: 46_566_300 },
    914: { packets: 24_811_730, bytes: 34_984_539_300 },
  })
  await at('2026-04-01T03:19:50.000Z')
  await record(listShieldRulesRoute, { query: { prefix: [web.cidr], include: 'hits' } })
  await record(listShieldListsRoute, { query: { prefix: [host] } })

  await recordBlackholes(recorder)

  await at('2026-04-01T03:27:12.641Z')
  await record(revertShieldListRoute, { params: { list_id: listId }, body: { version: 2 } })
}

async function recordBlackholes(recorder: Recorder): Promise<void> {
  const { record, at, nextId, owner } = recorder
  await nextId('blackholes', blackholeIn.params.blackhole_id)
  await atWithFlows(recorder, '2026-04-01T03:20:12.083Z')
  await record(createBlackholeRoute, {
    body: { host, expires: '2026-04-01T04:20:12.083Z', comment: 'Ticket 4711' },
  })
  await at('2026-04-01T03:20:12.391Z')
  await sql`update blackhole_regions set state = 'announced', since = now(), settled = now()`.execute(owner)
  await at('2026-04-01T03:21:00.000Z')
  await record(listBlackholesRoute, { query: { ongoing: true } })
  await record(getBlackholeRoute, blackholeIn)
  await at('2026-04-01T03:24:03.550Z')
  await record(deleteBlackholeRoute, blackholeIn)
}
