// Percentiles as rrdtool and LibreNMS count them, to compare with. Independent of Pharos.
import { execFileSync } from 'node:child_process'
import { programPath } from './program.ts'

/** Null: missing. */
export type PeerSamples = readonly (number | null)[]

/** The value at index `round(n * 0.95) - 2`, from 0, of the samples in ascending order. */
export function libreNms95(samples: PeerSamples): number {
  const sorted = samples.filter((value) => value !== null).sort((a, b) => a - b)
  return sorted[Math.round(sorted.length * 0.95) - 2] ?? Number.NaN
}

const start = Date.UTC(2026, 0, 1) / 1000
const step = 300

/**
 * The PERCENT of a graph over all samples of 5 minutes. `file`: a path for the archive; `width`: of the graph in
 * pixels, by default one per sample.
 */
export function rrdtoolPercent(
  samples: PeerSamples,
  {
    file,
    percent = 95,
    width,
  }: { readonly file: string; readonly percent?: number; readonly width?: number },
): number {
  const rrdtool = (...args: string[]) => execFileSync(programPath('rrdtool'), args, { encoding: 'utf8' })
  const archive = ['DS:v:GAUGE:600:U:U', `RRA:AVERAGE:0.5:1:${samples.length + 10}`]
  rrdtool('create', file, '--start', String(start - step), '--step', String(step), ...archive)
  const updates = samples.map((value, at) => `${start + step * at}:${value ?? 'U'}`)
  for (let at = 0; at < updates.length; at += 1_000) rrdtool('update', file, ...updates.slice(at, at + 1_000))
  const period = ['--start', String(start - step), '--end', String(start + step * (samples.length - 1))]
  const size = ['--width', String(Math.max(10, width ?? samples.length))]
  const value = [`DEF:v=${file}:v:AVERAGE`, `VDEF:p=v,${percent},PERCENT`, 'PRINT:p:%.6lf']
  // The first line is the size of the image.
  return Number(
    rrdtool('graph', '/dev/null', ...period, ...size, ...value)
      .trim()
      .split('\n')
      .at(-1),
  )
}
