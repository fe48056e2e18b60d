// Buckets: no octet is lost or doubled, and rrdtool finds the same rates.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { programPath, skipWithout } from '../../../../lab/src/program.ts'
import {
  type BucketRate,
  billingGridMs,
  bpsOf,
  completeMs,
  mergeParts,
  minuteMs,
  rateOf,
  spread,
  sumMembers,
} from './bucket.ts'
import { deltaOf } from './delta.ts'
import { mapCounters } from './reading.ts'
import { createRow, laterRow } from './testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const all = (value: bigint | null) => mapCounters(() => value)
const sumOf = (values: readonly (bigint | null)[]) => values.reduce<bigint>((sum, value) => sum + value!, 0n)
const runs = scaled(3_000)
const start = Date.UTC(2026, 0, 1)

describe('an increase in buckets', () => {
  const poll = fc.record({
    ms: fc.integer({ min: 1, max: 900_000 }),
    octets: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  })

  it('adds up to itself, on both grids, and covers its time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), fc.array(poll, { maxLength: 20 }), (at, polls) => {
        const minutes = []
        const coarse = []
        let endMs = at
        for (const { ms, octets } of polls) {
          const increase = { startMs: endMs, endMs: endMs + ms, values: all(octets) }
          minutes.push(...spread(increase, minuteMs))
          coarse.push(...spread(increase, billingGridMs))
          endMs += ms
        }
        const [byMinute, byFive] = [mergeParts(minutes), mergeParts(coarse)]
        for (const buckets of [byMinute, byFive]) {
          assert.equal(
            sumOf(buckets.map(({ values }) => values.octetsIn)),
            sumOf(polls.map((one) => one.octets)),
          )
          assert.equal(
            buckets.reduce((sum, { coveredMs }) => sum + coveredMs, 0),
            endMs - at,
          )
        }
        const regrouped = byMinute.map((one) => ({
          ...one,
          startMs: Math.floor(one.startMs / billingGridMs) * billingGridMs,
        }))
        assert.deepEqual(mergeParts(regrouped), byFive)
      }),
      { numRuns: runs },
    )
  })

  it('is unknown where a part of it is', () => {
    const parts = [
      ...spread({ startMs: start, endMs: start + 200_000, values: all(null) }, billingGridMs),
      ...spread({ startMs: start + 200_000, endMs: start + 600_000, values: all(400n) }, billingGridMs),
    ]
    assert.deepEqual(
      mergeParts(parts).map(({ values }) => values.octetsIn),
      [null, 300n],
    )
  })
})

describe('the rate of a bucket', () => {
  it('is over the time that it covers; below 150 s it is missing', () => {
    const both = (octets: number | null) => ({ octetsIn: octets, octetsOut: octets })
    const bucket = { startMs: start, coveredMs: 150_000, values: both(18_750_007) }
    assert.deepEqual(rateOf(bucket), { startMs: start, inBps: 1_000_000, outBps: 1_000_000 })
    assert.equal(rateOf({ ...bucket, coveredMs: 149_999 }), undefined)
    assert.equal(rateOf({ ...bucket, values: both(null) }), undefined)
  })

  it('is exact, as in integers of any size', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 300_000 }), (value, coveredMs) => {
        const octets = Math.abs(value) % (coveredMs * 2 ** 40)
        assert.equal(BigInt(bpsOf(octets, coveredMs)), (BigInt(octets) * 8_000n) / BigInt(coveredMs))
      }),
      { numRuns: runs },
    )
  })

  it('of several ports is their sum where each port that was up has one', () => {
    const rate = (index: number, bps: number): BucketRate => ({
      startMs: start + index * billingGridMs,
      inBps: bps,
      outBps: 2 * bps,
    })
    const up = () => true
    const members = [
      { rates: [rate(0, 10), rate(1, 10), rate(2, 10)], wasUp: up },
      { rates: [rate(0, 5), rate(2, 5)], wasUp: up },
      { rates: [rate(0, 1)], wasUp: (ms: number) => ms === start },
    ]
    assert.deepEqual(sumMembers(members), [rate(0, 16), rate(2, 15)])
  })
})

describe('the buckets of jittered and lost polls', { skip: skipWithout('rrdtool') }, () => {
  it('have the rates that rrdtool finds for a DERIVE', () => {
    const rows = pollsOf(2_720 * 5, 7)
    const parts = rows.slice(1).flatMap((row, index) => {
      const delta = deltaOf(rows[index]!, row, { speedBps: 10e9, isReplaced: false })
      return delta.kind === 'counted' ? spread(delta, billingGridMs) : []
    })
    const ours = new Map(mergeParts(parts).map((bucket) => [bucket.startMs, bucket]))
    const theirs = rrdRates(rows)
    assert.ok(theirs.size > 2_700)
    for (const [startMs, bps] of theirs) {
      const own = ours.get(startMs)
      const rate =
        own && own.coveredMs >= completeMs ? bpsOf(Number(own.values.octetsIn), own.coveredMs) : undefined
      // In the bucket after a gap rrdtool counts whole seconds, and has a rate even if most of the bucket is unknown.
      if (Number.isNaN(bps)) assert.equal(rate, undefined)
      else if (rate === undefined) assert.ok(own!.coveredMs < 150_000)
      else {
        const tolerance = own!.coveredMs === billingGridMs ? 1e-8 : 1 / 150
        assert.ok(Math.abs(rate - bps) <= tolerance * bps, `${startMs}: ${rate} ${bps}`)
      }
    }
  })
})

/** Polls about every minute, of which 5 % are lost, and every 400th begins a gap of 20 minutes; 1 to 3 Gbit/s. */
function pollsOf(count: number, seed: number) {
  let state = seed
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const rows = [createRow({ at: start })]
  for (let index = 1; index < count; index++) {
    const lost = index % 400 === 0 ? 20 : random() < 0.05 ? 1 : 0
    const ms = Math.round((60_000 * (1 + lost) + 4_000 * (random() - 0.5)) / 10) * 10
    const octets = BigInt(Math.round((1 + 2 * random()) * 125_000)) * BigInt(ms)
    const last = rows.at(-1)!
    rows.push(laterRow(last, ms, { octetsIn: last.octetsIn! + octets }))
  }
  return rows.filter(({ at }) => at < start + 2_720 * billingGridMs)
}

/** bit/s by the start of each closed bucket; NaN if missing. */
function rrdRates(rows: ReturnType<typeof pollsOf>): Map<number, number> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-rrd-'))
  try {
    const run = (...args: string[]) =>
      execFileSync(programPath('rrdtool'), args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 })
    const seconds = start / 1000
    const updates = rows.map(({ at, octetsIn }) => `${(at / 1000).toFixed(3)}:${octetsIn}`)
    const archive = 'DS:in:DERIVE:900:0:U RRA:AVERAGE:0.5:1:4000'
    run('create', 'a.rrd', '--start', String(seconds - 300), '--step', '300', ...archive.split(' '))
    for (let at = 0; at < updates.length; at += 1_000)
      run('update', 'a.rrd', ...updates.slice(at, at + 1_000))
    const end = Math.floor(rows.at(-1)!.at / billingGridMs) * 300
    const text = run('fetch', 'a.rrd', 'AVERAGE', '--start', String(seconds), '--end', String(end - 300))
    // A line is labelled with the end of its bucket.
    const lines = text.split('\n').flatMap((line) => /^(\d+): (\S+)$/.exec(line) ?? [])
    return new Map(
      Array.from({ length: lines.length / 3 }, (_, index) => [
        (Number(lines[3 * index + 1]) - 300) * 1000,
        lines[3 * index + 2]!.includes('nan') ? Number.NaN : 8 * Number(lines[3 * index + 2]),
      ]),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
