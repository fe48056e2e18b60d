// The baselines of the detector on disk: a collector that starts while the flow store does not answer uses the last ones, because without
// them usual traffic would be an attack.
import { readFileSync } from 'node:fs'
import { replaceFile } from '../../../runtime/files.ts'
import type { Baseline } from '../../detector/threshold.ts'

type Row = readonly [prefixId: number, bps: number, pps: number]

/** Empty if there is no file that can be read. */
export function readBaselineFile(path: string): ReadonlyMap<number, Baseline> {
  try {
    const rows = JSON.parse(readFileSync(path, 'utf8')) as readonly Row[]
    return new Map(rows.map(([id, bps, pps]) => [id, { bps, pps }]))
  } catch {
    return new Map()
  }
}

/** A file that cannot be written is missing only at the next start: the former one stays. */
export async function writeBaselineFile(
  path: string,
  baselines: ReadonlyMap<number, Baseline>,
): Promise<void> {
  const rows = [...baselines].map(([id, { bps, pps }]): Row => [id, bps, pps])
  await replaceFile(path, JSON.stringify(rows)).catch(() => {})
}
