// What-if: every flow is decided by the first rule that matches its packets, compared with an independent matcher, and
// counts as attack inside the window and the target of an event.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { covers, hostPrefix, parsePrefix } from '../net/prefix.ts'
import { parseAddress } from '../net/address.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { parseRuleAction, parseRuleMatch, type RuleConditions } from '../shield/rule.ts'
import { addTeam } from '../events/testing.ts'
import { concernsFlow, insertFlows, matchesFlow, testFlow, type TestFlow } from './testing.ts'
import { onsetsOf } from './attack-condition.ts'
import { createWhatIf, whatIfStatement, type WhatIfRequest } from './what-if.ts'
import { scaled } from '../runtime/testing-scale.ts'

const endMs = Date.parse('2026-03-14T12:00:00Z')
const startMs = endMs - 3_600_000
const prefix = parsePrefix('203.0.113.0/24')
const runs = scaled(100)

let database: TestDatabase
let store: TestFlowStore
let teamId = 0

let state = 5
const whole = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * below)
}
const pick = <T>(values: readonly T[]): T => values[whole(values.length)]!

const targets = ['203.0.113.1', '203.0.113.2', '203.0.113.200', '198.51.100.9']
const sources = ['192.0.2.1', '192.0.2.130', '198.51.100.7']
const flows: TestFlow[] = []

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  teamId = await addTeam(database.postgres.owner, 'one')
  for (let i = 0; i < 2_000; i++) {
    const protocol = pick([6, 17, 1, 47])
    const packets = 1 + whole(5)
    flows.push(
      testFlow({
        teamId: i % 10 === 0 ? teamId + 1 : teamId,
        time: new Date(startMs + whole(4_000) * 1000),
        direction: pick(['in', 'in', 'in', 'internal', 'out']),
        src: pick(sources),
        dst: pick(targets),
        protocol,
        srcPort: protocol === 6 || protocol === 17 ? pick([53, 123, 40_000]) : 0,
        dstPort: protocol === 1 ? pick([0, 8 * 256, 3 * 256 + 4]) : protocol === 47 ? 0 : pick([80, 443, 53]),
        tcpFlags: protocol === 6 ? pick([2, 18, 16, 1]) : 0,
        dscp: pick([0, 46]),
        fragment: pick([0, 0, 0, 1]),
        packets,
        bytes: packets * pick([40, 400, 1_400]),
        samplingRate: pick([1, 10]),
      }),
    )
  }
  await insertFlows(store, flows)
  const { owner } = database.postgres
  const { rows } = await sql<{ id: number }>`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key)
    values (${teamId}, 0, 0, 'udp.flood', 'test') returning id`.execute(owner)
  const facet = rows[0]!.id
  const event = async (id: string, network: string, from: number, until: number | null, status: string) => {
    const at = new Date(startMs + from * 1000)
    const end = until === null ? null : new Date(startMs + until * 1000)
    await sql`insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at, end_at,
        source_resource_id, source_location_id, source_country, source_location, classification_key, description, affected_bps, affected_pps,
        parsed_data)
      values (${id}, 'test', ${id}, '{}', array[${status}], ${network}::cidr, 'UTC', ${at}, ${end}, '', '', '', '', 'udp.flood', '', 0, 0, '{}')`.execute(
      owner,
    )
    await sql`insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
        classification_key, description, record, relationships, facet)
      values (${teamId}, ${id}, ${at}, ${end}, 0, 0, 0, ${network}::cidr, 'udp.flood', '', '{', '[]', ${facet})`.execute(
      owner,
    )
  }
  await event('a', '203.0.113.1/32', 600, 1_200, 'EVENT_ENDED')
  await event('b', '203.0.113.128/25', 3_000, null, 'EVENT_ONGOING')
  await event('c', '203.0.113.2/32', 0, null, 'FALSE_POSITIVE')
  await event('d', '203.0.113.2/32', 2_000, 2_020, 'EVENT_ENDED')
  await event('e', '203.0.113.1/32', 3_630, null, 'EVENT_ONGOING')
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const isAttack = ({ dst, time }: TestFlow): boolean => {
  const seconds = (time.getTime() - startMs) / 1000
  return (
    (dst === '203.0.113.1' && seconds >= 600 && seconds <= 1_200) ||
    (dst === '203.0.113.200' && seconds >= 3_000) ||
    (dst === '203.0.113.2' && seconds >= 2_000 && seconds <= 2_020)
  )
}
/** A minute before an event, or as long as it lasted. */
const isOnset = ({ dst, time }: TestFlow): boolean => {
  const seconds = (time.getTime() - startMs) / 1000
  return (
    (dst === '203.0.113.1' && ((seconds >= 540 && seconds < 600) || seconds >= 3_570)) ||
    (dst === '203.0.113.200' && seconds >= 2_940 && seconds < 3_000) ||
    (dst === '203.0.113.2' && seconds >= 1_980 && seconds < 2_000)
  )
}

type Rule = RuleConditions & {
  readonly action?: 'allow' | 'deny' | 'rate_limit'
  readonly rate_bps?: number
  readonly rate_pps?: number
}
const requestOf = (rules: readonly Rule[]): WhatIfRequest => ({
  teamId,
  prefix,
  startMs,
  endMs,
  rules: rules.map(({ action = 'deny', rate_bps, rate_pps, ...conditions }, index) => ({
    index,
    parsed: {
      match: parseRuleMatch(conditions, prefix),
      action: parseRuleAction({ action, rate_bps: rate_bps ?? null, rate_pps: rate_pps ?? null }),
    },
  })),
})

const estimate = (request: WhatIfRequest) =>
  createWhatIf({ db: database.postgres.front, flowStore: store })(request)

const conditions = fc.oneof(
  fc.record(
    {
      source: fc.constantFrom('192.0.2.0/24', '192.0.2.128/25', '198.51.100.7'),
      destination: fc.constantFrom('203.0.113.1', '203.0.113.0/25'),
      dscp: fc.constantFrom(0, 46),
      fragment: fc.constantFrom('yes', 'no', 'any'),
      packet_length: fc.constantFrom('0-100', '400', '41-1399,1401'),
      protocol: fc.constantFrom('any', 'gre', '17'),
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      source_port: fc.constantFrom('53', '53,123', '1024-65535'),
      destination_port: fc.constantFrom('80', '0-100,443'),
    },
    { requiredKeys: ['source_port'] },
  ),
  fc.record({ tcp_flags: fc.constantFrom('syn,!ack', 'ack', '!syn', 'fin') }),
  fc.record(
    { icmp_type: fc.constantFrom(8, 3), icmp_code: fc.constantFrom(0, 4) },
    { requiredKeys: ['icmp_type'] },
  ),
)
const actions = fc.constantFrom(
  { action: 'allow' },
  { action: 'deny' },
  { action: 'rate_limit', rate_pps: 1 },
  { action: 'rate_limit', rate_bps: 40_000 },
)
const lists = fc.array(
  fc.tuple(conditions, actions).map(([one, action]) => ({ ...one, ...action })),
  { maxLength: 8 },
)

/** Sums of parts are rounded in another order. */
function assertNear(actual: Readonly<Record<string, number>>, expected: Readonly<Record<string, number>>) {
  for (const [name, value] of Object.entries(expected))
    assert.ok(Math.abs(actual[name]! - value) <= 1, `${name}: ${actual[name]} instead of ${value}`)
}

describe('what a list would have done', () => {
  it('is what the oracle of matches says of each flow, for any list', async () => {
    const property = fc.asyncProperty(lists, async (rules) => {
      const request = requestOf(rules as never)
      const answer = await estimate(request)
      const seen = flows.filter(
        (flow) =>
          flow.teamId === teamId &&
          flow.direction !== 'out' &&
          flow.time.getTime() < endMs &&
          covers(prefix, hostPrefix(parseAddress(flow.dst))),
      )
      const volumeOf = (part: readonly TestFlow[], weight: (flow: TestFlow) => number = () => 1) => ({
        packets: Math.round(
          part.reduce((sum, flow) => sum + flow.packets * flow.samplingRate * weight(flow), 0),
        ),
        bytes: Math.round(part.reduce((sum, flow) => sum + flow.bytes * flow.samplingRate * weight(flow), 0)),
        flows: Math.round(part.reduce((sum, flow) => sum + weight(flow), 0)),
      })
      const isNormal = (flow: TestFlow) => !isAttack(flow) && !isOnset(flow)
      const firstOf = (flow: TestFlow) =>
        request.rules.findIndex(
          ({ parsed: { match, action } }) =>
            matchesFlow(match, flow) ||
            (isNormal(flow) && action.kind !== 'allow' && concernsFlow(match, flow)),
        )
      const decided = new Map(seen.map((flow) => [flow, request.rules[firstOf(flow)]]))
      const minuteOf = ({ time }: TestFlow) => Math.floor(time.getTime() / 60_000)
      const countedBy = (flow: TestFlow, rule: WhatIfRequest['rules'][number]): number => {
        const { match, action } = rule.parsed
        const hasSyn = (flow.tcpFlags & 2) !== 0
        const hasAck = (flow.tcpFlags & 16) !== 0
        const opening = !hasSyn ? 0 : hasAck ? 1 : flow.packets
        const isOpening = match.tcpFlags !== undefined && (match.tcpFlags.set & 2) !== 0
        if ('pps' in action) return (isOpening ? opening : flow.packets) * flow.samplingRate
        return (isOpening && !(hasSyn && !hasAck) ? opening * 64 : flow.bytes) * flow.samplingRate
      }
      const amounts = new Map<string, number>()
      for (const [flow, rule] of decided)
        if (rule) {
          const key = `${rule.index} ${minuteOf(flow)}`
          amounts.set(key, (amounts.get(key) ?? 0) + countedBy(flow, rule))
        }
      const droppedPart = (flow: TestFlow): number => {
        const rule = decided.get(flow)
        const action = rule?.parsed.action
        if (!rule || !action || action.kind === 'allow') return 0
        if (action.kind === 'deny') return 1
        const most = 'pps' in action ? action.pps * 60 : (action.bps * 60) / 8
        const amount = amounts.get(`${rule.index} ${minuteOf(flow)}`)!
        return amount <= most ? 0 : 1 - most / amount
      }
      const [normal, attack] = [seen.filter(isNormal), seen.filter(isAttack)]
      assert.deepEqual([answer.normal, answer.attack], [volumeOf(normal), volumeOf(attack)])
      assertNear(answer.dropped_normal, volumeOf(normal, droppedPart))
      assertNear(answer.dropped_attack, volumeOf(attack, droppedPart))
      for (const { index, ...volumes } of answer.rules) {
        const of = (part: readonly TestFlow[]) =>
          volumeOf(part.filter((flow) => decided.get(flow)?.index === index))
        assert.deepEqual([volumes.normal, volumes.attack], [of(normal), of(attack)])
      }
      assert.equal(answer.dropped_normal_share, answer.dropped_normal.bytes / answer.normal.bytes)
      assert.equal(answer.dropped_normal_shares.flows, answer.dropped_normal.flows / answer.normal.flows)
    })
    await fc.assert(property, { numRuns: runs })
  })

  it('leaves out no more time of a target than a detector calls an attack', () => {
    const minuteMs = 60_000
    const network = parsePrefix('203.0.113.1/32')
    const attacks = Array.from({ length: 60 }, (_, minute) => ({
      network,
      startMs: startMs + minute * minuteMs,
      endMs: startMs + minute * minuteMs + 1_000,
    }))
    const leftOut = onsetsOf(attacks).reduce((ms, onset) => ms + onset.endMs! - onset.startMs, 0)
    assert.equal(leftOut, 60_000)
    const [ongoing] = onsetsOf([{ network, startMs: endMs - 1_000, endMs: null }])
    assert.deepEqual(ongoing, { network, startMs: endMs - 1_000 - minuteMs, endMs: endMs - 1_000 })
  })

  it('names services of the last day that a rule takes, as a count of their normal flows does', async () => {
    const request = requestOf([
      { destination_port: '443', protocol: 'tcp', destination: '203.0.113.1' },
      { destination_port: '443', action: 'rate_limit', rate_pps: 1 },
      { protocol: 'udp', source_port: '123' },
      { protocol: 'tcp', tcp_flags: 'syn,!ack' },
    ])
    const normal = flows.filter(
      (flow) =>
        flow.teamId === teamId &&
        flow.direction !== 'out' &&
        flow.time.getTime() < endMs &&
        covers(prefix, hostPrefix(parseAddress(flow.dst))) &&
        !isAttack(flow) &&
        !isOnset(flow) &&
        (flow.protocol === 17 || (flow.protocol === 6 && (flow.tcpFlags & 18) !== 2)),
    )
    const services = Map.groupBy(normal, ({ dst, protocol, srcPort, dstPort }) =>
      [dst, protocol, Math.min(srcPort, dstPort)].join(' '),
    )
    const expected = request.rules.map(() => [] as string[])
    for (const [name, all] of services)
      for (const [place, rule] of request.rules.entries()) {
        const taken = all.filter(
          (flow) => request.rules.findIndex(({ parsed: { match } }) => concernsFlow(match, flow)) === place,
        )
        const isUsed = all.length >= 20 || all.length >= normal.length / 100
        if (rule.parsed.action.kind === 'deny' && isUsed && taken.length >= all.length * 0.9)
          expected[place]!.push(name)
      }
    const { rules } = await estimate(request)
    const found = rules.map(({ services: taken }) =>
      taken.map(({ address, protocol, port }) => [address, protocol, port].join(' ')),
    )
    assert.deepEqual(
      found.map((one) => one.toSorted()),
      expected.map((one) => one.toSorted()),
    )
    assert.deepEqual([found[0], found[1]], [['203.0.113.1 6 443'], []])
  })

  it('tells which part of new connections passes a limit on SYN', async () => {
    const [limited, open] = await Promise.all(
      [1, 1_000_000].map(
        async (rate_pps) =>
          (await estimate(requestOf([{ tcp_flags: 'syn,!ack', action: 'rate_limit', rate_pps }]))).rules[0]!
            .new_connections_share,
      ),
    )
    assert.ok(limited! > 0 && limited! < 1, String(limited))
    assert.equal(open, null)
  })

  it('names the limits that concern the rules', async () => {
    const {
      notes,
      sampled,
      state: known,
    } = await estimate(
      requestOf([
        { tcp_flags: 'syn' },
        { packet_length: '40', action: 'rate_limit', rate_pps: 10 },
        { fragment: 'yes' },
      ]),
    )
    assert.deepEqual([known, sampled], ['complete', true])
    assert.deepEqual(notes, ['length', 'tcp_flags', 'fragment', 'sampled', 'rate'])
  })

  it('is known to be unknown without flows or without the store', async () => {
    const none = await estimate({
      ...requestOf([{}]),
      startMs: startMs - 86_400_000,
      endMs: startMs - 80_000_000,
    })
    assert.deepEqual([none.state, none.dropped_normal_share], ['no_flows', null])
    const gone = { ...store, query: () => Promise.reject<never[]>(new DriverError('unreachable', 'gone')) }
    const unavailable = await createWhatIf({ db: database.postgres.front, flowStore: gone })(requestOf([{}]))
    assert.deepEqual([unavailable.state, unavailable.rules.length], ['unavailable', 1])
  })

  it('of 100 rules with 80 ports each is answered', async () => {
    const ports = Array.from({ length: 80 }, (_, at) => String(1_000 + at * 3)).join(',')
    const rules = Array.from({ length: 100 }, (_, at) => ({ source: `192.0.2.${at}/32`, source_port: ports }))
    assert.equal((await estimate(requestOf(rules))).rules.length, 100)
  })

  it('has no text of a rule in its statement', () => {
    const { sql: text } = whatIfStatement(requestOf([{ source: '192.0.2.0/24', source_port: '53' }]), [])
    assert.ok(!text.includes('192.0.2'))
    assert.match(text, /where team_id = \{team:UInt32\} and /)
  })
})
