// The part of attacks that rules drop, on a real store: by flows with the first match and with limits, and by the counters of scrubbers.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { NewShieldRule } from '@pharos/contract/shield/shield'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { insertFlows, testFlow } from '../flow/testing.ts'
import { createMeasureMitigation, type MeasuredAttack } from './measure-mitigation.ts'
import type { HeldList } from './mitigation.ts'
import { HitsRecorder } from './record-hits.ts'
import { parseRules } from './shield-rule.ts'

const nowMs = Date.parse('2026-03-14T12:00:30Z')
const teamId = 3
const prefix = parsePrefix('203.0.113.0/24')
const host = parsePrefix('203.0.113.7/32')
const other = parsePrefix('203.0.113.9/32')

let store: TestFlowStore
before(async () => {
  store = await createTestFlowStore()
  const at = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1000)
  const flow = { teamId, dst: '203.0.113.7', srcPort: 53, packets: 1_000, bytes: 1_000_000, samplingRate: 3 }
  await insertFlows(store, [
    testFlow({ ...flow, time: at(10) }),
    testFlow({ ...flow, time: at(50), packets: 998, bytes: 999_000 }),
    testFlow({ ...flow, time: at(50), srcPort: 40_000, packets: 2, bytes: 1_000 }),
    // After the newest certainly stored flow, and before the last minute.
    testFlow({ ...flow, time: at(1), srcPort: 40_000 }),
    testFlow({ ...flow, time: at(80), srcPort: 40_000 }),
    testFlow({ ...flow, teamId: teamId + 1, time: at(10), srcPort: 40_000 }),
    testFlow({ ...flow, dst: '203.0.113.9', time: at(20), packets: 10, bytes: 10_000 }),
  ])
})
after(() => store[Symbol.asyncDispose]())

const listOf = (rules: readonly NewShieldRule[], of: Prefix = prefix, from = 1): HeldList => ({
  prefix: of,
  rules: parseRules(rules, of).map(({ parsed }, at) => ({ id: from + at, created: new Date(0), ...parsed })),
})
const attack = (networks: readonly Prefix[], eventId = 'a', rates = { bps: 0, pps: 0 }): MeasuredAttack => ({
  eventId,
  networks,
  ...rates,
})
const measure = (
  lists: readonly HeldList[],
  attacks: readonly MeasuredAttack[],
  flowStore: Pick<TestFlowStore, 'query'> = store,
) => createMeasureMitigation(flowStore, () => nowMs)({ teamId, held: [lists], attacks })
const dropDns: NewShieldRule = { action: 'deny', protocol: 'udp', source_port: '53' }

describe('what rules drop of an attack', () => {
  it('is the part of the traffic of the last minute that the first matching rule drops', async () => {
    const found = await measure([listOf([dropDns])], [attack([host]), attack([other], 'b')])
    const { rules, source, ...shares } = found.get('a')!
    assert.deepEqual([rules, source], [[1], 'flows'])
    assert.deepEqual(shares, { share_bytes: 1_999_000 / 2_000_000, share_packets: 1_998 / 2_000 })
    assert.equal(found.get('b')!.share_bytes, 1)
    const allowed = [listOf([dropDns]), listOf([{ action: 'allow' }], host, 9)]
    assert.equal(
      (await measure(allowed, [attack([host])])).get('a')!.share_bytes,
      0,
      'the more specific list decides',
    )
  })

  it('is what exceeds a limit', async () => {
    // 5,994 packets in the last minute.
    const limit: NewShieldRule = { action: 'rate_limit', protocol: 'udp', source_port: '53', rate_pps: 10 }
    const { share_packets: share } = (await measure([listOf([limit], host)], [attack([host])])).get('a')!
    assert.ok(Math.abs(share - (5_994 - 600) / 6_000) < 1e-9, String(share))
  })

  it('is not known where flows do not show the attack, without a store, and without traffic', async () => {
    const lists = [listOf([dropDns])]
    assert.equal((await measure(lists, [attack([host], 'a', { bps: 1e9, pps: 1e6 })])).size, 0)
    assert.equal((await measure(lists, [attack([parsePrefix('203.0.113.200/32')])])).size, 0)
    const gone = { query: () => Promise.reject<never[]>(new DriverError('unreachable', 'gone')) }
    assert.equal((await measure(lists, [attack([host])], gone)).size, 0)
  })

  it('is what scrubbers counted, if they count, by rules that are held', async () => {
    const times = [nowMs - 60_000, nowMs - 10_000, nowMs - 9_000]
    const recorder = new HitsRecorder({
      scrubber: 'edge',
      flowStore: store,
      encode: encodeNativeBlock,
      report: (error) => assert.fail(String(error)),
      now: () => times.shift()!,
    })
    const [rule] = listOf([{ ...dropDns, destination: '203.0.113.9' }]).rules
    await recorder.record([])
    await recorder.record([{ teamId, rule: rule!, packets: 900, bytes: 90_000 }])
    const held = [listOf([{ ...dropDns, destination: '203.0.113.9' }])]
    const found = (await measure(held, [attack([other])])).get('a')!
    assert.deepEqual([found.source, found.share_packets, found.share_bytes], ['hits', 1, 1])
    // Traffic without a matching rule passes, whether or not the flows include dropped traffic.
    const ofHost = listOf([{ ...dropDns, destination: '203.0.113.7' }], host, 70)
    await recorder.record([{ teamId, rule: ofHost.rules[0]!, packets: 0, bytes: 0 }])
    times.push(nowMs - 8_000)
    await recorder.record([{ teamId, rule: ofHost.rules[0]!, packets: 9_000, bytes: 9_000_000 }])
    const part = (await measure([ofHost], [attack([host])])).get('a')!
    assert.equal(part.source, 'hits')
    assert.ok(part.share_packets > 0.99 && part.share_packets < 1, `${part.share_packets}`)
    const others = [listOf([dropDns], prefix, 50)]
    assert.equal((await measure(others, [attack([other])])).get('a')!.source, 'flows')
  })
})
