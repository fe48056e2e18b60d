// I7: the 95th percentile of samples whose answer is known, beside those of LibreNMS' formula and of rrdtool. The peers are there for their
// answers, not for their speed.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { programPath } from '../../lab/src/program.ts'
import { billingGridMs } from '../../server/src/inventory/usage/bucket.ts'
import { percentile95 } from '../../server/src/inventory/usage/percentile.ts'
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
  /** Width of rrdtool's graph in pixels; by default one for each sample. */
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
  return cases.map((one, at) => lineOf(one, rrdtoolAnswer(one, join(bench.folder, `percentile-${at}.rrd`))))
}

function lineOf({ what, samples, expected }: Case, rrdtool: number): Line {
  const rates = samples.flatMap((value, at) =>
    value === null ? [] : [{ startMs: at * billingGridMs, inBps: value, outBps: 0 }],
  )
  const ours = percentile95(rates, 'in')?.bps ?? Number.NaN
  return {
    what: `95th of ${what}`,
    result: whole(ours),
    peer: `${whole(rrdtool)} rrdtool, ${whole(libreNmsAnswer(samples))} LibreNMS`,
    ratio: times(ours / rrdtool),
    goal: whole(expected),
    reached: ours === expected,
  }
}

/** The value at index `round(n * 0.95) - 2`, from 0. */
function libreNmsAnswer(samples: readonly (number | null)[]): number {
  const sorted = samples.filter((value) => value !== null).sort((a, b) => a - b)
  return sorted[Math.round(sorted.length * 0.95) - 2] ?? Number.NaN
}

const start = Date.UTC(2026, 0, 1) / 1000
const step = billingGridMs / 1000

/** The PERCENT of a graph over all samples. */
function rrdtoolAnswer({ samples, width }: Case, file: string): number {
  const rrdtool = (...args: string[]) => execFileSync(programPath('rrdtool'), args, { encoding: 'utf8' })
  const archive = ['DS:v:GAUGE:600:U:U', `RRA:AVERAGE:0.5:1:${samples.length + 10}`]
  rrdtool('create', file, '--start', String(start - step), '--step', String(step), ...archive)
  const updates = samples.map((value, at) => `${start + step * at}:${value ?? 'U'}`)
  for (let at = 0; at < updates.length; at += 1_000) rrdtool('update', file, ...updates.slice(at, at + 1_000))
  const period = ['--start', String(start - step), '--end', String(start + step * (samples.length - 1))]
  const size = ['--width', String(Math.max(10, width ?? samples.length))]
  const value = [`DEF:v=${file}:v:AVERAGE`, 'VDEF:p=v,95,PERCENT', 'PRINT:p:%.6lf']
  // The first line is the size of the image.
  return Number(
    rrdtool('graph', '/dev/null', ...period, ...size, ...value)
      .trim()
      .split('\n')
      .at(-1),
  )
}
