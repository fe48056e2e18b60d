// Estimated hits: each flow counts once, for the first rule of the most specific list, and windows that follow each other add up.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../net/prefix.ts'
import { insertFlows, testFlow } from '../flow/testing.ts'
import { createEstimateHits } from './estimate-hits.ts'
import { findStored, type StoredRuleMatch } from './shield-rule.ts'
import type { CompiledList } from './scrubber.ts'

const start = Date.parse('2026-03-14T12:00:00Z')
/** Flows count once they are five seconds old. */
const at = (seconds: number): Date => new Date(start + seconds * 1000)

let store: TestFlowStore
before(async () => {
  store = await createTestFlowStore()
  const to = (dst: string, srcPort: number, rest: object = {}) =>
    testFlow({ time: at(0), dst, srcPort, packets: 2, bytes: 200, ...rest })
  await insertFlows(store, [
    to('203.0.113.7', 53),
    to('203.0.113.7', 53, { samplingRate: 10 }),
    to('203.0.113.200', 53),
    to('203.0.113.7', 123),
    to('203.0.113.7', 53, { time: at(20) }),
    to('203.0.113.7', 53, { isPrimary: false }),
    to('203.0.113.7', 53, { direction: 'out' }),
    to('198.51.100.7', 53),
  ])
})
after(() => store[Symbol.asyncDispose]())

const list = (prefix: string, rules: readonly (readonly [id: number, port: string])[]): CompiledList => ({
  prefix: parsePrefix(prefix),
  rules: rules.map(([id, port]) => ({
    id,
    ...findStored(
      {
        action: 'deny',
        match: { protocol: 'udp', source_port: port, fragment: 'any' } as StoredRuleMatch,
        rate_bps: null,
        rate_pps: null,
      },
      parsePrefix(prefix),
    )!,
  })),
})
const lists = [
  list('203.0.113.0/24', [
    [1, '53,123'],
    [2, '53'],
  ]),
  list('203.0.113.0/25', [[3, '53']]),
]

it('counts each flow for the first rule that matches, of the most specific list', async () => {
  const estimate = createEstimateHits(store, assert.ifError)
  const hits = await estimate(lists, at(0), at(10))
  assert.deepEqual([...hits].toSorted(), [
    [1, { packets: 4, bytes: 400 }],
    [3, { packets: 22, bytes: 2200 }],
  ])
})

it('counts no flow twice in windows that follow each other', async () => {
  const estimate = createEstimateHits(store, assert.ifError)
  let packets = 0
  for (let second = 0; second < 40; second += 3)
    packets += (await estimate(lists, at(second), at(second + 3))).get(3)?.packets ?? 0
  assert.equal(packets, 24)
})

it('has no hits without lists, and if the flows cannot be read', async () => {
  const reported: unknown[] = []
  const broken = { query: () => Promise.reject(new Error('no answer')) }
  const estimate = createEstimateHits(broken as never, (error) => reported.push(error))
  assert.equal((await estimate([], at(0), at(10))).size, 0)
  assert.equal((await estimate(lists, at(0), at(10))).size, 0)
  assert.equal(reported.length, 1)
})
