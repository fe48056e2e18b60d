// The SQL of the attacks on networks of a team in a window of time.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'

export type AttackWindow = {
  readonly network: Prefix
  readonly startMs: number
  /** Null while it is not over. */
  readonly endMs: number | null
}

/** The longest onset of an attack: the time before its event begins (attack-condition.ts). */
export const onsetMsMax = 60_000

/** Limit of distinguished windows: a carpet has some hundred networks. */
const windowsMax = 1_000

/** Lists the targets of the team's events that overlap the window with their onset, without events marked as false. */
export async function listAttackWindows(
  db: Db,
  teamId: number,
  window: { readonly startMs: number; readonly endMs: number },
  prefix?: Prefix,
): Promise<AttackWindow[]> {
  const until = new Date(window.endMs + onsetMsMax)
  const from = new Date(window.startMs)
  const { rows } = await sql<AttackWindow>`
    select n.network, extract(epoch from t.start_at)::float8 * 1000 as "startMs",
      extract(epoch from t.end_at)::float8 * 1000 as "endMs"
    from team_events t join events e on e.id = t.event_id
      cross join lateral (
        select e.affected_network as network where e.affected_network is not null
        union
        select m.network from event_networks m where m.event_id = e.id) n
    where t.team_id = ${teamId} and t.start_at < ${until} and (t.end_at is null or t.end_at > ${from})
      and not 'FALSE_POSITIVE' = any(e.status)
      ${prefix === undefined ? sql`` : sql`and n.network && ${prefix}::inet`}
    order by t.start_at desc, n.network limit ${sql.lit(windowsMax)}`.execute(db)
  return rows
}
