// The SQL that reads the outbox for the stream, up to the oldest running transaction, so that no message can appear
// before one that was already read.
import { sql } from 'kysely'
import type { StreamMessageType } from '@pharos/contract/messages/stream'
import type { Db, Postgres } from '../db/postgres.ts'
import type { Horizon, StreamPosition } from './position.ts'

/**
 * Identifies the server and its timeline, which changes with every failover and every point-in-time recovery. Until the first
 * checkpoint after it, which takes minutes, only the end of the recovery has the new one.
 */
const cluster = sql<string>`(
  select left(md5(concat(c.system_identifier, '/', greatest(p.timeline_id, r.min_recovery_end_timeline))), 8)
  from pg_control_system() c, pg_control_checkpoint() p, pg_control_recovery() r)`

/** Returns the current horizon. */
export async function findHorizon(db: Db): Promise<Horizon> {
  const { rows } = await sql<Horizon>`
    select ${cluster} as cluster, pg_snapshot_xmin(s)::text as xmin, pg_snapshot_xmax(s)::text as xmax,
      extract(epoch from now())::bigint as now
    from pg_current_snapshot() s`.execute(db)
  return rows[0]!
}

export type StreamMessage = {
  readonly xid: string
  readonly id: string
  readonly type: StreamMessageType
  readonly at: Date
  /** JSON. */
  readonly data: string
}

/**
 * Lists the messages of the team, and of the user within it (null: of no user), after the position in commit order,
 * except messages that an older running transaction could still precede.
 */
export function listMessages(
  postgres: Postgres,
  teamId: number,
  userId: number | null,
  { xid, id }: Pick<StreamPosition, 'xid' | 'id'>,
  types: readonly StreamMessageType[],
  limit: number,
): Promise<StreamMessage[]> {
  const query = sql`
    select o.xid::text, o.id::text, o.type, o.at, o.data::text as data
    from outbox o
    where o.team_id = ${teamId} and (o.user_id is null or o.user_id = ${userId}::integer) and (o.xid, o.id) > (${xid}::xid8, ${id}::bigint)
      and o.xid < pg_snapshot_xmin(pg_current_snapshot()) and o.type = any(${types}::text[])
    order by o.xid, o.id limit ${limit}`
  return postgres.readInTeam<StreamMessage>(teamId, query.compile(postgres.owner))
}

export type TeamsWithMessages = {
  readonly cluster: string
  /** All messages below this transaction have been read. */
  readonly xmin: string
  readonly teams: readonly number[]
  /** Whether an older transaction delays messages. */
  readonly isHeldBack: boolean
}

/** Lists the teams with messages since that transaction; an empty list if it is undefined. */
export async function listTeamsWithMessages(db: Db, since: string | undefined): Promise<TeamsWithMessages> {
  const { rows } = await sql<TeamsWithMessages>`
    select ${cluster} as cluster, h.xmin::text,
      array(select distinct o.team_id from outbox o where o.team_id is not null and o.xid >= ${since ?? null}::xid8 and o.xid < h.xmin)
        as teams,
      exists (select from outbox o where o.xid >= h.xmin) as "isHeldBack"
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) h`.execute(db)
  return rows[0]!
}
