// The SQL of API tokens for their team and the operator: create, change, revoke. The check of a presented token is in
// credentials.store.ts. No statement here reads the MAC of a secret: the team's database role may not.
import type { QueryOf } from '@pharos/contract/route'
import type { listTokensRoute } from '@pharos/contract/team/token'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { lacksResources, limitsOfToken } from '../limit/resource-limit.store.ts'

export type NewApiToken = {
  readonly id: string
  readonly teamId: number
  readonly name: string
  readonly secretMac: Buffer
  readonly scopes: readonly string[]
  readonly networks: readonly string[]
  readonly isAdmin: boolean
  /** The user who created it; null for the operator. */
  readonly createdBy: number | null
  readonly expires: Date | null
  readonly maxUnusedDays: number | null
  readonly serviceAccountId: number | null
  readonly isLimited: boolean
}

const isExpired = sql`(a.expires is not null and a.expires <= now())`
/** The same condition as in findTokenRecord: unused for longer than its limit. */
const isUnused = sql`(a.max_unused_days is not null
  and coalesce(a.last_used, a.created) <= now() - make_interval(days => a.max_unused_days))`
const isDisabled = sql`coalesce((select s.disabled from service_accounts s where s.id = a.service_account_id), false)`
const isActive = sql`(not ${isExpired} and not ${isUnused} and not ${isDisabled} and not ${lacksResources})`

const tokenColumns = columns(
  'api_tokens',
  'a',
  [
    'id',
    'name',
    'scopes',
    'is_admin',
    'created',
    'creator',
    'expires',
    'max_unused_days',
    'last_used',
    'service_account_id',
  ],
  {
    networks: sql<string[]>`a.allowed_networks::text[]`,
    last_used_address: sql<string | null>`host(a.last_used_address)`,
    is_expired: sql<boolean>`${isExpired}`,
    is_unused: sql<boolean>`${isUnused}`,
    is_disabled: sql<boolean>`${isDisabled}`,
    lacks_resources: sql<boolean>`${lacksResources}`,
    limits: limitsOfToken,
    previous_until: sql<Date | null>`case when a.previous_until > now() then a.previous_until end`,
  },
)
export type ApiTokenRow = RowOf<typeof tokenColumns>

/** The source of the columns of a page. */
const storedColumns = sql`a.id, a.team_id, a.name, a.scopes, a.is_admin, a.created, a.creator, a.expires, a.max_unused_days, a.last_used,
  a.last_used_address, a.allowed_networks, a.service_account_id, a.is_limited, a.previous_until`

/** Returns a page of the tokens that are not revoked. Tokens never used sort first, tokens without expiry last. */
export const listApiTokens = (
  postgres: Postgres,
  teamId: number,
  {
    name,
    active,
    service_account_id: account,
    created_by: creator,
    ...query
  }: QueryOf<typeof listTokensRoute>,
): Promise<Page<ApiTokenRow>> =>
  listInTeam<ApiTokenRow>(postgres, teamId, {
    matching: sql`
      select ${storedColumns} from api_tokens a where a.team_id = ${teamId} and a.revoked is null ${andAll(
        name !== undefined && sql`strpos(lower(a.name), lower(${name})) > 0`,
        active !== undefined && sql`${isActive} = ${active}`,
        account !== undefined && sql`a.service_account_id = ${account}::bigint`,
        creator !== undefined && sql`a.created_by = ${creator}::bigint and a.service_account_id is null`,
      )}`,
    columns: tokenColumns,
    order: orderBy(
      query.ordering,
      {
        id: sql`a.id`,
        name: sql`lower(a.name)`,
        created: sql`a.created`,
        last_used: sql`a.last_used`,
        expires: sql`coalesce(a.expires, 'infinity')`,
      },
      sql`a.id`,
    ),
    slice: query,
  })

export async function findApiToken(
  postgres: Postgres,
  teamId: number,
  id: string,
): Promise<ApiTokenRow | undefined> {
  const query = sql<ApiTokenRow>`select ${tokenColumns} from api_tokens a
    where a.team_id = ${teamId} and a.id = ${id} and a.revoked is null`
  return (await postgres.readInTeam(teamId, query))[0]
}

/** Returns the token, locked until the end of the transaction; undefined if it is revoked or does not exist. */
export async function lockApiToken(trx: Trx, teamId: number, id: string): Promise<ApiTokenRow | undefined> {
  const { rows } = await sql<ApiTokenRow>`
    select ${tokenColumns} from api_tokens a
    where a.team_id = ${teamId} and a.id = ${id} and a.revoked is null for update`.execute(trx)
  return rows[0]
}

/** Returns the team's number of tokens that are not revoked; concurrent creation for the team waits until the transaction ends. */
export async function countApiTokens(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('API tokens of a team'), ${teamId})`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from api_tokens where team_id = ${teamId} and revoked is null`.execute(trx)
  return rows[0]!.count
}

export async function insertApiToken(trx: Trx, token: NewApiToken): Promise<ApiTokenRow> {
  const { rows } = await sql<ApiTokenRow>`
    insert into api_tokens as a (id, team_id, name, secret_mac, scopes, allowed_networks, is_admin, created_by, creator,
      expires, max_unused_days, service_account_id, is_limited)
    values (${token.id}, ${token.teamId}, ${token.name}, ${token.secretMac}, ${token.scopes}, ${token.networks}::cidr[],
      ${token.isAdmin}, ${token.createdBy}, coalesce('user:' || ${token.createdBy}::integer, 'operator'), ${token.expires}, ${token.maxUnusedDays},
      ${token.serviceAccountId}, ${token.isLimited})
    returning ${tokenColumns}`.execute(trx)
  return rows[0]!
}

/** Saves the fields of a token that can change. */
export async function saveApiToken(
  trx: Trx,
  teamId: number,
  { id, name, networks, expires }: Pick<ApiTokenRow, 'id' | 'name' | 'networks' | 'expires'>,
): Promise<ApiTokenRow> {
  const { rows } = await sql<ApiTokenRow>`
    update api_tokens a set name = ${name}, allowed_networks = ${networks}::cidr[], expires = ${expires}
    where a.team_id = ${teamId} and a.id = ${id}
    returning ${tokenColumns}`.execute(trx)
  return rows[0]!
}

/** Reads the token again, with the resources that were inserted after it. */
export async function readApiToken(trx: Trx, teamId: number, id: string): Promise<ApiTokenRow> {
  const { rows } = await sql<ApiTokenRow>`
    select ${tokenColumns} from api_tokens a where a.team_id = ${teamId} and a.id = ${id}`.execute(trx)
  return rows[0]!
}

/**
 * Saves a new secret of a token of the team. The former secret works until `overlapHours` from now; an earlier secret
 * no longer works.
 */
export async function rotateApiToken(
  trx: Trx,
  id: string,
  secretMac: Buffer,
  overlapHours: number,
): Promise<void> {
  await sql`select rotate_api_token(${id}, ${secretMac}, ${overlapHours}::integer)`.execute(trx)
}

export async function saveServiceAccount(
  trx: Trx,
  teamId: number,
  id: string,
  serviceAccountId: number,
): Promise<void> {
  await sql`
    update api_tokens set service_account_id = ${serviceAccountId}, is_admin = false
    where team_id = ${teamId} and id = ${id}`.execute(trx)
}

export async function readTokenDaysMax(trx: Trx, teamId: number): Promise<number | null> {
  const { rows } = await sql<{ days: number | null }>`
    select token_days_max as days from teams where id = ${teamId}`.execute(trx)
  return rows[0]?.days ?? null
}

export async function revokeApiToken(trx: Trx, teamId: number, id: string): Promise<void> {
  await sql`update api_tokens set revoked = now() where team_id = ${teamId} and id = ${id}`.execute(trx)
}
