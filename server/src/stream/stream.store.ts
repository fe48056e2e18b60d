// The SQL of the stream: where the outbox ends that nothing can appear in any more, and what a team finds in it.
import { sql } from 'kysely'
import type { MessageType } from '@pharos/contract/webhook-message'
import type { Db, Postgres } from '../db/postgres.ts'
import type { Horizon, Position } from './position.ts'

/** The timeline is another one after every failover and every recovery to a time. */
export async function findHorizon(db: Db): Promise<Horizon> {
  const { rows } = await sql<Horizon>`
    select left(md5(concat(c.system_identifier, '/', p.timeline_id)), 8) as cluster,
      pg_snapshot_xmin(s)::text as xmin, pg_snapshot_xmax(s)::text as xmax,
      extract(epoch from now())::bigint as now
    from pg_control_system() c, pg_control_checkpoint() p, pg_current_snapshot() s`.execute(db)
  return rows[0]!
}

export type News = {
  readonly xid: string
  readonly id: string
  readonly type: MessageType
  /** JSON: type, timestamp and data, as in the body of a webhook. */
  readonly message: string
}

/** What happened to the team after the position, the oldest first; what could still appear among it is left for later. */
export function listNews(
  postgres: Postgres,
  teamId: number,
  { xid, id }: Pick<Position, 'xid' | 'id'>,
  types: readonly MessageType[],
  limit: number,
): Promise<News[]> {
  const query = sql<News>`
    select o.xid::text, o.id::text, o.type,
      concat('{"type":"', o.type, '","timestamp":"', iso_time(o.at), '","data":', o.data, '}') as message
    from outbox o
    where o.team_id = ${teamId} and (o.xid, o.id) > (${xid}::xid8, ${id}::bigint)
      and o.xid < pg_snapshot_xmin(pg_current_snapshot()) and o.type = any(${types}::text[])
    order by o.xid, o.id limit ${limit}`
  return postgres.readInTeam<News>(teamId, query.compile(postgres.owner))
}

export type Rings = {
  /** Up to where this look has seen everything. */
  readonly xmin: string
  /** To whom something has happened since the last look. */
  readonly teams: readonly number[]
  /** Something is there that may not be read yet, since an older transaction is not over. */
  readonly more: boolean
}

/** Whom to tell that there is something to read, and nothing of what it is. Nobody, where it is not said since when. */
export async function listRings(db: Db, since: string | undefined): Promise<Rings> {
  const { rows } = await sql<Rings>`
    select h.xmin::text,
      array(select distinct o.team_id from outbox o where o.team_id is not null and o.xid >= ${since ?? null}::xid8 and o.xid < h.xmin)
        as teams,
      exists (select from outbox o where o.xid >= h.xmin) as more
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) h`.execute(db)
  return rows[0]!
}
