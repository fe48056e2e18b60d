import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type ScrubberFixture, scrubberConformance } from '../../shield/scrubber.conformance.ts'
import type { RuleHits, RuleId, Scrubber } from '../../shield/scrubber.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { ScrubberSettings } from '../../shield/scrubber-driver.ts'
import { createScrubber, scrubberDrivers } from '../scrubbers.ts'
import { type SandboxMemory, SandboxScrubber } from './scrubber.ts'

const ownerOf = (settings: ScrubberSettings) => scrubberDrivers.find(settings['kind'])?.ownerOf(settings)

scrubberConformance('sandbox', makeFixture)

it('has no hits without an estimate', async () => {
  const scrubber = createScrubber({ kind: 'sandbox' }, { name: 'edge', rulesMax: 10 })
  assert.equal(scrubber.can.hits, false)
  assert.deepEqual(await scrubber.hits(), new Map())
})

it('asks for the flows since it was asked before, once', async () => {
  let now = new Date('2026-03-01T10:00:00Z')
  const asked: string[][] = []
  const scrubber = new SandboxScrubber({
    name: 'edge',
    rulesMax: 10,
    latencyMs: 0,
    now: () => now,
    estimateHits: async (_, start, end) => {
      asked.push([start, end].map((at) => at.toISOString().slice(11, 19)))
      return new Map([[1, { packets: 2, bytes: 200 }]])
    },
  })
  const prefix = parsePrefix('203.0.113.0/24')
  await scrubber.apply([
    { prefix, rules: [{ id: 1, match: { destination: prefix }, action: { kind: 'deny' } }] },
  ])
  for (const time of ['10:01:00', '10:02:30']) {
    now = new Date(`2026-03-01T${time}Z`)
    await scrubber.hits()
  }
  assert.deepEqual(asked, [
    ['10:00:00', '10:01:00'],
    ['10:01:00', '10:02:30'],
  ])
  assert.deepEqual((await scrubber.hits()).get(1), { packets: 6, bytes: 600 })
})

it('is created from checked settings only', () => {
  assert.deepEqual(scrubberDrivers.check({ kind: 'sandbox', latency_ms: 5 }), [])
  assert.match(scrubberDrivers.check({ kind: 'xdp' })[0]!.message, /^the kind of a scrubber is sandbox/)
  assert.match(scrubberDrivers.check({ kind: 'sandbox', owner: 'x' })[0]!.message, /not a known field/)
  assert.equal(ownerOf({ kind: 'sandbox' }), undefined)
  assert.throws(
    () => createScrubber({ kind: 'xdp' }, { name: 'edge', rulesMax: 1 }),
    /scrubber edge: the kind/,
  )
})

async function makeFixture(): Promise<ScrubberFixture> {
  const memory: SandboxMemory = new Map()
  let sent: { readonly decided: RuleId; readonly count: number }[] = []
  const estimateHits = async (): Promise<Map<RuleId, RuleHits>> => {
    const counted = new Map<RuleId, RuleHits>()
    for (const { decided, count } of sent) {
      const before = counted.get(decided) ?? { packets: 0, bytes: 0 }
      counted.set(decided, { packets: before.packets + count, bytes: before.bytes + count * 100 })
    }
    sent = []
    return counted
  }
  const open = (name: string) =>
    new SandboxScrubber({ name, rulesMax: 5_000, latencyMs: 0, memory, estimateHits })
  const scrubber = open('ours')
  const byHand = new Set<Prefix>()
  const absent = open('absent')
  await absent.close()
  return {
    scrubber,
    stranger: open('theirs'),
    connect: (): Scrubber => open('ours'),
    absent: { scrubber: absent, timeoutMs: 100 },
    addByHand: async () => void byHand.add(parsePrefix('203.0.113.77/32')),
    hasByHand: async () => byHand.size > 0,
    clearByHand: async () => byHand.clear(),
    restart: async () => memory.clear(),
    keepsRules: false,
    async interrupt(call) {
      const client = open('ours')
      await client.close()
      await assert.rejects(client.apply([]), DriverError)
      await call()
    },
    decide: async (packets) => packets.map((packet) => scrubber.decide(packet)?.action.kind ?? null),
    async send(packet, count) {
      const decided = scrubber.decide(packet)
      if (decided) sent.push({ decided: decided.id, count })
    },
    stop: () => scrubber.close(),
  }
}
