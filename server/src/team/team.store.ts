// The SQL of a team itself: read, lock, save.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Postgres, Trx } from '../db/postgres.ts'

export type TeamRow = {
  readonly id: number
  readonly name: string
  readonly slug: string
  readonly enable_sdwan: boolean
  readonly enable_dns: boolean
  readonly description: string
  readonly billing_email: string
  readonly technical_email: string
  readonly abuse_email: string
  readonly noc_phone: string
  readonly country: string
  readonly timezone: string
  readonly require_2fa: boolean
  readonly created: Date
  readonly version: number
  readonly member_count: number
  /** Times as JSON has them. */
  readonly asns: readonly { readonly asn: number; readonly verified: string | null }[]
}

/** A proof of an ASN that is over verifies it no more. */
const teamOf = (teamId: number): RawBuilder<unknown> => sql`
  select t.id, t.name, t.slug, t.enable_sdwan, t.enable_dns, t.description, t.billing_email, t.technical_email,
    t.abuse_email, t.noc_phone, t.country, t.timezone, t.require_2fa, t.created, t.version,
    (select count(*) from memberships m where m.team_id = t.id) as member_count,
    coalesce((
      select json_agg(json_build_object('asn', a.asn,
        'verified', case when a.expires is null or a.expires > now() then a.verified end) order by a.asn)
      from asns a where a.team_id = t.id), '[]') as asns
  from teams t where t.id = ${teamId}`

export async function findTeam(postgres: Postgres, teamId: number): Promise<TeamRow | undefined> {
  const [row] = await postgres.readInTeam<TeamRow>(teamId, teamOf(teamId).compile(postgres.owner))
  return row
}

/** The same in a transaction. */
export async function readTeam(trx: Trx, teamId: number): Promise<TeamRow | undefined> {
  const { rows } = await sql<TeamRow>`${teamOf(teamId)}`.execute(trx)
  return rows[0]
}

export type TeamColumns = Partial<
  Pick<
    TeamRow,
    | 'name'
    | 'description'
    | 'billing_email'
    | 'technical_email'
    | 'abuse_email'
    | 'noc_phone'
    | 'country'
    | 'timezone'
    | 'require_2fa'
  >
>

/** The version follows by itself. A name that the team gives itself is its own from then on. */
export async function saveTeam(trx: Trx, teamId: number, columns: TeamColumns): Promise<void> {
  const renamed = columns.name === undefined ? {} : { renamed: sql<Date>`now()` }
  await trx
    .updateTable('teams')
    .set({ ...columns, ...renamed })
    .where('id', '=', teamId)
    .execute()
}

/**
 * Which teams somebody reaches: those of a user, for staff every one, for a token its own, in which it has the role that
 * it was given.
 */
export type Reach =
  | { readonly userId: number; readonly isStaff: boolean }
  | { readonly teamId: number; readonly isAdmin: boolean }

export type AvailableRow = {
  readonly id: number
  readonly name: string
  readonly enable_sdwan: boolean
  readonly enable_dns: boolean
  /** Null: not a member. */
  readonly is_admin: boolean | null
}

export type TeamOrderingKey = 'name' | 'id' | 'created'
export type TeamOrder = { readonly key: TeamOrderingKey; readonly descending: boolean }

export type AvailableQuery = {
  readonly name?: string
  readonly order: readonly TeamOrder[]
  readonly limit: number
  readonly offset: number
}

/** A page over all teams: this one question crosses the wall between them, with `reach` in its place. */
export async function listAvailable(
  db: Db,
  reach: Reach,
  { name, order, limit, offset }: AvailableQuery,
): Promise<{ page: AvailableRow[]; count: number }> {
  const { rows } = await sql<AvailableRow & { count: number; id: number | null }>`
    with matching as (
      ${reachable(reach)} ${name === undefined ? sql`` : sql`and position(lower(${name}) in lower(t.name)) > 0`}),
    page as (
      select row_number() over () as place, p.* from (
        select * from matching order by ${ordering(order)} limit ${limit} offset ${offset}) p)
    select c.count, p.id, p.name, p.enable_sdwan, p.enable_dns, p.is_admin
    from (select count(*) from matching) c left join page p on true
    order by p.place`.execute(db)
  return { page: rows.filter(({ id }) => id !== null), count: rows[0]!.count }
}

function reachable(reach: Reach): RawBuilder<unknown> {
  if ('teamId' in reach)
    return sql`select t.*, ${reach.isAdmin}::boolean as is_admin from teams t where t.id = ${reach.teamId}`
  return sql`
    select t.*, m.is_admin from teams t
    left join memberships m on m.team_id = t.id and m.user_id = ${reach.userId}
    where ${reach.isStaff ? sql`true` : sql`m.user_id is not null`}`
}

function ordering(order: readonly TeamOrder[]): RawBuilder<unknown> {
  const keys = order.map(({ key, descending }) => sql`${sql.ref(key)} ${descending ? sql`desc` : sql`asc`}`)
  return sql.join([...keys, sql`id`])
}
