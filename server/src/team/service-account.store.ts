// The SQL of service accounts. Every statement is limited to a team.
import { sql } from 'kysely'
import type { Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { listServiceAccountsRoute } from '@pharos/contract/team/service-account'
import { columns, type RowOf } from '../db/columns.ts'
import { listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'

const accountColumns = columns(
  'service_accounts',
  's',
  ['id', 'name', 'description', 'disabled', 'created', 'creator', 'version'],
  {
    roles: sql<Role[]>`s.roles`,
    token_count: sql<number>`(
      select count(*)::integer from api_tokens a where a.service_account_id = s.id and a.revoked is null)`,
  },
)
export type ServiceAccountRow = RowOf<typeof accountColumns>

/** The columns that a request changes. */
export const serviceAccountFields = ['name', 'description', 'roles', 'disabled'] as const
export type ServiceAccountSettings = Pick<ServiceAccountRow, (typeof serviceAccountFields)[number]>

export const listServiceAccountRows = (
  postgres: Postgres,
  teamId: number,
  { ordering, ...slice }: QueryOf<typeof listServiceAccountsRoute>,
): Promise<Page<ServiceAccountRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`select s.* from service_accounts s where s.team_id = ${teamId}`,
    columns: accountColumns,
    order: orderBy(ordering, { name: sql`lower(s.name)`, id: sql`s.id`, created: sql`s.created` }, sql`s.id`),
    slice,
  })

export async function findServiceAccount(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<ServiceAccountRow | undefined> {
  const query = sql<ServiceAccountRow>`
    select ${accountColumns} from service_accounts s where s.team_id = ${teamId} and s.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

export async function lockServiceAccountRow(
  trx: Trx,
  teamId: number,
  id: number,
): Promise<ServiceAccountRow | undefined> {
  const { rows } = await sql<ServiceAccountRow>`
    select ${accountColumns} from service_accounts s
    where s.team_id = ${teamId} and s.id = ${id}::bigint for no key update`.execute(trx)
  return rows[0]
}

/** Returns the id of another account of the team with the name. The caller has locked the team. */
export async function findServiceAccountNamed(
  trx: Trx,
  teamId: number,
  name: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from service_accounts where team_id = ${teamId} and lower(name) = lower(${name})`.execute(trx)
  return rows[0]?.id
}

export async function countServiceAccounts(trx: Trx, teamId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from service_accounts where team_id = ${teamId}`.execute(trx)
  return rows[0]!.count
}

export async function insertServiceAccount(
  trx: Trx,
  teamId: number,
  { name, description, roles, disabled }: ServiceAccountSettings,
  creator: string,
): Promise<ServiceAccountRow> {
  const { rows } = await sql<ServiceAccountRow>`
    insert into service_accounts as s (team_id, name, description, roles, disabled, creator)
    values (${teamId}, ${name}, ${description}, ${roles}, ${disabled}, ${creator})
    returning ${accountColumns}`.execute(trx)
  return rows[0]!
}

export async function saveServiceAccountSettings(
  trx: Trx,
  teamId: number,
  id: number,
  { name, description, roles, disabled }: ServiceAccountSettings,
): Promise<ServiceAccountRow> {
  const { rows } = await sql<ServiceAccountRow>`
    update service_accounts s set name = ${name}, description = ${description}, roles = ${roles}, disabled = ${disabled}
    where s.team_id = ${teamId} and s.id = ${id}
    returning ${accountColumns}`.execute(trx)
  return rows[0]!
}

/** Deletes the account and revokes its tokens, whose ids are returned. Their rows stay, so that the audit log can name them. */
export async function deleteServiceAccountRow(trx: Trx, teamId: number, id: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_tokens set revoked = now()
    where team_id = ${teamId} and service_account_id = ${id} and revoked is null returning id`.execute(trx)
  await sql`delete from service_accounts where team_id = ${teamId} and id = ${id}`.execute(trx)
  return rows.map((row) => row.id)
}
