// I7: the 95th percentile of samples with a known answer, compared with LibreNMS' formula and rrdtool. The peers are
// compared by their answers, not by their speed.
import { join } from 'node:path'
import { libreNms95, rrdtoolPercent } from '../../lab/src/percentile-peers.ts'
import { billingGridMs } from '../../server/src/inventory/usage/bucket.ts'
import { percentileOf } from '../../server/src/inventory/usage/percentile.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { times, whole } from './table.ts'

export const percentile: Benchmark = {
  id: 'I7',
  name: 'percentile',
  title: '95th percentile of known samples',
  missing: () => missingPrograms('rrdtool'),
  run,
}

type Case = {
  readonly what: string
  /** Null: missing. */
  readonly samples: readonly (number | null)[]
  readonly expected: number
  /** Width of rrdtool's graph in pixels; by default one per sample. */
  readonly width?: number
}

/** 1 to n in another order: steps without a common factor reach every value once. */
const shuffled = (n: number): number[] => Array.from({ length: n }, (_, at) => ((at * 1_009) % n) + 1)
const without = (isMissing: (value: number) => boolean): (number | null)[] =>
  shuffled(100).map((value) => (isMissing(value) ? null : value))

const cases: readonly Case[] = [
  { what: '1 to 2', samples: shuffled(2), expected: 2 },
  { what: '1 to 19', samples: shuffled(19), expected: 19 },
  { what: '1 to 20', samples: shuffled(20), expected: 19 },
  { what: '1 to 100 without the 20 smallest', samples: without((value) => value <= 20), expected: 96 },
  { what: '1 to 100 without the 20 largest', samples: without((value) => value > 80), expected: 76 },
  { what: '7 days', samples: shuffled(2_016), expected: 1_916 },
  { what: '7 days, graph of 400 pixels', samples: shuffled(2_016), expected: 1_916, width: 400 },
  { what: '30 days', samples: shuffled(8_640), expected: 8_208 },
  { what: 'March in Amsterdam', samples: shuffled(8_916), expected: 8_471 },
  { what: 'October in Amsterdam', samples: shuffled(8_940), expected: 8_493 },
]

async function run(bench: Bench): Promise<Line[]> {
  return cases.map(({ width, ...one }, at) => {
    const file = join(bench.folder, `percentile-${at}.rrd`)
    return lineOf(one, rrdtoolPercent(one.samples, { file, ...(width !== undefined && { width }) }))
  })
}

function lineOf({ what, samples, expected }: Case, rrdtool: number): Line {
  const rates = samples.flatMap((value, at) =>
    value === null ? [] : [{ startMs: at * billingGridMs, inBps: value, outBps: 0 }],
  )
  const ours = percentileOf(rates, 'in', 95)?.bps ?? Number.NaN
  return {
    what: `95th of ${what}`,
    result: whole(ours),
    peer: `${whole(rrdtool)} rrdtool, ${whole(libreNms95(samples))} LibreNMS`,
    ratio: times(ours / rrdtool),
    goal: whole(expected),
    reached: ours === expected,
  }
}
