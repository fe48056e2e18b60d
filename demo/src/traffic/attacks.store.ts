// The attacks of the demo's events, so that their flows can be made.
import { sql } from 'kysely'
import type { Db } from '../../../server/src/db/postgres.ts'
import { wordsOf, type DemoAttack } from './model.ts'

/** Duration of an attack without an end. */
const ongoingMs = 3_600_000

/**
 * Attacks on single addresses that are ongoing at `since`. Attacks that the collector has found in flows are excluded:
 * they would feed themselves.
 */
export async function listAttacks(db: Db, since: Date): Promise<DemoAttack[]> {
  const { rows } = await sql<{
    target: string
    key: string
    bps: number
    pps: number
    start: Date
    end: Date | null
  }>`
    select host(affected_network) as target, classification_key as key, affected_bps::float8 as bps, affected_pps::float8 as pps,
      start_at as start, end_at as end
    from events
    where source_key in (select key from sources where kind <> 'flows') and affected_network is not null and masklen(affected_network) = case family(affected_network) when 4 then 32 else 128 end
      and coalesce(end_at, now()) >= ${since} and not ('OUTGOING' = any(flags))
    order by start_at`.execute(db)
  return rows.map(({ target, key, bps, pps, start, end }) => ({
    target: wordsOf(target),
    classification: key,
    bps,
    pps: Math.max(pps, bps / 12_000),
    startMs: start.getTime(),
    endMs: end?.getTime() ?? Math.max(Date.now(), start.getTime()) + ongoingMs,
  }))
}
