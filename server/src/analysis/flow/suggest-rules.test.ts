// Suggestions from flows on a real store: an amplification and a SYN flood beside the usual traffic of a week.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestFlowStore, type TestFlowStore } from '../../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { insertFlows, testFlow, type TestFlow } from './testing.ts'
import { ruleOf, suggestRules } from './suggest-rules.ts'

const startMs = Date.parse('2026-03-14T12:00:00Z')
const endMs = startMs + 600_000
const prefix = parsePrefix('203.0.113.0/24')
const target = parsePrefix('203.0.113.7/32')
const teamId = 7

let store: TestFlowStore
let state = 3
const whole = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * below)
}

/** Web traffic, and answers of DNS that are short. */
function usual(day: number): TestFlow[] {
  return Array.from({ length: 300 }, (_, at) => {
    const isDns = at % 10 === 0
    return testFlow({
      teamId,
      time: new Date(startMs - day * 86_400_000 + whole(600) * 1000),
      dst: '203.0.113.7',
      src: `192.0.2.${whole(250)}`,
      protocol: isDns ? 17 : 6,
      srcPort: isDns ? 53 : 40_000 + whole(1_000),
      dstPort: isDns ? 50_000 : 443,
      tcpFlags: isDns ? 0 : 16,
      packets: 10,
      bytes: isDns ? 1_200 : 9_000,
    })
  })
}

const amplification = (at: string): TestFlow[] =>
  Array.from({ length: 500 }, () =>
    testFlow({
      teamId,
      time: new Date(startMs + whole(600) * 1000),
      dst: at,
      src: `198.51.100.${whole(250)}`,
      protocol: 17,
      srcPort: 53,
      dstPort: whole(60_000),
      packets: 100,
      bytes: 140_000,
      samplingRate: 10,
    }),
  )

const synFlood = (): TestFlow[] =>
  Array.from({ length: 500 }, () =>
    testFlow({
      teamId: teamId + 1,
      time: new Date(startMs + whole(600) * 1000),
      dst: '203.0.113.9',
      src: `${1 + whole(200)}.${whole(250)}.${whole(250)}.1`,
      protocol: 6,
      srcPort: 1_024 + whole(60_000),
      dstPort: 443,
      tcpFlags: 2,
      packets: 100,
      bytes: 4_000,
    }),
  )

before(async () => {
  store = await createTestFlowStore()
  const days = Array.from({ length: 8 }, (_, day) => usual(day)).flat()
  const ofOther = days.map((flow) => ({ ...flow, teamId: teamId + 1, dst: '203.0.113.9' }))
  await insertFlows(store, [...days, ...amplification('203.0.113.7'), ...synFlood(), ...ofOther])
})
after(() => store[Symbol.asyncDispose]())

const suggest = (team: number, targets = [target]) =>
  suggestRules(store, { teamId: team, targets, startMs, endMs }, prefix, 0.95)

describe('suggestions', () => {
  it('match an amplification, and not the usual answers from the same port', async () => {
    const { rules, candidates, attackShare, normalShare } = (await suggest(teamId))!
    assert.equal(rules.length, 1)
    assert.deepEqual(candidates[rules[0]!.index], {
      protocol: 'udp',
      source_port: '53',
      packet_length: '1024-65535',
    })
    assert.ok(attackShare > 0.95, String(attackShare))
    assert.equal(normalShare, 0)
    assert.deepEqual(ruleOf(candidates[rules[0]!.index]!, [target], prefix, { action: 'deny' }, 'DNS'), {
      action: 'deny',
      protocol: 'udp',
      source_port: '53',
      packet_length: '1024-65535',
      destination: '203.0.113.7',
      comment: 'DNS',
    })
  })

  it('match a SYN flood by its flags or its length, and not the usual traffic of the port', async () => {
    const { rules, candidates, normalShare, attackShare } = (await suggest(teamId + 1, [
      parsePrefix('203.0.113.9/32'),
    ]))!
    const excess = 500 * 4_000
    assert.equal(attackShare, excess / (excess + 270 * 9_000 + 30 * 1_200))
    assert.equal(normalShare, 0)
    assert.equal(rules.length, 1)
    assert.ok(candidates[rules[0]!.index]!.protocol === 'tcp')
  })

  it('do not exist without flows, for another team, or for another target', async () => {
    assert.equal(await suggest(teamId + 5), undefined)
    assert.equal(await suggest(teamId, [parsePrefix('203.0.113.200/32')]), undefined)
    assert.equal(await suggest(teamId, []), undefined)
  })
})
