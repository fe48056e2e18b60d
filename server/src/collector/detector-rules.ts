// The rules of the detector in the collector: thresholds of teams and prefixes, the defaults of its source, and the usual traffic of prefixes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { parsePrefix } from '../net/prefix.ts'
import type { Threshold } from '../flow/threshold.ts'
import type { DetectorRules, RateLimits } from './detector/limits.ts'
import { parseDefaults } from '../events/sources/flows.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import { replaceFile } from '../runtime/files.ts'

/** Source of its reports: the first source of kind `flows`. */
export type ReportSource = { readonly key: string; readonly settings: unknown }

export async function findDetectorSource(db: Db): Promise<ReportSource | undefined> {
  return await db
    .selectFrom('sources')
    .select(['key', 'settings'])
    .where('kind', '=', 'flows')
    .orderBy('key')
    .limit(1)
    .executeTakeFirst()
}

/** The baselines of an hour: they are read once in it, and kept in the file. */
export type BaselineCache = { readonly path: string; hour: number; baselines: Baselines }

/** The baselines of the former run. */
export function createBaselineCache(dir: string): BaselineCache {
  const path = join(dir, 'baselines')
  return { path, hour: -1, baselines: readBaselineFile(path) }
}

/**
 * If the store does not answer, the former baselines stay in use, over restarts: without them usual traffic would be an
 * attack. `hosts` are hosts whose usual traffic is needed, as networks of full length.
 */
export async function readDetectorRules(
  db: Db,
  store: FlowStore,
  { settings }: ReportSource,
  nowSeconds: number,
  cache: BaselineCache,
  hosts: readonly string[] = [],
): Promise<DetectorRules> {
  const thresholds = [...(await listThresholds(db)), ...parseDefaults(settings)]
  const portSpeeds = await listPortSpeeds(db)
  const hasRatio = thresholds.some(({ ratio }) => ratio !== undefined)
  if (thresholds.length > 0) await refreshBaselines(store, nowSeconds, cache, hasRatio ? hosts : [])
  return { thresholds, portSpeeds, baselines: cache.baselines.prefixes, usual: cache.baselines.hosts }
}

async function listThresholds(db: Db): Promise<Threshold[]> {
  const rows = await db.selectFrom('detector_thresholds').selectAll().orderBy('id').execute()
  return rows.map((row) => ({
    teamId: row.team_id,
    ...(row.prefix !== null && { prefix: parsePrefix(row.prefix) }),
    ...(row.managed_by === 'team' && { ofTeam: true }),
    ...(row.locked && { isLocked: true }),
    ...(row.bps !== null && { bps: row.bps }),
    ...(row.pps !== null && { pps: row.pps }),
    ...(row.ratio !== null && { ratio: row.ratio }),
    ...(row.network_bps !== null && { networkBps: row.network_bps }),
    ...(row.network_pps !== null && { networkPps: row.network_pps }),
    ...(row.outgoing_bps !== null && { outgoingBps: row.outgoing_bps }),
    ...(row.outgoing_pps !== null && { outgoingPps: row.outgoing_pps }),
    ...(row.min_seconds !== null && { minSeconds: row.min_seconds }),
  }))
}

/** Sum of the speeds of the ports of each team, in bit/s, except teams with a port of unknown speed. */
async function listPortSpeeds(db: Db): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ team_id: number; bps: number }>`
    select a.team_id, sum(coalesce(p.speed_bps, i.speed_bps))::float8 as bps
    from port_assignments a join ports p on p.id = a.port_id left join interfaces i on i.id = p.interface_id
    where a.valid @> now() and p.ended is null
    group by a.team_id having bool_and(coalesce(p.speed_bps, i.speed_bps) > 0)`.execute(db)
  return new Map(rows.map(({ team_id: teamId, bps }) => [teamId, bps]))
}

async function refreshBaselines(
  store: FlowStore,
  nowSeconds: number,
  cache: BaselineCache,
  hosts: readonly string[],
): Promise<void> {
  const hour = Math.floor(nowSeconds / 3600)
  if (hour === cache.hour) return
  const prefixes = await readBaselines(store, nowSeconds).catch(() => undefined)
  if (!prefixes) return
  cache.hour = hour
  // Raw flows of a large installation may be too many to read.
  const found = await readUsualOfHosts(store, nowSeconds, hosts).catch(() => cache.baselines.hosts)
  cache.baselines = { prefixes, hosts: found }
  await writeBaselineFile(cache.path, cache.baselines)
}

const weeks = 4
/** With fewer weeks or days the usual traffic is unknown. */
const samplesMin = 3

/** The 99th percentile of the traffic to each prefix in this hour of the week. */
export async function readBaselines(
  store: FlowStore,
  nowSeconds: number,
): Promise<ReadonlyMap<number, RateLimits>> {
  const hour = Math.floor(nowSeconds / 3600) * 3600
  const rows = await store.query<{ prefix_id: number; bps: number; pps: number }>(
    `select prefix_id, quantileExact(0.99)(hour_bps) as bps, quantileExact(0.99)(hour_pps) as pps
     from (
       select prefix_id, time, sum(bytes) * 8 / 3600 as hour_bps, sum(packets) / 3600 as hour_pps
       from flows_by_protocol_1h
       where direction in ('in', 'internal') and prefix_id > 0 and toUnixTimestamp(time) in {hours:Array(UInt32)}
       group by prefix_id, time)
     group by prefix_id having count() >= {samplesMin:UInt32}`,
    { hours: Array.from({ length: weeks }, (_, week) => hour - (week + 1) * 7 * 86_400), samplesMin },
    { resultRows: 10_000_000 },
  )
  return new Map(rows.map(({ prefix_id: id, bps, pps }) => [id, { bps, pps }]))
}

/** The 99th percentile of the traffic to hosts in five minutes, at this hour with half an hour around it, of the last seven days. */
export async function readUsualOfHosts(
  store: FlowStore,
  nowSeconds: number,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, RateLimits>> {
  if (hosts.length === 0) return new Map()
  const hour = Math.floor(nowSeconds / 3600) * 3600
  const days = [1, 2, 3, 4, 5, 6, 7]
  const during = days.map((day) => `time >= {from${day}:DateTime} and time < {until${day}:DateTime}`)
  const params = Object.fromEntries(
    days.flatMap((day) => [
      [`from${day}`, hour - day * 86_400 - 1800],
      [`until${day}`, hour - day * 86_400 + 5400],
    ]),
  )
  const rows = await store.query<{ address: string; bps: number; pps: number }>(
    `select toString(dst_addr) as address, quantileExact(0.99)(slot_bps) as bps, quantileExact(0.99)(slot_pps) as pps
     from (
       select dst_addr, toStartOfFiveMinutes(time) as slot, sum(bytes * greatest(sampling_rate, 1)) * 8 / 300 as slot_bps,
         sum(packets * greatest(sampling_rate, 1)) / 300 as slot_pps
       from flows
       where is_primary = 1 and direction in ('in', 'internal') and (${during.join(' or ')})
         and dst_addr in (select toIPv6(arrayJoin({hosts:Array(String)})))
       group by dst_addr, slot)
     group by dst_addr having uniqExact(intDiv(toUnixTimestamp(slot) - {from7:UInt32}, 86400)) >= {samplesMin:UInt32}`,
    { ...params, hosts: hosts.map((host) => host.replace(/\/.*/, '')), samplesMin },
    { resultRows: 10_000 },
  )
  return new Map(rows.map(({ address, bps, pps }) => [hostOf(address), { bps, pps }]))
}

function hostOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=.*\.)/, '')
  return parsePrefix(`${plain}/${plain.includes(':') ? 128 : 32}`)
}

/** Usual traffic in an hour: of prefixes by their id, and of hosts by their network. */
type Baselines = {
  readonly prefixes: ReadonlyMap<number, RateLimits>
  readonly hosts: ReadonlyMap<string, RateLimits>
}

/** The id of a prefix, or a host. */
type Row = readonly [target: number | string, bps: number, pps: number]

/** Empty if there is no file that can be read. */
function readBaselineFile(path: string): Baselines {
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
async function writeBaselineFile(path: string, { prefixes, hosts }: Baselines): Promise<void> {
  const rows = [...prefixes, ...hosts].map(([target, { bps, pps }]): Row => [target, bps, pps])
  await replaceFile(path, JSON.stringify(rows)).catch(() => {})
}
