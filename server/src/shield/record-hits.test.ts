// Hits over time: every hit is stored exactly once, whatever the store does, and the minutes add up to the counters.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import type { FilterAction } from '../net/filter-rule.ts'
import { parsePrefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { hitRows, HitsRecorder, type RuleCount } from './record-hits.ts'

const minuteMs = 60_000
const startMs = Date.parse('2026-03-14T12:00:00Z')

const count = (packets: number, action: FilterAction = { kind: 'deny' }): RuleCount => ({
  teamId: 7,
  rule: { id: 41, match: { destination: parsePrefix('203.0.113.0/25') }, action },
  packets,
  bytes: packets * 100,
})

const total = (rows: ReturnType<typeof hitRows>, kind: 'matched' | 'dropped') => ({
  packets: rows.reduce((sum, row) => sum + row[kind].packets, 0),
  bytes: rows.reduce((sum, row) => sum + row[kind].bytes, 0),
})

describe('the hits of a reading', () => {
  it('are spread over its minutes and add up', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10 * minuteMs }),
        fc.integer({ min: 1, max: 60 * minuteMs }),
        fc.integer({ min: 1, max: 1e9 }),
        (from, lasted, packets) => {
          const rows = hitRows([count(packets)], startMs + from, startMs + from + lasted)
          assert.deepEqual(total(rows, 'matched'), { packets, bytes: packets * 100 })
          assert.deepEqual(total(rows, 'dropped'), { packets, bytes: packets * 100 })
          for (const { time } of rows) {
            assert.equal(time % 60, 0)
            assert.ok(time * 1000 > startMs + from - minuteMs && time * 1000 < startMs + from + lasted)
          }
        },
      ),
    )
    const rows = hitRows([count(100)], startMs + 45_000, startMs + 65_000)
    assert.deepEqual(
      rows.map(({ time, matched }) => [time * 1000 - startMs, matched.packets]),
      [
        [0, 75],
        [minuteMs, 25],
      ],
    )
  })

  it('are left out if the time is unknown or long', () => {
    assert.deepEqual(hitRows([count(5)], startMs, startMs), [])
    assert.deepEqual(hitRows([count(5)], startMs, startMs + 3_600_001), [])
  })

  it('were dropped by their action: all, none, or what exceeded the rate', () => {
    const dropped = (action: FilterAction) =>
      total(hitRows([count(1_000, action)], startMs, startMs + 10_000), 'dropped')
    assert.deepEqual(dropped({ kind: 'allow' }), { packets: 0, bytes: 0 })
    assert.deepEqual(dropped({ kind: 'rate_limit', pps: 25 }), { packets: 750, bytes: 75_000 })
    assert.deepEqual(dropped({ kind: 'rate_limit', bps: 8 * 2_500 }), { packets: 750, bytes: 75_000 })
    assert.deepEqual(dropped({ kind: 'rate_limit', pps: 100 }), { packets: 0, bytes: 0 })
  })
})

describe('recorded hits', () => {
  let store: TestFlowStore
  before(async () => {
    store = await createTestFlowStore()
  })
  after(() => store[Symbol.asyncDispose]())

  it('are stored once through failures of the store, and never fail the loop', async () => {
    let now = startMs
    let failure: 'none' | 'before' | 'after' | 'refused' = 'none'
    const reports: unknown[] = []
    const recorder = new HitsRecorder({
      scrubber: 'edge',
      encode: encodeNativeBlock,
      now: () => now,
      report: (error) => reports.push(error),
      flowStore: {
        insert: async (...args) => {
          if (failure === 'before') throw new DriverError('unreachable', 'gone')
          if (failure === 'refused') throw new DriverError('refused', 'not this block')
          await store.insert(...args)
          if (failure === 'after') throw new DriverError('unreachable', 'gone after the insert')
        },
      },
    })
    const read = async (packets: number, as: typeof failure = 'none') => {
      failure = as
      await recorder.record([count(packets)])
      now += 10_000
    }
    await read(1_000_000)
    await read(1)
    await read(2, 'before')
    await read(4, 'after')
    await read(8)
    await read(1_000_000, 'refused')
    await read(16)
    recorder.pause()
    await read(1_000_000)
    await read(32)
    assert.equal(reports.length, 3)
    const rows = await store.query<Record<string, number | string>>(
      `select team_id, rule_id, toString(first_addr) as first, toString(last_addr) as last, toUInt32(time) as minute,
        sum(packets) as p, sum(bytes) as b, sum(dropped_packets) as d, sum(dropped_bytes) as db
      from shield_hits group by all order by minute`,
      {},
    )
    assert.deepEqual(
      rows.map(({ minute, p }) => [Number(minute) * 1000 - startMs, p]),
      [
        [0, 31],
        [minuteMs, 32],
      ],
    )
    assert.deepEqual(
      [rows[0]!['team_id'], rows[0]!['rule_id'], rows[0]!['first'], rows[0]!['last']],
      [7, 41, '::ffff:203.0.113.0', '::ffff:203.0.113.127'],
    )
    assert.deepEqual([rows[0]!['b'], rows[0]!['d'], rows[0]!['db']], [3_100, 31, 3_100])
  })
})
