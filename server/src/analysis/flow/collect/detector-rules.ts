// The rules of the detector in the collector: thresholds of teams and prefixes, the defaults of its source, and the usual traffic of prefixes.
import { join } from 'node:path'
import type { Db } from '../../../db/postgres.ts'
import type { DetectorRules } from '../../detector/detector.ts'
import { parsePrefix } from '../../../net/prefix.ts'
import type { Baseline, Threshold } from '../../detector/threshold.ts'
import { readDefaults } from '../../sources/flows.ts'
import type { FlowStore } from '../flow-store.ts'
import { readBaselineFile, writeBaselineFile } from './baseline-file.ts'

/** Where its reports go: the first source of kind `flows`. */
export type DetectorSource = { readonly key: string; readonly settings: unknown }

export async function findDetectorSource(db: Db): Promise<DetectorSource | undefined> {
  return await db
    .selectFrom('sources')
    .select(['key', 'settings'])
    .where('kind', '=', 'flows')
    .orderBy('key')
    .limit(1)
    .executeTakeFirst()
}

/** The baselines of an hour: they are read once in it, and kept in the file. */
export type BaselineCache = { readonly path: string; hour: number; baselines: ReadonlyMap<number, Baseline> }

/** The baselines are those of the former run. */
export function createBaselineCache(dir: string): BaselineCache {
  const path = join(dir, 'baselines')
  return { path, hour: -1, baselines: readBaselineFile(path) }
}

/** If the store does not answer, the former baselines stay in use, over restarts: without them usual traffic would be an attack. */
export async function readDetectorRules(
  db: Db,
  store: FlowStore,
  { settings }: DetectorSource,
  nowSeconds: number,
  cache: BaselineCache,
): Promise<DetectorRules> {
  const thresholds = [...(await listThresholds(db)), ...readDefaults(settings)]
  if (thresholds.some(({ ratio }) => ratio !== undefined)) await refreshBaselines(store, nowSeconds, cache)
  return {
    thresholds,
    baselines: cache.baselines,
  }
}

async function listThresholds(db: Db): Promise<Threshold[]> {
  const rows = await db
    .selectFrom('detector_thresholds')
    .select(['team_id', 'prefix', 'bps', 'pps', 'ratio', 'network_bps', 'network_pps'])
    .orderBy('id')
    .execute()
  return rows.map(({ team_id: teamId, prefix, bps, pps, ratio, network_bps, network_pps }) => ({
    teamId,
    ...(prefix !== null && { prefix: parsePrefix(prefix) }),
    ...(bps !== null && { bps }),
    ...(pps !== null && { pps }),
    ...(ratio !== null && { ratio }),
    ...(network_bps !== null && { networkBps: network_bps }),
    ...(network_pps !== null && { networkPps: network_pps }),
  }))
}

async function refreshBaselines(store: FlowStore, nowSeconds: number, cache: BaselineCache): Promise<void> {
  const hour = Math.floor(nowSeconds / 3600)
  if (hour === cache.hour) return
  const found = await readBaselines(store, nowSeconds).catch(() => undefined)
  if (!found) return
  cache.hour = hour
  cache.baselines = found
  await writeBaselineFile(cache.path, found)
}

const weeks = 4

/** The 99th percentile of the traffic to each prefix in this hour of the week. */
export async function readBaselines(
  store: FlowStore,
  nowSeconds: number,
): Promise<ReadonlyMap<number, Baseline>> {
  const hour = Math.floor(nowSeconds / 3600) * 3600
  const rows = await store.query<{ prefix_id: number; bps: number; pps: number }>(
    `select prefix_id, quantileExact(0.99)(hour_bps) as bps, quantileExact(0.99)(hour_pps) as pps
     from (
       select prefix_id, time, sum(bytes) * 8 / 3600 as hour_bps, sum(packets) / 3600 as hour_pps
       from flows_by_protocol_1h
       where direction in ('in', 'internal') and prefix_id > 0 and toUnixTimestamp(time) in {hours:Array(UInt32)}
       group by prefix_id, time)
     group by prefix_id`,
    { hours: Array.from({ length: weeks }, (_, week) => hour - (week + 1) * 7 * 86_400) },
    { resultRows: 10_000_000 },
  )
  return new Map(rows.map(({ prefix_id: id, bps, pps }) => [id, { bps, pps }]))
}
