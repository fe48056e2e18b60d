import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import type { Db } from '../../db/postgres.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { eventIdOf } from '../event/event.ts'
import { saveFacets } from '../relate/facet.store.ts'
import { ingestBatch, ingestDeliveries } from './ingest.ts'
import { listTeamEvents } from '../list/list-events.ts'
import { replayDeliveries } from './replay.ts'
import { rematch } from '../relate/rematch.ts'
import { fixture } from '../sources/fixtures.ts'
import { noTeam } from '../relate/team-event.store.ts'
import {
  addAnnouncement,
  addAsn,
  addLocation,
  addPrefix,
  addSource,
  addTeam,
  compareCounts,
  deliver,
  removeEvents,
} from '../testing.ts'

const from = new Date('2026-03-01T10:00:00Z')
const uuid = '0b8a4c52-6f0e-4d1b-9a57-1f2c3d4e5f60'

let database: TestDatabase
let db: Db
let cache = createOwnershipCache()

before(async () => {
  database = await createTestDatabase()
  db = database.postgres.owner
})
after(() => database[Symbol.asyncDispose]())

/** Each test starts with empty tables. */
beforeEach(async () => {
  await removeEvents(db)
  cache = createOwnershipCache()
  await addLocation(db, 'ams', 'Amsterdam', 'NL')
  await addSource(db, 'fnm', { settings: { location: 'ams' } })
})

const ingest = () => ingestDeliveries(database.postgres, cache)
const ban = (ip: string, id = `uuid ${ip}`) => {
  const body = fixture('fastnetmon-ban')
  return { ...body, ip, attack_details: { ...(body.attack_details as object), attack_uuid: id } }
}

type Element = Record<string, unknown> & { relationships: Record<string, unknown>[] }

async function elementsOf(teamId: number): Promise<Element[]> {
  const rows = await db
    .selectFrom('team_events')
    .select(['record', 'relationships'])
    .where('team_id', '=', teamId)
    .orderBy('event_id')
    .execute()
  return rows.map((row) => JSON.parse(`${row.record},"relationships":${row.relationships}}`) as Element)
}

const reasons = (element: Element | undefined) =>
  element?.relationships.map((r) => [r.match_resource, r.match_type, r.match_value])

async function deliveryStates(): Promise<unknown[]> {
  const rows = await db.selectFrom('deliveries').select(['state', 'error']).orderBy('id').execute()
  return rows.map(({ state, error }) => (error === null ? state : [state, error]))
}

describe('ingest', () => {
  test('merges all deliveries of an attack into one event, and shows it to the team that holds the address', async () => {
    const team = await addTeam(db, 'a')
    const other = await addTeam(db, 'b')
    const prefix = await addPrefix(db, team, '203.0.113.0/24', 'web', 'ams')
    await addPrefix(db, other, '198.51.100.0/24')
    const actions = ['ban', 'partial-block', 'attack-status', 'partial-unblock', 'unban']
    await deliver(
      db,
      'fnm',
      actions.map((action) => fixture(`fastnetmon-${action}`)),
      from,
    )
    assert.deepEqual(await ingest(), { done: 5, partial: 0, failed: 0, events: 1 })
    assert.deepEqual(await elementsOf(other), [])
    assert.deepEqual(await elementsOf(team), [
      {
        id: eventIdOf('fnm', uuid),
        flags: ['INCOMING'],
        status: ['EVENT_ENDED', 'MITIGATION_ENDED'],
        affected_network: '203.0.113.77/32',
        source_timezone: 'Europe/Amsterdam',
        start: '2026-03-01T10:00:00.000Z',
        end: '2026-03-01T10:04:00.000Z',
        source_key: 'fnm',
        source_event_id: uuid,
        source_resource_id: 'customers',
        source_location_id: 'ams',
        source_country: 'NL',
        source_location: 'Amsterdam',
        target_country: 'NL',
        target_location: 'Amsterdam',
        classification_key: 'udp.amplification.dns',
        description: 'Incoming UDP amplification (DNS) on 203.0.113.77',
        affected_bps: 9_500_000_000,
        affected_pps: 812_345,
        relationships: [
          {
            id: 1,
            match_resouce_name: 'web',
            match_resource_link: `/v3/inventory/prefixes/${prefix}`,
            match_resource: 'prefix',
            match_type: 'covers',
            match_value: '203.0.113.0/24',
          },
        ],
      },
    ])
    assert.deepEqual(await deliveryStates(), Array(5).fill('done'))
  })

  test('relates an event to everything that covers it, of every team, most specific first', async () => {
    const provider = await addTeam(db, 'provider')
    const customer = await addTeam(db, 'customer')
    await addPrefix(db, provider, '203.0.0.0/16')
    await addPrefix(db, provider, '203.0.113.0/24')
    await addAnnouncement(db, customer, '203.0.113.0/24', 64_500)
    await addPrefix(db, customer, '203.0.113.77/32')
    await addAsn(db, customer, 64_500, 'Customer')
    await addAsn(db, provider, 64_500, 'not an origin of any announcement of its own')
    await deliver(db, 'fnm', [ban('203.0.113.77')])
    await ingest()
    assert.deepEqual(reasons((await elementsOf(provider))[0]), [
      ['prefix', 'covers', '203.0.113.0/24'],
      ['prefix', 'covers', '203.0.0.0/16'],
    ])
    assert.deepEqual(reasons((await elementsOf(customer))[0]), [
      ['prefix', 'exact', '203.0.113.77/32'],
      ['announcement', 'covers', '203.0.113.0/24'],
      ['asn', 'origin_asn', '64500'],
    ])
  })

  test('relates an attack on a hostgroup to every team that holds a part of any of its networks', async () => {
    const [a, b, c] = [await addTeam(db, 'a'), await addTeam(db, 'b'), await addTeam(db, 'c')]
    await addPrefix(db, a, '203.0.113.64/26')
    await addPrefix(db, b, '198.51.100.0/24')
    await addPrefix(db, c, '198.51.100.0/25')
    await deliver(db, 'fnm', [fixture('fastnetmon-hostgroup-ban')])
    await ingest()
    assert.deepEqual(reasons((await elementsOf(a))[0]), [['prefix', 'covered_by', '203.0.113.64/26']])
    assert.deepEqual(reasons((await elementsOf(b))[0]), [['prefix', 'covers', '198.51.100.0/24']])
    assert.deepEqual(await elementsOf(c), [])
  })

  test('repeated deliveries change nothing, and relationships keep their ids', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    await deliver(db, 'fnm', [ban('203.0.113.77')], from)
    await ingest()
    const updated = () =>
      db
        .selectFrom('events')
        .select(['updated', sql`xmin::text`.as('xmin')])
        .execute()
    const [elements, row] = [await elementsOf(team), await updated()]
    await deliver(db, 'fnm', [ban('203.0.113.77')], from)
    await deliver(db, 'fnm', [ban('203.0.113.77')], from)
    assert.deepEqual(await ingest(), { done: 2, partial: 0, failed: 0, events: 0 })
    assert.deepEqual([await elementsOf(team), await updated()], [elements, row])
    // A later repetition only adds a sample to the timeline.
    await deliver(db, 'fnm', [ban('203.0.113.77')], new Date(from.getTime() + 60_000))
    assert.deepEqual(await ingest(), { done: 1, partial: 0, failed: 0, events: 1 })
    assert.deepEqual(await elementsOf(team), elements)
    await deliver(db, 'fnm', [{ ...ban('203.0.113.77'), action: 'unban' }], new Date('2026-03-01T11:00:00Z'))
    await ingest()
    const [after] = await elementsOf(team)
    assert.deepEqual(after?.status, ['EVENT_ENDED'])
    assert.deepEqual(after?.relationships, elements[0]?.relationships)
  })

  test('keeps unreadable deliveries with the reason, and processes the rest', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    await addSource(db, 'odd', { kind: 'arbor' })
    await addSource(db, 'wrong', { settings: { baan: 1 } })
    await deliver(db, 'fnm', [
      Buffer.from('<xml/>'),
      ban('203.0.113.1'),
      Buffer.from([0xff]),
      {},
      ban('203.0.113.2'),
    ])
    await deliver(db, 'odd', [{}])
    await deliver(db, 'wrong', [{}])
    assert.deepEqual(await ingest(), { done: 2, partial: 0, failed: 5, events: 2 })
    const states = await deliveryStates()
    assert.match(String(states[0]), /^failed,the delivery is not JSON: Unexpected token/)
    assert.deepEqual(states.slice(1), [
      'done',
      ['failed', 'the delivery is not UTF-8 text'],
      ['failed', '/attack_details: an object is expected, not undefined'],
      'done',
      ['failed', 'no detector of the kind arbor is supported'],
      [
        'failed',
        'the settings of the source are not valid: settings.baan: is unknown; known are ban, location, timezone, country',
      ],
    ])
    assert.equal((await elementsOf(team)).length, 2)
  })

  test('stores with each delivery its notes and its events; a bad alert of a batch does not lose the others', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    await addSource(db, 'am', { kind: 'alertmanager' })
    const { alerts, ...envelope } = fixture('alertmanager-firing') as { alerts: object[] }
    const batch = { ...envelope, alerts: [{ status: 'firing' }, { ...alerts[0], status: 'strange' }] }
    await deliver(db, 'am', [batch, { ...envelope, alerts: [] }], from)
    assert.deepEqual(await ingest(), { done: 1, partial: 1, failed: 0, events: 1 })
    const id = eventIdOf('am', '1a30ba71cca2921f|2026-03-01T10:00:00.123Z')
    const rows = await db
      .selectFrom('deliveries')
      .select(['state', 'error', 'event_count', 'event_ids', 'notes'])
      .orderBy('id')
      .execute()
    assert.deepEqual(rows, [
      {
        state: 'partial',
        error: '/alerts/0/fingerprint: a string is expected, not undefined',
        event_count: 1,
        event_ids: [id],
        notes: [
          {
            severity: 'error',
            code: 'type',
            place: '/alerts/0/fingerprint',
            attrs: { expected: 'a string', found: 'undefined' },
          },
          {
            severity: 'warning',
            code: 'word',
            place: '/alerts/1/status',
            attrs: { value: 'strange', known: ['firing', 'resolved'] },
          },
        ],
      },
      {
        state: 'done',
        error: null,
        event_count: 0,
        event_ids: [],
        notes: [{ severity: 'info', code: 'no_events', place: '', attrs: {} }],
      },
    ])
    const [element] = await elementsOf(team)
    assert.deepEqual([element?.id, element?.status], [id, ['EVENT_PENDING']])
    // Partly read deliveries are replayed with the failed ones.
    assert.deepEqual(await replayDeliveries(db, { state: 'failed' }), { deliveries: 1, events: 0 })
    const { state, event_count, notes } = await db
      .selectFrom('deliveries')
      .select(['state', 'event_count', 'notes'])
      .where('state', '=', 'new')
      .executeTakeFirstOrThrow()
    assert.deepEqual({ state, event_count, notes }, { state: 'new', event_count: null, notes: [] })
    assert.deepEqual(await ingest(), { done: 0, partial: 1, failed: 0, events: 0 })
  })

  test('two attacks under one fingerprint are two events, and the end of the first finds the first', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    await addSource(db, 'am', { kind: 'alertmanager' })
    const { alerts, ...envelope } = fixture('alertmanager-firing') as { alerts: object[] }
    const second = { ...envelope, alerts: [{ ...alerts[0], startsAt: '2026-03-01T11:00:00Z' }] }
    await deliver(db, 'am', [fixture('alertmanager-firing'), second, fixture('alertmanager-resolved')], from)
    await ingest()
    const elements = (await elementsOf(team)).map(({ start, status }) => [start, status])
    assert.deepEqual(elements.toSorted(), [
      ['2026-03-01T10:00:00.123Z', ['EVENT_ENDED']],
      ['2026-03-01T11:00:00.000Z', ['EVENT_ONGOING']],
    ])
  })

  test('a delivery that PostgreSQL rejects is found by bisection, marked as failed, and blocks no other', async () => {
    await sql`alter table events add constraint planted check (source_event_id <> 'planted')`.execute(db)
    try {
      const bodies = Array.from({ length: 21 }, (_, i) =>
        ban(`203.0.113.${i}`, i === 13 ? 'planted' : `id ${i}`),
      )
      await deliver(db, 'fnm', bodies)
      assert.deepEqual(await ingest(), { done: 20, partial: 0, failed: 1, events: 20 })
      const states = await deliveryStates()
      assert.match(String(states[13]), /^failed,a defect of Pharos: .*planted/)
    } finally {
      await sql`alter table events drop constraint planted`.execute(db)
    }
  })

  test('limits the bytes of a batch, but always takes one delivery', async () => {
    await deliver(db, 'fnm', [ban('203.0.113.1'), ban('203.0.113.2'), ban('203.0.113.3')])
    const size = Buffer.byteLength(JSON.stringify(ban('203.0.113.1')))
    const batch = (bytesMax: number) => ingestBatch(database.postgres, cache, { bytesMax })
    assert.equal((await batch(1)).done, 1)
    assert.equal((await batch(size * 2 + 10)).done, 2)
    assert.equal((await batch(1)).done, 0)
  })

  test('concurrent workers merge the same attack into one event and lose no observation', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    const bodies = Array.from({ length: 120 }, (_, i) => {
      const body = ban(`203.0.113.${i % 3}`, `id ${i % 3}`)
      return { ...body, attack_details: { ...body.attack_details, total_incoming_pps: i } }
    })
    await deliver(db, 'fnm', bodies)
    const work = async (): Promise<number> => {
      const report = await ingestBatch(database.postgres, createOwnershipCache(), { limit: 7 })
      return report.done === 0 ? 0 : report.done + (await work())
    }
    const done = await Promise.all([work(), work(), work()])
    assert.equal(done[0]! + done[1]! + done[2]!, 120)
    const rates = (await elementsOf(team)).map((element) => element.affected_pps).toSorted()
    assert.deepEqual(rates, [117, 118, 119])
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })

  test('an event on several networks is removed from the list of a team whose resource it no longer matches', async () => {
    const team = await addTeam(db, 'a')
    const prefix = await addPrefix(db, team, '203.0.113.0/24')
    await deliver(db, 'fnm', [ban('203.0.113.77')], from)
    await ingest()
    await db.deleteFrom('prefixes').where('id', '=', prefix).execute()
    await deliver(db, 'fnm', [{ ...ban('203.0.113.77'), action: 'unban' }])
    await ingest()
    assert.deepEqual(await elementsOf(team), [])
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })

  test('an event of no team is in the list of no team until a team gets its network', async () => {
    const team = await addTeam(db, 'a')
    await deliver(db, 'fnm', [ban('203.0.113.77')], from)
    await ingest()
    const [event] = await elementsOf(noTeam)
    assert.deepEqual([event?.affected_network, event?.relationships], ['203.0.113.77/32', []])
    await addPrefix(db, team, '203.0.113.0/24')
    await rematch(database.postgres, cache)
    assert.deepEqual([(await elementsOf(noTeam)).length, (await elementsOf(team)).length], [0, 1])
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })

  test('descriptions beyond the maximum of facets are searched event by event', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    const rows = Array.from({ length: 520 }, (_, n) => ({
      team_id: team,
      flags: 0,
      status: 1,
      classification_key: 'unknown',
      source_key: 'fnm',
      description: `number ${n}`,
    }))
    await db.transaction().execute((trx) => saveFacets(trx, rows.slice(0, 500)))
    const ids = await db.transaction().execute((trx) => saveFacets(trx, rows))
    assert.equal(new Set(ids).size, 501)
    await deliver(db, 'fnm', [ban('203.0.113.77')], from)
    await ingest()
    for (const [search, count] of [
      ['on 203.0.113.7', 1],
      ['amplification', 1],
      ['number', 0],
    ] as const) {
      const query = { search, ordering: 'start', limit: 10, offset: 0 }
      const page = await listTeamEvents(database, { actor: { teamId: team, staffRoles: [] } }, query)
      assert.equal(page.count, count, search)
    }
  })
})

describe('resources that change later', () => {
  const settle = () => rematch(database.postgres, cache, undefined, 3)

  test('a prefix that is added later gets the past events on it, inside it and around it', async () => {
    const team = await addTeam(db, 'a')
    const hosts = Array.from({ length: 10 }, (_, i) => ban(`203.0.113.${i}`))
    await deliver(db, 'fnm', [
      ...hosts,
      ban('203.0.112.1'),
      fixture('fastnetmon-hostgroup-ban'),
      ban('9.9.9.9'),
    ])
    await ingest()
    await addPrefix(db, team, '203.0.113.0/25')
    await settle()
    const elements = await elementsOf(team)
    assert.equal(elements.length, 11)
    assert.deepEqual(reasons(elements.find((element) => element.affected_network === '203.0.113.0/25')), [
      ['prefix', 'covered_by', '203.0.113.0/25'],
    ])
    assert.deepEqual(await settle(), { resources: 0, events: 0 })
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })

  test('a second network of an event is matched like the first', async () => {
    const team = await addTeam(db, 'a')
    await deliver(db, 'fnm', [fixture('fastnetmon-hostgroup-ban')])
    await ingest()
    await addPrefix(db, team, '198.51.100.128/26')
    await settle()
    assert.deepEqual(reasons((await elementsOf(team))[0]), [['prefix', 'covered_by', '198.51.100.128/26']])
  })

  test('deleting or moving a prefix deletes its relationships, and keeps those of others', async () => {
    const [a, b] = [await addTeam(db, 'a'), await addTeam(db, 'b')]
    const moving = await addPrefix(db, a, '203.0.113.0/24', 'old name')
    await addPrefix(db, b, '203.0.0.0/16')
    await deliver(db, 'fnm', [ban('203.0.113.77'), ban('198.51.100.7')], from)
    await ingest()
    await settle()
    const [before] = await elementsOf(a)
    await db.updateTable('prefixes').set({ name: 'new name' }).where('id', '=', moving).execute()
    await settle()
    const [renamed] = await elementsOf(a)
    assert.deepEqual(renamed?.relationships[0]?.match_resouce_name, 'new name')
    assert.equal(renamed?.relationships[0]?.id, before?.relationships[0]?.id)
    await db.updateTable('prefixes').set({ prefix: '198.51.100.0/24' }).where('id', '=', moving).execute()
    await settle()
    assert.deepEqual(
      (await elementsOf(a)).map((element) => element.affected_network),
      ['198.51.100.7/32'],
    )
    await db.deleteFrom('prefixes').where('id', '=', moving).execute()
    await settle()
    assert.deepEqual(await elementsOf(a), [])
    assert.equal((await elementsOf(b)).length, 1)
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })

  test('an ASN and the announcement that it originates match past events in either order', async () => {
    const team = await addTeam(db, 'a')
    await deliver(db, 'fnm', [ban('203.0.113.77')])
    await ingest()
    const asn = await addAsn(db, team, 64_500)
    await settle()
    const announcement = await addAnnouncement(db, team, '203.0.113.0/24', 64_500)
    await settle()
    const both = [
      ['announcement', 'covers', '203.0.113.0/24'],
      ['asn', 'origin_asn', '64500'],
    ]
    assert.deepEqual(reasons((await elementsOf(team))[0]), both)
    await db.deleteFrom('asns').where('id', '=', asn).execute()
    await settle()
    assert.deepEqual(reasons((await elementsOf(team))[0]), both.slice(0, 1))
    await addAsn(db, team, 64_500)
    await settle()
    assert.deepEqual(reasons((await elementsOf(team))[0]), both)
    await db.deleteFrom('announcements').where('id', '=', announcement).execute()
    await settle()
    assert.deepEqual(await elementsOf(team), [])
  })

  test('deleting a team deletes its list and its counts', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    await deliver(db, 'fnm', [ban('203.0.113.77')])
    await ingest()
    await db.deleteFrom('teams').where('id', '=', team).execute()
    await settle()
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual([kept, counted], [[], []])
    assert.equal((await db.selectFrom('events').select('id').execute()).length, 1)
  })

  test('an event that is ingested while a prefix is being added is matched by one of the two loops', async () => {
    const team = await addTeam(db, 'a')
    for (let round = 0; round < 10; round++) {
      await deliver(db, 'fnm', [ban(`203.0.113.${round}`)])
      await Promise.all([ingest(), addPrefix(db, team, `203.0.113.${round}/32`).then(settle)])
    }
    assert.equal((await elementsOf(team)).length, 10)
  })
})

describe('a replay', () => {
  test('processes failed deliveries once the source is fixed', async () => {
    await addSource(db, 'later', { kind: 'generic', settings: {} })
    await deliver(db, 'later', [{ key: 'x', target: '203.0.113.77' }])
    assert.equal((await ingest()).failed, 1)
    const settings = JSON.stringify({ fields: { id: '/key', network: '/target' } })
    await db.updateTable('sources').set({ settings }).where('key', '=', 'later').execute()
    assert.deepEqual(await replayDeliveries(db, { state: 'failed' }), { deliveries: 1, events: 0 })
    assert.deepEqual(await ingest(), { done: 1, partial: 0, failed: 0, events: 1 })
  })

  test('rebuilds events, so that a wrong rate is corrected; ids and relationships stay', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    const fields = { id: '/id', network: '/ip', bps: { at: '/rate', unit: 'bytes_per_second' } }
    await addSource(db, 'g', { kind: 'generic', settings: { fields } })
    await deliver(
      db,
      'g',
      [
        { id: 'x', ip: '203.0.113.77', rate: 10 },
        { id: 'x', rate: 30 },
        { id: 'x', rate: 20 },
      ],
      from,
    )
    await deliver(db, 'fnm', [ban('203.0.113.78')], from)
    await ingest()
    const wrong = await elementsOf(team)
    assert.equal(wrong.find((element) => element.source_key === 'g')?.affected_bps, 240)
    const settings = JSON.stringify({ fields: { ...fields, bps: '/rate' } })
    await db.updateTable('sources').set({ settings }).where('key', '=', 'g').execute()
    assert.deepEqual(await replayDeliveries(db, { sourceKey: 'g' }), { deliveries: 3, events: 1 })
    await ingestBatch(database.postgres, cache, { limit: 1 })
    await ingestBatch(database.postgres, cache, { limit: 1 })
    await ingest()
    const mended = await elementsOf(team)
    for (const element of wrong) if (element.source_key === 'g') element.affected_bps = 30
    assert.deepEqual(mended, wrong)
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })

  test('of the deliveries that were read contains those that were read in part', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '203.0.113.0/24')
    const fields = { id: '/id', network: '/ip', bps: '/rate', end: { at: '/end', unit: 'unix' } }
    await addSource(db, 'g', { kind: 'generic', settings: { events: '/alerts', fields } })
    const alert = { id: 'x', ip: '203.0.113.77' }
    await deliver(
      db,
      'g',
      [
        { alerts: [{ ...alert, rate: 10 }] },
        { alerts: [{ ...alert, rate: 30, end: from.getTime() / 1000 }, {}] },
        'nothing',
      ],
      from,
    )
    assert.deepEqual(await ingest(), { done: 1, partial: 1, failed: 1, events: 1 })
    const elements = await elementsOf(team)
    assert.deepEqual(await replayDeliveries(db, { state: 'done' }), { deliveries: 2, events: 1 })
    await ingest()
    assert.deepEqual(await elementsOf(team), elements)
  })

  test('of all deliveries gives the same events', async () => {
    const team = await addTeam(db, 'a')
    await addPrefix(db, team, '0.0.0.0/0')
    await deliver(db, 'fnm', [ban('203.0.113.77'), fixture('fastnetmon-unban'), ban('203.0.113.78')], from)
    await ingest()
    const elements = await elementsOf(team)
    assert.equal((await replayDeliveries(db)).deliveries, 3)
    await ingest()
    assert.deepEqual(await elementsOf(team), elements)
  })

  test('since a time does not change events that started before, nor deliveries received before', async () => {
    await deliver(db, 'fnm', [ban('203.0.113.77'), ban('203.0.113.78')], from)
    await ingest()
    const since = new Date(from.getTime() + 60_000)
    assert.deepEqual(await replayDeliveries(db, { sourceKey: 'fnm', since }), { deliveries: 1, events: 1 })
    assert.deepEqual(await replayDeliveries(db, { sourceKey: 'none' }), { deliveries: 0, events: 0 })
  })
})
