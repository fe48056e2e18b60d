// The SQL of the detector: its source, the teams that thresholds name, what is usual, and attacks that it no longer reports.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import type { Baseline } from './threshold.ts'

export type DetectorSource = { readonly key: string; readonly settings: unknown }

/** The source of kind `flows`; the first by its key if there are several. */
export async function findDetectorSource(db: Db): Promise<DetectorSource | undefined> {
  return db
    .selectFrom('sources')
    .select(['key', 'settings'])
    .where('kind', '=', 'flows')
    .orderBy('key')
    .limit(1)
    .executeTakeFirst()
}

export async function listTeamIds(db: Db, slugs: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (slugs.length === 0) return new Map()
  const rows = await db.selectFrom('teams').select(['id', 'slug']).where('slug', 'in', slugs).execute()
  return new Map(rows.map(({ id, slug }) => [slug, Number(id)]))
}

type BaselineRow = { readonly prefix_id: number; readonly bps: number; readonly pps: number }

/** By prefix: the 99th percentile of the hours of four weeks that are the same hour of the week as `at`, of all incoming traffic. */
export async function readBaselines(store: FlowStore, at: Date): Promise<ReadonlyMap<number, Baseline>> {
  const rows = await store.query<BaselineRow>(
    `select prefix_id, quantileExact(0.99)(hour_bytes) * 8 / 3600 as bps, quantileExact(0.99)(hour_packets) / 3600 as pps
     from (
       select prefix_id, time, sum(bytes) as hour_bytes, sum(packets) as hour_packets
       from flows_by_protocol_1h
       where is_primary = 1 and direction = 'in' and prefix_id > 0
         and time in (select toStartOfHour(toDateTime({at:UInt32}, 'UTC')) - toIntervalHour(168 * number) from numbers(1, 4))
       group by prefix_id, time)
     group by prefix_id`,
    { at: Math.floor(at.getTime() / 1000) },
  )
  return new Map(rows.map(({ prefix_id: id, bps, pps }) => [id, { bps, pps }]))
}

export type SilentAttack = { readonly id: string; readonly network: string | null }

/** Attacks of the source that are ongoing and were not reported for ten minutes: the collector that saw them has ended. */
export async function listSilentAttacks(db: Db, sourceKey: string): Promise<SilentAttack[]> {
  const { rows } = await sql<SilentAttack>`
    select e.source_event_id as id, e.affected_network::text as network from events e
    where e.source_key = ${sourceKey} and e.end_at is null and e.source_received < now() - interval '10 minutes'
    order by e.id limit 1000`.execute(db)
  return rows
}
