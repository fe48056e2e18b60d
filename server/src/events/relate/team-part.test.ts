// A team sees no data of networks that it does not hold: not in the list, its filters and its count, not in the detail,
// and not in messages.
import type { StaffRole } from '@pharos/contract/staff-role'
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { Compile } from 'typebox/compile'
import { listRelatedEventsRoute } from '@pharos/contract/events/event'
import type { RelatedEvent, RelatedEventDetail } from '@pharos/contract/events/event'
import type { Db, Postgres } from '../../db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { covers, firstOf, lastOf, parsePrefix, prefixAround, networkOf } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { mergeObservation } from '../event/event.ts'
import type { Event, TargetSample } from '../event/event.ts'
import { ingestDeliveries } from '../ingest/ingest.ts'
import { createMessageCache, type MessageCache } from '../list/message-cache.ts'
import { rematch } from './rematch.ts'
import { getTeamEvent, listTeamEvents } from '../list/list-events.ts'
import { fixture } from '../sources/fixtures.ts'
import { fastnetmon } from '../sources/fastnetmon.ts'
import { createNotes } from '../sources/notes.ts'
import { teamPart } from './team-part.ts'
import { addPrefix, addSource, addTeam, compareCounts, deliver, removeEvents } from '../testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const listQuery = Compile(listRelatedEventsRoute.query!)
const prefixes = (...texts: string[]) => texts.map(parsePrefix)

/** An attack on the networks as a FastNetMon delivery, with samples and rules of all of them. */
function hostgroupBody(networks: readonly string[], id = 'carpet'): Record<string, unknown> {
  const body = fixture('fastnetmon-hostgroup-ban')
  const targets = networks.map((network) => networkOf(parsePrefix(network)))
  return {
    ...body,
    hostgroup_name: `group of ${networks.join(' and ')}`,
    hostgroup_networks: networks,
    attack_details: { ...(body.attack_details as object), attack_uuid: `${id} ${networks[0]}` },
    packet_dump_detailed: targets.map((target, i) => ({
      source_ip: target.includes(':') ? `2001:db8:ffff::${i + 1}` : `192.0.2.${i + 1}`,
      destination_ip: target,
      source_port: 53,
      destination_port: 1_000 + i,
      protocol: 'udp',
      packets: 10,
      length: 100,
    })),
    flow_spec_rules: networks.map((destination_prefix) => ({
      destination_prefix,
      protocols: ['udp'],
      action_type: 'discard',
    })),
  }
}

const attackers = prefixes('192.0.2.0/24', '2001:db8:ffff::/48')

function eventOf(networks: readonly string[]): Event {
  const [observation] = fastnetmon.createNormaliser({})(hostgroupBody(networks), createNotes(new Date(0)))
  const delivery = { id: 1, received: 0, hash: '' }
  return mergeObservation(undefined, { ...observation!, delivery }, { key: 'fnm', defaults: {} })
}

describe('the part of an event', () => {
  test('is the event itself for a team that holds all of its networks, with one prefix or several', () => {
    const event = eventOf(['203.0.113.0/24', '2001:db8:1::/48'])
    const all = [
      prefixes('203.0.112.0/23', '2001:db8::/32'),
      prefixes('203.0.113.0/24', '2001:db8:1::/48'),
      prefixes('203.0.113.128/25', '2001:db8:1::/48', '203.0.113.0/26', '203.0.113.64/26', '203.0.113.7/32'),
    ]
    for (const held of all) assert.equal(teamPart(event, held), event)
  })

  test('has the networks, the family, the rules and the description for the networks of the team', () => {
    const event = eventOf(['203.0.113.0/24', '2001:db8:1::/48'])
    const part = teamPart(event, prefixes('203.0.113.0/26', '203.0.113.64/26', '203.0.113.200/32'))
    assert.deepEqual(
      [part.affectedNetwork, part.flags, part.description, part.parsedData.networks],
      [
        '203.0.113.0/25',
        ['INCOMING', 'CARPET_BOMB', 'MULTI_VECTOR'].filter((flag) => event.flags.includes(flag as never)),
        `${part.description.split(' on ')[0]} on 203.0.113.0/25 and 1 more`,
        ['203.0.113.0/25', '203.0.113.200/32'],
      ],
    )
    assert.ok(event.flags.includes('IPV6') && event.sourceDelivery !== null)
    assert.deepEqual([part.sourceDelivery, part.sourceReceived], [null, null])
    assert.equal(part.affectedBps, event.affectedBps)
    const other = teamPart(event, prefixes('2001:db8::/32'))
    assert.deepEqual([other.affectedNetwork, other.flags.includes('IPV6')], ['2001:db8:1::/48', true])
    assert.deepEqual(
      other.parsedData.mitigation?.rules?.map((rule) => rule['destination_prefix']),
      ['2001:db8:1::/48'],
    )
  })

  test('contains the sampled packets to the addresses of the team, without senders in networks of others', () => {
    const event = eventOf(['203.0.113.0/25', '203.0.113.128/25'])
    const sample = { sourcePort: 53, destinationPort: 80, packets: 2, bytes: 200 }
    const samples = [
      { target: '203.0.113.1', source: '192.0.2.1', ...sample },
      { target: '203.0.113.2', source: '192.0.2.1', ...sample },
      { target: '203.0.113.2', source: '203.0.113.200', ...sample },
      { target: '203.0.113.129', source: '192.0.2.9', ...sample },
    ] as TargetSample[]
    const part = teamPart(
      { ...event, mergeState: { ...event.mergeState, samples } },
      prefixes('203.0.113.0/25'),
    )
    assert.deepEqual(
      [part.parsedData.top_sources, part.parsedData.source_ports, part.parsedData.destination_ports],
      [
        [{ address: '192.0.2.1', packets: 4, bytes: 400 }],
        [{ port: 53, packets: 4, bytes: 400 }],
        [{ port: 80, packets: 4, bytes: 400 }],
      ],
    )
  })

  test('omits a rule that contains a network of another team in any field, or that cannot be parsed', () => {
    const event = eventOf(['203.0.113.0/25', '203.0.113.128/25'])
    const own = '203.0.113.5/32'
    const rules = [
      { destination_prefix: own, source_prefix: '192.0.2.0/24' },
      { destination_prefix: own, source_prefix: '203.0.113.129/32' },
      { destination_prefix: own, name: 'as for 203.0.113.129:80' },
      { destination_prefix: '203.0.113.0/24' },
      { protocols: ['udp'] },
    ]
    const part = teamPart(
      { ...event, parsedData: { ...event.parsedData, mitigation: { rules } } },
      prefixes('203.0.113.0/25'),
    )
    assert.deepEqual(part.parsedData.mitigation, { rules: [rules[0]] })
  })

  test('contains no address outside the networks of the team, for any event and any holdings', () => {
    const network = fc
      .tuple(fc.boolean(), fc.nat(63), fc.nat(6))
      .map(([isIpv6, place, bits]) =>
        isIpv6
          ? prefixAround(`2001:db8:0:${(place << 2).toString(16)}::` as never, 64 - bits)
          : prefixAround(`203.0.113.${place << 2}` as never, 32 - bits),
      )
    fc.assert(
      fc.property(
        fc.uniqueArray(network, { minLength: 1, maxLength: 6 }),
        fc.uniqueArray(network, { minLength: 1, maxLength: 6 }),
        (networks, held) => {
          const part = teamPart(eventOf(networks), held)
          const isCovered = (address: bigint, of: readonly Prefix[], isIpv6: boolean) =>
            of.some((p) => p.includes(':') === isIpv6 && firstOf(p) <= address && address <= lastOf(p))
          const isWhole = networks.every((one) => {
            const steps = Number(lastOf(one) - firstOf(one)) + 1
            // Halves of the family's smallest network in use: holding every half means holding every address.
            const step = one.includes(':') ? 1n << 64n : 1n
            const count = one.includes(':') ? Number((lastOf(one) - firstOf(one) + 1n) / step) : steps
            return Array.from({ length: count }, (_, i) => firstOf(one) + BigInt(i) * step).every((address) =>
              isCovered(address, held, one.includes(':')),
            )
          })
          const event = eventOf(networks)
          assert.equal(part.sourceDelivery !== null, isWhole)
          if (isWhole) return
          for (const address of addressesIn(JSON.stringify(part))) {
            const named = parsePrefix(address)
            if (attackers.some((one) => covers(one, named))) continue
            assert.ok(
              held.some((one) => covers(one, named)) ||
                (part.parsedData.networks ?? [part.affectedNetwork]).some(
                  (one) => one && covers(one as Prefix, named),
                ),
              `${address} of ${networks.join(' ')} is shown to the holder of ${held.join(' ')}`,
            )
          }
          // No data of the team's own networks is missing.
          for (const one of held) {
            const within = networks.some((other) => covers(other, one))
            const shown = (part.parsedData.networks ?? [part.affectedNetwork]) as Prefix[]
            if (within) assert.ok(shown.some((other) => covers(other, one)))
          }
          assert.equal(part.affectedBps, event.affectedBps)
        },
      ),
      { numRuns: scaled(300) },
    )
  })
})

/** Returns every address and prefix in the text, as prefixes. */
function addressesIn(text: string): string[] {
  const ipv4 = text.match(/\b\d{1,3}(?:\.\d{1,3}){3}(?:\/\d+)?/g) ?? []
  const ipv6 = text.match(/\b2001:[0-9a-f:]+(?:\/\d+)?/g) ?? []
  return [
    ...ipv4.map((one) => (one.includes('/') ? one : `${one}/32`)),
    ...ipv6.map((one) => (one.includes('/') ? one : `${one}/128`)),
  ]
}

describe('an event over the networks of several teams', () => {
  let database: TestDatabase
  let db: Db
  let cache = createOwnershipCache()
  let messages = createMessageCache()
  const ids: Record<string, number> = {}

  before(async () => {
    database = await createTestDatabase()
    db = database.postgres.owner
  })
  after(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    await removeEvents(db)
    cache = createOwnershipCache()
    messages = createMessageCache()
    await addSource(db, 'fnm')
    for (const [team, ...held] of [
      ['a', '203.0.113.0/25', '2001:db8:a::/48'],
      ['b', '203.0.113.128/25'],
      ['provider', '203.0.112.0/23', '2001:db8::/32'],
      ['nobody', '198.51.100.0/24'],
    ] as [string, ...string[]][]) {
      ids[team] = await addTeam(db, team)
      for (const prefix of held) await addPrefix(db, ids[team]!, prefix)
    }
  })

  const ingest = async (...bodies: unknown[]) => {
    await deliver(db, 'fnm', bodies, new Date(Date.now() - 60_000))
    await ingestDeliveries(database.postgres, cache)
  }
  const list = async (team: string, query: Record<string, unknown> = {}) => {
    const complete = { limit: 100, offset: 0, ordering: 'start', ...query }
    assert.ok(listQuery.Check(complete))
    const actor = { teamId: ids[team]!, staffRoles: [] }
    const { raw: body } = await listTeamEvents(database, { actor }, complete as never)
    return JSON.parse(body) as { results: RelatedEvent[]; count: number }
  }
  const detail = async (team: string, eventId: string, staffRoles: readonly StaffRole[] = []) =>
    JSON.parse(
      (
        await getTeamEvent(
          { postgres: database.postgres, messages },
          { actor: { teamId: ids[team]!, staffRoles } },
          eventId,
        )
      ).body.raw,
    ) as RelatedEventDetail
  const messagesTo = async (team: string) =>
    (await db.selectFrom('outbox').select('data').where('team_id', '=', ids[team]!).execute()).map(
      ({ data }) => data as Record<string, unknown>,
    )

  test('is shown to each team as its own part, and completely only to a team that holds all networks', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24', '2001:db8:a::/48', '2001:db8:b::/48']))
    const [ofA, ofB, ofProvider] = await Promise.all(
      ['a', 'b', 'provider'].map(async (team) => (await list(team)).results[0]!),
    )
    assert.deepEqual(
      [ofA!.affected_network, ofB!.affected_network, ofProvider!.affected_network],
      ['203.0.113.0/25', '203.0.113.128/25', '203.0.113.0/24'],
    )
    assert.deepEqual(
      [ofA, ofB, ofProvider].map((one) => one!.flags.includes('IPV6')),
      [true, false, true],
    )
    assert.equal((await list('nobody')).count, 0)
    const { id } = ofA!
    const [partA, partB, whole] = [await detail('a', id), await detail('b', id), await detail('provider', id)]
    assert.deepEqual(partA.parsed_data.networks, ['203.0.113.0/25', '2001:db8:a::/48'])
    assert.deepEqual(
      [partA, partB, whole].map(({ parsed_data }) => parsed_data.top_sources?.map(({ address }) => address)),
      [['192.0.2.1', '2001:db8:ffff::2'], undefined, ['192.0.2.1', '2001:db8:ffff::2', '2001:db8:ffff::3']],
    )
    for (const part of [partA, partB]) {
      assert.equal(part.parsed_data.source, undefined)
      assert.doesNotMatch(JSON.stringify(part), /2001:db8:b/)
    }
    assert.doesNotMatch(JSON.stringify([ofA, partA, await messagesTo('a')]), /203\.0\.113\.(0\/24|128)/)
    assert.doesNotMatch(JSON.stringify([ofB, partB, await messagesTo('b')]), /203\.0\.113\.0|2001:|IPV6/)
    assert.ok(whole.parsed_data.source && whole.parsed_data.networks!.length === 3)
    assert.deepEqual((await detail('b', id, ['admin'])).parsed_data.source, whole.parsed_data.source)
    assert.equal((await messagesTo('a'))[0]!['affected_network'], '203.0.113.0/25')
    assert.deepEqual((await compareCounts(db)).kept, (await compareCounts(db)).counted)
  })

  test('has the message of the latest delivery while that is kept, and only what is about the event', async () => {
    const two = [hostgroupBody(['203.0.113.0/24'], 'm'), hostgroupBody(['203.0.113.0/24'], 'm')]
    await ingest(two[0])
    const { id } = (await list('provider')).results[0]!
    const source = async (team: string, staffRoles: readonly StaffRole[] = []) =>
      (await detail(team, id, staffRoles)).parsed_data.source as { hostgroup_name: string } | undefined
    assert.equal((await source('provider'))!.hostgroup_name, two[0]!['hostgroup_name'])
    await deliver(db, 'fnm', [{ ...two[1], hostgroup_name: 'later', note: 'zz' }], new Date())
    await ingestDeliveries(database.postgres, cache)
    const stored = await db.selectFrom('events').select(['parsed_data', 'source_delivery']).executeTakeFirst()
    assert.ok(!JSON.stringify(stored!.parsed_data).includes('hostgroup_name'), 'the event has no copy')
    const { body } = await db
      .selectFrom('deliveries')
      .select('body')
      .where('id', '=', stored!.source_delivery)
      .executeTakeFirstOrThrow()
    const latest = JSON.parse(body.toString()) as { hostgroup_name: string }
    assert.equal((await source('provider'))!.hostgroup_name, latest.hostgroup_name)
    assert.equal((await source('b', ['admin']))!.hostgroup_name, latest.hostgroup_name)
    assert.equal(await source('b'), undefined)
    await db.deleteFrom('deliveries').where('id', '=', stored!.source_delivery).execute()
    messages = createMessageCache()
    assert.equal(await source('provider'), undefined)
    assert.equal((await detail('provider', id)).id, id)
  })

  test('is read again in one statement, and at once if it has no message', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24']))
    const { id } = (await list('provider')).results[0]!
    const first = await detail('provider', id)
    assert.ok(first.parsed_data.source)
    const onlyReader = {
      readInTeam: database.postgres.readInTeam.bind(database.postgres),
      front: new Proxy({}, { get: (_, name) => assert.fail(`${String(name)} of front is used`) }),
    } as unknown as Postgres
    const again = (keptMessages: MessageCache) =>
      getTeamEvent(
        { postgres: onlyReader, messages: keptMessages },
        { actor: { teamId: ids['provider']!, staffRoles: [] } },
        id,
      )
    assert.deepEqual(JSON.parse((await again(messages)).body.raw), first)
    await assert.rejects(again(createMessageCache()), /of front is used/)
    await sql`update events set source_delivery = null, source_received = null`.execute(db)
    const without = JSON.parse((await again(createMessageCache())).body.raw) as RelatedEventDetail
    assert.deepEqual(without, { ...first, parsed_data: { ...without.parsed_data } })
    assert.equal(without.parsed_data.source, undefined)
  })

  test('has the message within the event if it is from before deliveries were referred to, until a later one', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24'], 'old'))
    const { id } = (await list('provider')).results[0]!
    const before = (at: number) =>
      sql`update events set source_delivery = null, source_received = null,
        parsed_data = parsed_data || '{"source": {"hostgroup_name": "before"}}',
        merge_state = jsonb_set(merge_state - 'delivery', '{stamps,source}', ${JSON.stringify([at, 0])}::jsonb)`.execute(
        db,
      )
    const name = async () =>
      ((await detail('provider', id)).parsed_data.source as { hostgroup_name: string }).hostgroup_name
    await before(Date.now() + 1e9)
    assert.equal(await name(), 'before')
    await ingest({ ...hostgroupBody(['203.0.113.0/24'], 'old'), action: 'attack_status' })
    assert.equal(await name(), 'before', 'its message is later')
    await before(-2)
    await ingest({ ...hostgroupBody(['203.0.113.0/24'], 'old'), hostgroup_name: 'next' })
    assert.equal(await name(), 'next')
  })

  test('is found by no filter for networks of others', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24', '2001:db8:a::/48']))
    const counts = async (team: string, queries: Record<string, unknown>[]) =>
      Promise.all(queries.map(async (query) => (await list(team, query)).count))
    const queries = [
      { affected_network: '203.0.113.5' },
      { affected_network: '203.0.113.200' },
      { affected_network: '203.0.113.128/25' },
      { affected_network: '113.0/24' },
      { flag: ['IPV6'] },
      { description: '2001:' },
      { description: 'group of' },
    ]
    assert.deepEqual(await counts('b', queries), [0, 1, 1, 0, 0, 0, 0])
    assert.deepEqual(await counts('a', queries), [1, 0, 0, 0, 1, 0, 0])
    assert.deepEqual(await counts('provider', queries), [1, 1, 1, 1, 1, 1, 1])
  })

  test('does not notify a team when only networks of others are added to it', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24'], 'one'))
    const before = JSON.stringify([await list('b'), await messagesTo('b')])
    const grown = hostgroupBody(['203.0.113.0/24', '2001:db8:a::/48'], 'one')
    await ingest(grown)
    assert.equal((await list('a')).results[0]!.flags.includes('IPV6'), true)
    assert.equal(JSON.stringify([await list('b'), await messagesTo('b')]), before)
  })

  test('becomes complete when the team gets the remaining networks, and a part again when it loses them', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24']))
    const { id } = (await list('b')).results[0]!
    const added = await addPrefix(db, ids['b']!, '203.0.113.0/25')
    await rematch(database.postgres, cache)
    assert.equal((await list('b')).results[0]!.affected_network, '203.0.113.0/24')
    assert.ok((await detail('b', id)).parsed_data.source)
    await db.deleteFrom('prefixes').where('id', '=', added).execute()
    await rematch(database.postgres, cache)
    assert.equal((await list('b')).results[0]!.affected_network, '203.0.113.128/25')
    assert.equal((await detail('b', id)).parsed_data.source, undefined)
  })

  test('is also hidden as a row: the database does not return events on networks of others', async () => {
    await ingest(hostgroupBody(['203.0.113.0/24']))
    const seen = async (team: string) =>
      database.postgres.inTeam(ids[team]!, async (trx) =>
        Number((await sql<{ n: string }>`select count(*) as n from events`.execute(trx)).rows[0]!.n),
      )
    assert.deepEqual([await seen('a'), await seen('b'), await seen('provider')], [0, 0, 1])
  })
})
