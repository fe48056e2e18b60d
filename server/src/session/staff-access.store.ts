// Accesses of staff to the teams of customers. An open access counts only in its session and only while its user is staff:
// credentials.store.ts and team-access.store.ts join it with `openAccess`.
import type { listStaffAccessesRoute } from '@pharos/contract/operator/staff-access'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'

const accesses = sql`
  select a.*, t.name as team_name, u.email as user_email,
    least(a.closed, s.revoked, case when s.expires <= now() then s.expires end, case when a.expires <= now() then a.expires end) as ended
  from staff_accesses a
  join teams t on t.id = a.team_id
  left join users u on u.id = a.user_id
  left join sessions s on s.id = a.session_id`

const accessColumns = columns(
  'staff_accesses',
  'a',
  ['id', 'team_id', 'user_id', 'reason', 'ticket', 'change', 'opened', 'expires'],
  {
    ended: sql<Date | null>`a.ended`,
    team_name: sql<string>`a.team_name`,
    user_email: sql<string | null>`a.user_email`,
  },
)
export type StaffAccessRow = RowOf<typeof accessColumns>

export type NewStaffAccess = {
  readonly teamId: number
  readonly userId: number
  readonly sessionId: string
  readonly reason: string
  readonly ticket: string | null
  readonly change: boolean
  readonly hours: number
}

/** Locks an active session, so that one access is opened or closed at a time; false if the session has ended. */
export async function lockSession(trx: Trx, sessionId: string): Promise<boolean> {
  const { rows } = await sql`
    select from sessions where id = ${sessionId} and revoked is null and expires > now() for no key update`.execute(
    trx,
  )
  return rows.length > 0
}

/** Inserts an access in the place of the open one of the session in the team. */
export async function insertStaffAccess(trx: Trx, access: NewStaffAccess): Promise<StaffAccessRow> {
  const { teamId, userId, sessionId, reason, ticket, change, hours } = access
  await sql`
    update staff_accesses set closed = least(now(), expires)
    where session_id = ${sessionId} and team_id = ${teamId} and closed is null`.execute(trx)
  const { rows } = await sql<{ id: number }>`
    insert into staff_accesses (team_id, user_id, session_id, reason, ticket, change, expires)
    values (${teamId}, ${userId}, ${sessionId}, ${reason}, ${ticket}, ${change}, now() + make_interval(hours => ${hours}))
    returning id`.execute(trx)
  return (await findStaffAccess(trx, rows[0]!.id))!
}

export async function findStaffAccess(db: Db | Trx, id: number): Promise<StaffAccessRow | undefined> {
  const { rows } =
    await sql<StaffAccessRow>`select ${accessColumns} from (${accesses}) a where a.id = ${id}`.execute(db)
  return rows[0]
}

/** Closes the open access of the session to the team and returns its id; undefined if none is open. */
export async function closeOpenAccess(
  trx: Trx,
  sessionId: string,
  teamId: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    update staff_accesses set closed = now()
    where session_id = ${sessionId} and team_id = ${teamId}::bigint and closed is null and expires > now()
    returning id`.execute(trx)
  return rows[0]?.id
}

/** Returns a page of the accesses of all staff. */
export const listStaffAccessRows = (
  db: Db,
  { team_id, user_id, open, ordering, ...slice }: QueryOf<typeof listStaffAccessesRoute>,
): Promise<Page<StaffAccessRow>> =>
  listAll(db, {
    matching: sql`
      select a.* from (${accesses}) a where true ${andAll(
        team_id !== undefined && sql`a.team_id = ${team_id}::bigint`,
        user_id !== undefined && sql`a.user_id = ${user_id}::bigint`,
        open !== undefined && sql`(a.ended is null) = ${open}::boolean`,
      )}`,
    columns: accessColumns,
    order: orderBy(ordering, { opened: sql`a.opened`, id: sql`a.id` }, sql`a.id`),
    slice,
  })
