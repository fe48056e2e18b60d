// Suggestions from flows on a real store: usual traffic, and rules that are never suggested.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../net/prefix.ts'
import { suggestRules, type SuggestOptions } from './suggest-rules.ts'
import { insertFlows, testFlow, type TestFlow } from '../flow/testing.ts'

const startMs = Date.parse('2026-03-14T12:00:00Z')
const endMs = startMs + 600_000
const minuteMs = 60_000
const dayMs = 86_400_000
const prefix = parsePrefix('203.0.113.0/24')
const target = parsePrefix('203.0.113.7/32')
const [weekly, hourly, fresh, six] = [1, 2, 3, 4]

let store: TestFlowStore

/** Web traffic from a few networks, and short answers of DNS, for ten minutes from `fromMs` on. */
const usual = (teamId: number, fromMs: number): TestFlow[] =>
  Array.from({ length: 200 }, (_, at) => {
    const isDns = at % 10 === 0
    return testFlow({
      teamId,
      time: new Date(fromMs + at * 3_000),
      dst: '203.0.113.7',
      src: `192.0.2.${at}`,
      protocol: isDns ? 17 : 6,
      srcPort: isDns ? 53 : 40_000 + at,
      dstPort: isDns ? 50_000 : 443,
      tcpFlags: isDns ? 0 : 27,
      packets: isDns ? 1 : 10,
      bytes: isDns ? 120 : 9_000,
    })
  })
const attack = (teamId: number, fields: (at: number) => Partial<TestFlow>): TestFlow[] =>
  Array.from({ length: 500 }, (_, at) =>
    testFlow({
      teamId,
      time: new Date(startMs + at * 1_200),
      dst: '203.0.113.7',
      src: `${1 + (at % 200)}.${at % 251}.7.1`,
      ...fields(at),
    }),
  )
const synFlood = (teamId: number) =>
  attack(teamId, (at) => ({
    protocol: 6,
    srcPort: 1_024 + at,
    dstPort: 443,
    tcpFlags: 2,
    packets: 10_000,
    bytes: 600_000,
  }))

before(async () => {
  store = await createTestFlowStore()
  await insertFlows(store, [
    ...[1, 2, 3].flatMap((day) => usual(weekly, startMs - day * dayMs)),
    ...usual(weekly, startMs),
    ...attack(weekly, (at) => ({
      srcPort: 53,
      dstPort: at,
      src: `198.51.100.${at % 250}`,
      packets: 100,
      bytes: 140_000,
      samplingRate: 10,
    })),
    ...[1, 2].flatMap((day) => usual(hourly, startMs - day * dayMs)),
    // The hour before, until five minutes before: the rest belongs to the attack.
    ...usual(hourly, startMs - 30 * minuteMs),
    ...synFlood(hourly),
    ...synFlood(fresh),
    ...attack(six, () => ({
      protocol: 58,
      src: '2001:db8:7::1',
      dst: '2001:db8:1::7',
      srcPort: 0,
      dstPort: 135 * 256,
      packets: 1_000,
      bytes: 72_000,
    })),
  ])
})
after(() => store[Symbol.asyncDispose]())

const suggest = (
  teamId: number,
  options: Partial<SuggestOptions> = {},
  targets = [target],
  within = prefix,
) =>
  suggestRules(
    store,
    { teamId, targets, scope: targets[0] ?? within, startMs, endMs, attacks: [], measure: 'packets' },
    within,
    { coverage: 0.95, mayLimit: true, safelist: [], ...options },
  )

describe('suggestions', () => {
  it('match an amplification, and not the usual answers from the same port', async () => {
    const { rules, usual: known, attackShares, normalShares } = (await suggest(weekly))!
    assert.equal(known, 'days')
    assert.deepEqual(
      rules.map(({ action, conditions }) => ({ action, ...conditions })),
      [{ action: 'deny', protocol: 'udp', source_port: '53', packet_length: '1400' }],
    )
    assert.ok(attackShares.bytes > 0.95, String(attackShares.bytes))
    assert.deepEqual(normalShares, { bytes: 0, packets: 0, flows: 0 })
  })

  it('limit SYN to twice the usual of the hour before, where fewer than three days are known', async () => {
    const { rules, usual: known, normalShares } = (await suggest(hourly))!
    assert.equal(known, 'hour')
    assert.equal(rules.length, 1)
    const { action, conditions, rate } = rules[0]!
    assert.deepEqual(
      [action, conditions],
      ['rate_limit', { protocol: 'tcp', tcp_flags: 'syn,!ack', destination_port: '443' }],
    )
    // 90 connections in each 5 minutes: a hundred packets a second is the least limit.
    assert.deepEqual(rate, { pps: 100 })
    assert.ok(normalShares!.flows > 0.89, 'every connection to the port begins with SYN')
    assert.deepEqual((await suggest(hourly, { mayLimit: false }))!.rules, [])
  })

  it('only limit, to a tenth of the attack, where nothing usual is known', async () => {
    const { rules, usual: known, normalShares } = (await suggest(fresh))!
    assert.deepEqual([known, normalShares], ['none', null])
    assert.deepEqual(
      rules.map(({ action, rate }) => [action, rate]),
      [['rate_limit', { pps: Math.ceil((500 * 10_000) / 600 / 10) }]],
    )
  })

  it('name no sender of the safelist, and match no neighbor discovery of IPv6', async () => {
    const named = (await suggest(weekly, { safelist: [parsePrefix('198.51.100.0/30')] }))!.rules
    assert.ok(named.every(({ conditions }) => conditions.source === undefined))
    const found = await suggest(six, {}, [parsePrefix('2001:db8:1::7/128')], parsePrefix('2001:db8:1::/48'))
    assert.deepEqual(found!.rules, [])
  })

  it('do not exist without flows, for another team, or for another target', async () => {
    assert.equal(await suggest(9), undefined)
    assert.equal(await suggest(weekly, {}, [parsePrefix('203.0.113.200/32')]), undefined)
    assert.equal(await suggest(weekly, {}, []), undefined)
  })
})
