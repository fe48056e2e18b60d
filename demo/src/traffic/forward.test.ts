// The demo follows its own routes: withdrawn or dropped traffic is in no flow, and port counters match the flows.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LiveTraffic } from '../../../server/src/drivers/sandbox-device/live-traffic.ts'
import { interfaceSeed, octetsAt } from '../../../server/src/drivers/sandbox-device/traffic.ts'
import { SandboxScrubber } from '../../../server/src/drivers/sandbox-scrubber/scrubber.ts'
import type { FilterAction } from '../../../server/src/net/filter-rule.ts'
import { parsePrefix } from '../../../server/src/net/prefix.ts'
import { arriving, octetChanges } from './forward.ts'
import {
  attackFlows,
  countedOctets,
  demoExporters,
  flowsBetween,
  wordsOf,
  type DemoAttack,
  type DemoFlow,
} from './model.ts'

const now = Date.UTC(2026, 2, 10, 17)
const prefixes = (...texts: string[]) => texts.map(parsePrefix)
const announced = prefixes(
  '203.0.113.0/24',
  '198.51.100.0/24',
  '192.0.2.0/24',
  '2001:db8:a::/48',
  '2001:db8:b::/48',
  '2001:db8:c::/48',
  '2001:db8:1000::/36',
)
const target = parsePrefix('203.0.113.77/32')
const attack: DemoAttack = {
  target: wordsOf('203.0.113.77'),
  classification: 'udp.amplification.dns',
  bps: 6_400_000_000,
  pps: 610_000,
  startMs: now - 60_000,
  endMs: now + 3_600_000,
}
const usual = flowsBetween(now, now + 60_000, 4)
const attacking = attackFlows(attack, now, now + 60_000, 10)
const all = [...usual, ...attacking]
const octets = (flows: readonly DemoFlow[]) =>
  flows.reduce((sum, { bytes, exporter }) => sum + bytes * demoExporters[exporter]!.samplingRate, 0)

describe('the demo obeys itself', () => {
  it('sends everything while all prefixes are announced', () => {
    assert.deepEqual(arriving(all, { announced, blackholed: [] }, [], 60), all)
  })

  it('has no traffic of a withdrawn prefix, and none towards a black hole', () => {
    const web = wordsOf('203.0.113.0')[3] >>> 8
    const isOfWeb = ({ src, dst }: DemoFlow) =>
      [src, dst].some((words) => words[2] === 0xffff && words[3] >>> 8 === web)
    const without = announced.filter((prefix) => prefix !== '203.0.113.0/24')
    assert.deepEqual(
      arriving(all, { announced: without, blackholed: [] }, [], 60),
      all.filter((flow) => !isOfWeb(flow)),
    )
    const left = arriving(all, { announced, blackholed: [target] }, [], 60)
    assert.ok(left.length >= usual.length - 10)
    assert.ok(left.every(({ dst }) => dst.join() !== attack.target.join()))
  })

  it('loses what a rule of the shield drops, which counts as hits', async () => {
    const run = async (action: FilterAction) => {
      const scrubber = new SandboxScrubber({
        name: 'edge',
        rulesMax: 10,
        latencyMs: 0,
        estimateHits: async () => new Map(),
      })
      const match = { destination: target, protocol: [[17, 17]], sourcePort: [[53, 53]] } as const
      await scrubber.apply([{ prefix: target, rules: [{ id: 7, match, action }] }])
      const forward = scrubber.forward.bind(scrubber)
      const left = arriving(attacking, { announced, blackholed: [] }, [forward], 60)
      return { left: octets(left), hits: (await scrubber.hits()).get(7)!.bytes }
    }
    const sent = octets(attacking)
    assert.deepEqual(await run({ kind: 'deny' }), { left: 0, hits: sent })
    assert.deepEqual(await run({ kind: 'allow' }), { left: sent, hits: 0 })
    const { left, hits } = await run({ kind: 'rate_limit', bps: 1e9 })
    assert.ok(Math.abs((left * 8) / 60 - 1e9) < 1e7, `${left}`)
    assert.ok(Math.abs(left + hits - sent) < sent / 1000)
  })
})

describe('the counters of the demo', () => {
  const counted = (sent: readonly DemoFlow[]) => {
    const live = new LiveTraffic()
    live.begin(now)
    live.add(now, [])
    live.add(now + 60_000, octetChanges(usual, sent))
    const { at, octetsIn, octetsOut } = live.read(now + 62_000, 'edge1.ams', 'et-0/0/0')
    assert.equal(at, now + 60_000)
    const seed = interfaceSeed('edge1.ams', 'et-0/0/0')
    const base = (bps: number, one: number) => Number(octetsAt(at, bps, one) - octetsAt(now, bps, one))
    return [base(5.2e9, seed) + octetsIn, base(8.6e9, seed + 1) + octetsOut] as const
  }
  const ofPort = (flows: readonly DemoFlow[], towards: boolean) =>
    flows
      .filter(({ exporter, inIf }) => exporter === 0 && (inIf === 3) === towards)
      .reduce((sum, flow) => sum + countedOctets(flow), 0)

  it('contain its attacks, and lose what is withdrawn', () => {
    for (const sent of [all, usual, arriving(all, { announced: [], blackholed: [] }, [], 60)]) {
      const [octetsIn, octetsOut] = counted(sent)
      assert.ok(Math.abs(octetsIn - ofPort(sent, false)) <= ofPort(usual, false) / 1000)
      assert.ok(Math.abs(octetsOut - ofPort(sent, true)) <= ofPort(usual, true) / 1000)
    }
  })

  it('are read at the end of a tick that is over, and as before without traffic', () => {
    const live = new LiveTraffic()
    assert.deepEqual(live.read(now, 'a', 'b'), { at: now, octetsIn: 0, octetsOut: 0 })
    live.begin(now)
    assert.equal(live.read(now + 4_500, 'a', 'b').at, now + 4_500)
    const change = { device: 'a', name: 'b', octetsIn: 10, octetsOut: 20 }
    live.add(now + 5_000, [change])
    live.add(now + 10_000, [change])
    assert.deepEqual(live.read(now + 9_000, 'a', 'b'), { at: now + 5_000, octetsIn: 10, octetsOut: 20 })
    assert.deepEqual(live.read(now + 12_000, 'a', 'b'), { at: now + 10_000, octetsIn: 20, octetsOut: 40 })
    assert.equal(live.read(now + 60_000, 'a', 'b').at, now + 60_000)
  })
})
