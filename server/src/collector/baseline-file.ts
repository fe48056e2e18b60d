// The baselines of the detector on disk: a collector that starts while the flow store does not answer uses the last ones, because without
// them usual traffic would be an attack.
import { readFileSync } from 'node:fs'
import { replaceFile } from '../runtime/files.ts'
import type { RateLimits } from './detector/limits.ts'

/** Usual traffic in an hour: of prefixes by their id, and of hosts by their network. */
export type Baselines = {
  readonly prefixes: ReadonlyMap<number, RateLimits>
  readonly hosts: ReadonlyMap<string, RateLimits>
}

/** The id of a prefix, or a host. */
type Row = readonly [target: number | string, bps: number, pps: number]

/** Empty if there is no file that can be read. */
export function readBaselineFile(path: string): Baselines {
  const prefixes = new Map<number, RateLimits>()
  const hosts = new Map<string, RateLimits>()
  try {
    for (const [target, bps, pps] of JSON.parse(readFileSync(path, 'utf8')) as readonly Row[]) {
      if (typeof target === 'number') prefixes.set(target, { bps, pps })
      else hosts.set(target, { bps, pps })
    }
    return { prefixes, hosts }
  } catch {
    return { prefixes: new Map(), hosts: new Map() }
  }
}

/** A file that cannot be written is missing only at the next start: the former one stays. */
export async function writeBaselineFile(path: string, { prefixes, hosts }: Baselines): Promise<void> {
  const rows = [...prefixes, ...hosts].map(([target, { bps, pps }]): Row => [target, bps, pps])
  await replaceFile(path, JSON.stringify(rows)).catch(() => {})
}
