// The SQL of API tokens as their team and the operator make, change and end them. How a presented one is checked is in
// credentials.store.ts. No statement here reads the MAC of a secret: the team's role may not.
import { sql, type RawBuilder } from 'kysely'
import type { Postgres, Trx } from '../db/postgres.ts'

export type NewApiToken = {
  readonly id: string
  readonly teamId: number
  readonly name: string
  readonly secretMac: Buffer
  readonly scopes: readonly string[]
  readonly networks: readonly string[]
  readonly isAdmin: boolean
  readonly createdBy: number | null
  readonly expires: Date | null
  readonly maxUnusedDays: number | null
}

export type ApiTokenRow = {
  readonly id: string
  readonly name: string
  readonly scopes: string[]
  readonly networks: string[]
  readonly isAdmin: boolean
  readonly created: Date
  readonly createdBy: number | null
  readonly expires: Date | null
  readonly maxUnusedDays: number | null
  readonly lastUsed: Date | null
  readonly lastUsedAddress: string | null
  readonly isExpired: boolean
  readonly isUnused: boolean
}

const isExpired = sql`(a.expires is not null and a.expires <= now())`
/** As findTokenStanding sees it: not used for as long as it may rest. */
const isUnused = sql`(a.max_unused_days is not null
  and coalesce(a.last_used, a.created) <= now() - make_interval(days => a.max_unused_days))`

const columns = sql`a.id, a.name, a.scopes, a.allowed_networks::text[] as networks, a.is_admin as "isAdmin", a.created,
  a.created_by as "createdBy", a.expires, a.max_unused_days as "maxUnusedDays", a.last_used as "lastUsed",
  host(a.last_used_address) as "lastUsedAddress", ${isExpired} as "isExpired", ${isUnused} as "isUnused"`

export type TokenFilter = { readonly name?: string; readonly active?: boolean }
export type TokenOrderingKey = 'id' | 'name' | 'created' | 'last_used' | 'expires'
export type TokenOrder = { readonly key: TokenOrderingKey; readonly descending: boolean }

/** A page of those that are not revoked, and the count of all that match, from one snapshot: one statement. */
export async function listApiTokens(
  postgres: Postgres,
  teamId: number,
  filter: TokenFilter,
  order: readonly TokenOrder[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ page: ApiTokenRow[]; count: number }> {
  const matching = sql`from api_tokens a where a.team_id = ${teamId} and a.revoked is null ${conditions(filter)}`
  const query = sql`
    with page as (
      select ${columns}, row_number() over (order by ${ordering(order)}) as place ${matching}
      order by place limit ${limit} offset ${offset})
    select c.count, p.* from (select count(*) ${matching}) c left join page p on true order by p.place`
  const rows = await postgres.readInTeam<PageRow>(teamId, query.compile(postgres.owner))
  return { page: rows.filter((row) => row.id !== null), count: rows[0]!.count }
}

/** A page that is empty still has one row, with the count: its other columns are null. */
type PageRow = { id: null; count: number } | (ApiTokenRow & { count: number })

function conditions({ name, active }: TokenFilter): RawBuilder<unknown> {
  const all = [
    name !== undefined && sql`and strpos(lower(a.name), lower(${name})) > 0`,
    active !== undefined && sql`and (not ${isExpired} and not ${isUnused}) = ${active}`,
  ]
  return sql.join(
    all.filter((one) => typeof one === 'object'),
    sql` `,
  )
}

/** Never used is before any use, never ending after any end. */
const orderings: Record<TokenOrderingKey, RawBuilder<unknown>> = {
  id: sql`a.id`,
  name: sql`lower(a.name)`,
  created: sql`a.created`,
  last_used: sql`coalesce(a.last_used, '-infinity')`,
  expires: sql`coalesce(a.expires, 'infinity')`,
}

function ordering(order: readonly TokenOrder[]): RawBuilder<unknown> {
  const keys = order.map(({ key, descending }) => (descending ? sql`${orderings[key]} desc` : orderings[key]))
  return sql.join([...keys, sql`a.id`])
}

export async function findApiToken(
  postgres: Postgres,
  teamId: number,
  id: string,
): Promise<ApiTokenRow | undefined> {
  const query = sql`select ${columns} from api_tokens a
    where a.team_id = ${teamId} and a.id = ${id} and a.revoked is null`
  const rows = await postgres.readInTeam<ApiTokenRow>(teamId, query.compile(postgres.owner))
  return rows[0]
}

/** The token, held to the end of the transaction. Undefined where it is revoked, or there is none. */
export async function lockApiToken(trx: Trx, teamId: number, id: string): Promise<ApiTokenRow | undefined> {
  const { rows } = await sql<ApiTokenRow>`
    select ${columns} from api_tokens a
    where a.team_id = ${teamId} and a.id = ${id} and a.revoked is null for update`.execute(trx)
  return rows[0]
}

/** How many the team has that are not revoked. Others who make one for it wait from here to the end of the transaction. */
export async function countApiTokens(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('API tokens of a team'), ${teamId})`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from api_tokens where team_id = ${teamId} and revoked is null`.execute(trx)
  return rows[0]!.count
}

export async function insertApiToken(trx: Trx, token: NewApiToken): Promise<ApiTokenRow> {
  const { rows } = await sql<ApiTokenRow>`
    insert into api_tokens as a (id, team_id, name, secret_mac, scopes, allowed_networks, is_admin, created_by, expires,
      max_unused_days)
    values (${token.id}, ${token.teamId}, ${token.name}, ${token.secretMac}, ${token.scopes}, ${token.networks}::cidr[],
      ${token.isAdmin}, ${token.createdBy}, ${token.expires}, ${token.maxUnusedDays})
    returning ${columns}`.execute(trx)
  return rows[0]!
}

/** Saves what can change of a token. */
export async function saveApiToken(
  trx: Trx,
  teamId: number,
  { id, name, networks, expires }: Pick<ApiTokenRow, 'id' | 'name' | 'networks' | 'expires'>,
): Promise<ApiTokenRow> {
  const { rows } = await sql<ApiTokenRow>`
    update api_tokens a set name = ${name}, allowed_networks = ${networks}::cidr[], expires = ${expires}
    where a.team_id = ${teamId} and a.id = ${id}
    returning ${columns}`.execute(trx)
  return rows[0]!
}

export async function revokeApiToken(trx: Trx, teamId: number, id: string): Promise<void> {
  await sql`update api_tokens set revoked = now() where team_id = ${teamId} and id = ${id}`.execute(trx)
}
