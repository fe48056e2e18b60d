// The SQL of reviews: teams' decisions about events, and their comments.
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import type { Db, Trx } from '../../db/postgres.ts'

export type StoredReview = {
  readonly verdict: 'attack' | 'false_positive' | null
  readonly acknowledged: Date | null
  readonly acknowledgedBy: string | null
  readonly byStaff: boolean
  /** 0: the team has no review. */
  readonly version: number
}

const reviewColumns = sql`r.verdict, r.acknowledged, r.acknowledged_by as "acknowledgedBy", r.by_staff as "byStaff", r.version`

export async function findReview(
  db: Db | Trx,
  teamId: number,
  eventId: string,
): Promise<StoredReview | undefined> {
  const { rows } = await sql<StoredReview>`
    select ${reviewColumns} from event_reviews r where r.team_id = ${teamId} and r.event_id = ${eventId}`.execute(
    db,
  )
  return rows[0]
}

export type TeamReview = Pick<StoredReview, 'verdict' | 'acknowledged'> & {
  readonly team_id: number
  readonly event_id: string
}

/** The reviews of all teams. */
export async function listTeamReviews(trx: Trx, eventIds: readonly string[]): Promise<TeamReview[]> {
  const { rows } = await sql<TeamReview>`
    select r.team_id, r.event_id, r.verdict, r.acknowledged from event_reviews r
    where r.event_id = any(${eventIds}::text[])`.execute(trx)
  return rows
}

export async function saveReview(
  trx: Trx,
  teamId: number,
  eventId: string,
  { verdict, acknowledged, acknowledgedBy, byStaff, version }: StoredReview,
): Promise<void> {
  await sql`
    insert into event_reviews (team_id, event_id, verdict, acknowledged, acknowledged_by, by_staff, version)
    values (${teamId}, ${eventId}, ${verdict}, ${acknowledged}, ${acknowledgedBy}, ${byStaff}, ${version})
    on conflict (event_id, team_id) do update set verdict = excluded.verdict, acknowledged = excluded.acknowledged,
      acknowledged_by = excluded.acknowledged_by, by_staff = excluded.by_staff, version = excluded.version`.execute(
    trx,
  )
}

const commentColumns = columns('event_comments', 'c', ['id', 'text', 'author', 'by_staff', 'created'])
export type CommentRow = RowOf<typeof commentColumns>

export async function listComments(db: Db | Trx, teamId: number, eventId: string): Promise<CommentRow[]> {
  const { rows } = await sql<CommentRow>`
    select ${commentColumns} from event_comments c where c.team_id = ${teamId} and c.event_id = ${eventId}
    order by c.id`.execute(db)
  return rows
}

export async function countComments(trx: Trx, teamId: number, eventId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from event_comments c where c.team_id = ${teamId} and c.event_id = ${eventId}`.execute(
    trx,
  )
  return rows[0]!.n
}

export type NewComment = {
  readonly teamId: number
  readonly eventId: string
  readonly text: string
  readonly author: string
  readonly byStaff: boolean
}

export async function insertComment(
  trx: Trx,
  { teamId, eventId, text, author, byStaff }: NewComment,
): Promise<void> {
  await sql`
    insert into event_comments (team_id, event_id, text, author, by_staff)
    values (${teamId}, ${eventId}, ${text}, ${author}, ${byStaff})`.execute(trx)
}
