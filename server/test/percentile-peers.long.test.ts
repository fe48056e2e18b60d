// Percentiles of billing compared with rrdtool and LibreNMS, over random samples: the difference is the rank that each
// documents.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { libreNms95, rrdtoolPercent } from '../../lab/src/percentile-peers.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { billingGridMs } from '../src/inventory/usage/bucket.ts'
import { percentileOf } from '../src/inventory/usage/percentile.ts'
import { scaled } from '../src/runtime/testing-scale.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-percentile-'))
after(() => rmSync(folder, { recursive: true }))

const ours = (samples: readonly number[], percent: number): number =>
  percentileOf(
    samples.map((inBps, at) => ({ startMs: at * billingGridMs, inBps, outBps: 0 })),
    'in',
    percent,
  )!.bps

const sampleList = (minLength: number) =>
  fc.array(fc.integer({ min: 0, max: 400_000_000_000 }), { minLength, maxLength: 300 })

describe('a percentile of billing', () => {
  it(
    'has the rank of rrdtool, or the next one where rrdtool rounds down',
    { skip: skipWithout('rrdtool') },
    () => {
      let file = 0
      fc.assert(
        fc.property(sampleList(20), fc.constantFrom(90, 95, 98), (samples, percent) => {
          const theirs = rrdtoolPercent(samples, { file: join(folder, `${file++}.rrd`), percent })
          const sorted = samples.toSorted((a, b) => a - b)
          assert.equal(theirs, sorted[Math.round((samples.length * percent) / 100) - 1])
          const isRoundedDown =
            Math.ceil((samples.length * percent) / 100) > Math.round((samples.length * percent) / 100)
          assert.equal(
            ours(samples, percent),
            isRoundedDown ? sorted[Math.round((samples.length * percent) / 100)] : theirs,
          )
        }),
        { numRuns: scaled(40) },
      )
    },
  )

  it('is one or two ranks above that of LibreNMS', () => {
    fc.assert(
      fc.property(sampleList(3), (samples) => {
        const sorted = samples.toSorted((a, b) => a - b)
        const theirs = Math.round(samples.length * 0.95) - 2
        assert.equal(libreNms95(samples), sorted[theirs])
        const own = [1, 2].map((ranks) => sorted[theirs + ranks])
        assert.ok(own.includes(ours(samples, 95)))
      }),
    )
  })
})
