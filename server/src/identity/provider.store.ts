// The SQL of the identity providers of a team, for its admins. Every statement is limited to a team, except in a sign-in, which begins without one.
import { hash } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import { staffProviderKey } from '@pharos/contract/session/sso'
import type { DefaultRole, Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { SignInReason } from '@pharos/contract/sign-in-reason'
import {
  failedSignInsMax,
  type GroupMapping,
  type listProvidersRoute,
  type listSignInAttemptsRoute,
  type Provider,
  type ProviderKind,
  type ProviderScim,
  type ProviderStatus,
  type SecondFactorRule,
} from '@pharos/contract/team/provider'
import { columns, type RowOf } from '../db/columns.ts'
import { listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'
import type { StoredSaml } from './saml-settings.ts'

/** Times are texts. */
export type StoredScim = Omit<ProviderScim, 'base_url'>

type SharedSettings = { readonly groups_claim: string; readonly second_factor_values: readonly string[] }
export type StoredOidc = {
  readonly issuer: string
  readonly client_id: string
  /** Left out by the release before: false. */
  readonly sign_out_at_provider?: boolean
}

/** What the drivers need, beside the secret. */
export type StoredSettings = SharedSettings & (StoredOidc | StoredSaml)

export const isSaml = (settings: StoredSettings): settings is SharedSettings & StoredSaml =>
  'entity_id' in settings

const domainIds = sql<number[]>`
  array(select d.id from domains d where d.provider_id = p.id and d.team_id = p.team_id order by d.id)`
const mappings = sql<GroupMapping[]>`
  coalesce((select json_agg(json_build_object('group', g.group_name, 'roles', g.roles) order by g.group_name)
    from provider_mappings g where g.provider_id = p.id), '[]')`
const problem = sql<Provider['problem']>`
  case when p.status = 'active' and not exists (
      select from domains d where d.provider_id = p.id and d.team_id = p.team_id and d.verified is not null) then 'domain_lost'
    when p.status = 'active' and p.unreachable is not null then 'unreachable'
    when (p.settings ->> 'certificates_expire')::timestamptz < now() + interval '30 days' then 'certificate_expires' end`

const scim = sql<StoredScim | null>`
  (select json_build_object('created', k.created, 'last_used', k.last_used, 'last_used_address', host(k.last_used_address),
      'previous_secret_until', case when k.previous_until > now() then k.previous_until end, 'allowed_subnets', k.allowed_networks::text[],
      'users', (select count(*) from scim_users u where u.provider_id = p.id), 'groups', (select count(*) from scim_groups g where g.provider_id = p.id),
      'members', (select count(u.member_id) from scim_users u where u.provider_id = p.id))
    from scim_tokens k where k.provider_id = p.id)`

const providerColumns = columns(
  'identity_providers',
  'p',
  ['id', 'key', 'team_id', 'name', 'session_hours', 'tested', 'created', 'version'],
  {
    kind: sql<ProviderKind>`p.kind`,
    status: sql<ProviderStatus>`p.status`,
    settings: sql<StoredSettings>`p.settings`,
    second_factor: sql<SecondFactorRule>`p.second_factor`,
    default_roles: sql<DefaultRole[]>`p.default_roles`,
    domain_ids: domainIds,
    mappings,
    problem,
    scim,
  },
)
export type ProviderRow = RowOf<typeof providerColumns>

/** The columns and bound rows that a request changes. */
export type ProviderChange = Pick<
  ProviderRow,
  | 'name'
  | 'status'
  | 'settings'
  | 'session_hours'
  | 'second_factor'
  | 'default_roles'
  | 'domain_ids'
  | 'mappings'
>

export const listProviderRows = (
  postgres: Postgres,
  teamId: number,
  { ordering, ...slice }: QueryOf<typeof listProvidersRoute>,
): Promise<Page<ProviderRow>> =>
  listInTeam(postgres, teamId, {
    // The team role may not read the secret.
    matching: sql`
      select p.id, p.key, p.team_id, p.kind, p.name, p.status, p.settings, p.session_hours, p.second_factor, p.default_roles, p.tested,
        p.unreachable, p.created, p.version
      from identity_providers p where p.team_id = ${teamId}`,
    columns: providerColumns,
    order: orderBy(ordering, { id: sql`p.id`, name: sql`lower(p.name)`, created: sql`p.created` }, sql`p.id`),
    slice,
  })

const oneOf = (teamId: number, id: number, lock: RawBuilder<unknown> = sql``) =>
  sql<ProviderRow>`
    select ${providerColumns} from identity_providers p where p.team_id = ${teamId} and p.id = ${id}::bigint ${lock}`

export async function findProvider(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<ProviderRow | undefined> {
  return (await postgres.readInTeam(teamId, oneOf(teamId, id)))[0]
}

export async function lockProvider(trx: Trx, teamId: number, id: number): Promise<ProviderRow | undefined> {
  return (await oneOf(teamId, id, sql`for no key update`).execute(trx)).rows[0]
}

export async function countProviders(trx: Trx, teamId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from identity_providers where team_id = ${teamId}`.execute(trx)
  return rows[0]!.count
}

export type NewProvider = Pick<
  ProviderRow,
  'key' | 'team_id' | 'kind' | 'name' | 'settings' | 'session_hours' | 'second_factor' | 'default_roles'
> & { readonly secretSealed: Buffer | null }

export async function insertProvider(trx: Trx, provider: NewProvider): Promise<number> {
  const { key, team_id, kind, name, settings, session_hours, second_factor, default_roles, secretSealed } =
    provider
  const { rows } = await sql<{ id: number }>`
    insert into identity_providers (key, team_id, kind, name, settings, secret_sealed, session_hours, second_factor, default_roles)
    values (${key}, ${team_id}, ${kind}, ${name}, ${storedJson(settings)}::jsonb, ${secretSealed}, ${session_hours}, ${second_factor},
      ${default_roles}) returning id`.execute(trx)
  return rows[0]!.id
}

/** Null as secret: it is unchanged. The team role may write the secret, and not read it. */
export async function saveProvider(
  trx: Trx,
  { id, team_id }: ProviderRow,
  change: ProviderChange,
  secretSealed: Buffer | null,
): Promise<void> {
  const { name, status, settings, session_hours, second_factor, default_roles } = change
  await sql`
    update identity_providers set name = ${name}, status = ${status}, settings = ${storedJson(settings)}::jsonb,
      session_hours = ${session_hours}, second_factor = ${second_factor}, default_roles = ${default_roles},
      version = version + 1${secretSealed === null ? sql`` : sql`, secret_sealed = ${secretSealed}`}
    where team_id = ${team_id} and id = ${id}`.execute(trx)
}

export async function deleteProviderRow(trx: Trx, { id, team_id }: ProviderRow): Promise<void> {
  await sql`delete from identity_providers where team_id = ${team_id} and id = ${id}`.execute(trx)
}

export async function replaceMappings(
  trx: Trx,
  providerId: number,
  rules: readonly GroupMapping[],
): Promise<void> {
  await sql`delete from provider_mappings where provider_id = ${providerId}`.execute(trx)
  if (rules.length === 0) return
  const json = storedJson(rules)
  await sql`
    insert into provider_mappings (provider_id, group_name, roles)
    select ${providerId}, r ->> 'group', array(select jsonb_array_elements_text(r -> 'roles'))
    from jsonb_array_elements(${json}::jsonb) r`.execute(trx)
}

export type BindableDomain = {
  readonly id: number
  readonly domain: string
  readonly is_verified: boolean
  readonly provider_id: number | null
}

/** The domains of the team with these ids, locked. */
export async function lockDomains(
  trx: Trx,
  teamId: number,
  ids: readonly number[],
): Promise<BindableDomain[]> {
  const { rows } = await sql<BindableDomain>`
    select id, domain, verified is not null as is_verified, provider_id from domains
    where team_id = ${teamId} and id = any(${ids}::bigint[]) order by id for no key update`.execute(trx)
  return rows
}

/** Binds exactly these domains to the provider. */
export async function bindDomains(
  trx: Trx,
  teamId: number,
  providerId: number,
  ids: readonly number[],
): Promise<void> {
  await sql`
    update domains set provider_id = case when id = any(${ids}::bigint[]) then ${providerId}::integer end
    where team_id = ${teamId} and (provider_id = ${providerId} or id = any(${ids}::bigint[]))`.execute(trx)
}

/** Null as domain: of all domains. */
export async function endProofs(
  trx: Db | Trx,
  teamId: number,
  providerId: number,
  domain: string | null = null,
): Promise<void> {
  await sql`select end_provider_proofs(${teamId}::integer, ${providerId}::integer, ${domain})`.execute(trx)
}

const attemptColumns = columns('sso_attempts', 'a', ['id', 'at', 'claims', 'request_id'], {
  reason: sql<SignInReason>`a.reason`,
})
export type AttemptRow = RowOf<typeof attemptColumns>

/** The last attempts within 30 days. */
export const listAttemptRows = (
  postgres: Postgres,
  teamId: number,
  providerId: number,
  { ordering, ...slice }: QueryOf<typeof listSignInAttemptsRoute>,
): Promise<Page<AttemptRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select a.* from sso_attempts a
      where a.provider_id = ${providerId} and a.at > now() - interval '30 days' order by a.id desc limit ${failedSignInsMax}`,
    columns: attemptColumns,
    order: orderBy(ordering, { at: sql`a.at`, id: sql`a.id` }, sql`a.id`),
    slice,
  })

export type NewAttempt = {
  readonly providerId: number
  readonly reason: SignInReason
  readonly claims: readonly string[]
  readonly requestId: string
}

/** Keeps the last attempts only, so that anybody who starts sign-ins fills nothing. */
export async function insertAttempt(db: Db, attempt: NewAttempt): Promise<void> {
  const { providerId, reason, claims, requestId } = attempt
  await sql`
    with added as (
      insert into sso_attempts (provider_id, reason, claims, request_id)
      values (${providerId}, ${reason}, ${claims}::text[], ${requestId})),
    unreached as (
      update identity_providers set unreachable = now()
      where id = ${providerId} and unreachable is null and ${reason}::text = 'unavailable')
    delete from sso_attempts where provider_id = ${providerId} and id <= (
      select id from sso_attempts where provider_id = ${providerId} order by id desc offset ${failedSignInsMax - 1} limit 1)`.execute(
    db,
  )
}

/** Marks an outage of five minutes as reported; false if there is none, or it was reported before. */
export async function takeOutage(trx: Trx, providerId: number): Promise<boolean> {
  const { rows } = await sql`
    update identity_providers set problem_mailed = now()
    where id = ${providerId} and status = 'active' and unreachable <= now() - interval '5 minutes'
      and (problem_mailed is null or problem_mailed < unreachable) returning id`.execute(trx)
  return rows.length > 0
}

/** The provider answered. */
export async function saveReached(trx: Trx, providerId: number): Promise<void> {
  await sql`update identity_providers set unreachable = null where id = ${providerId} and unreachable is not null`.execute(
    trx,
  )
}

/** A test that ended in roles. Changes no version: the provider is the same. */
export async function saveTested(db: Db | Trx, providerId: number): Promise<void> {
  await sql`update identity_providers set tested = now(), unreachable = null where id = ${providerId}`.execute(
    db,
  )
}

/** A provider as a sign-in needs it, read before a person is known. */
export type SignInProvider = {
  readonly id: number
  readonly key: string
  readonly teamId: number
  readonly teamName: string
  readonly requiresFactor: boolean
  /** Members are made by SCIM only. */
  readonly isProvisioned: boolean
  readonly name: string
  readonly status: ProviderStatus
  readonly settings: StoredSettings
  /** Null for SAML. */
  readonly secretSealed: Buffer | null
  readonly sessionHours: number
  readonly secondFactor: SecondFactorRule
  readonly defaultRoles: readonly Role[]
  readonly mappings: readonly GroupMapping[]
  /** Verified domains that are bound to it. */
  readonly domains: readonly string[]
}

const signInProviderOf = (row: SignInProviderRow): SignInProvider => ({
  id: row.id,
  key: row.key,
  teamId: row.team_id,
  teamName: row.team_name,
  requiresFactor: row.requires_factor,
  isProvisioned: row.is_provisioned,
  name: row.name,
  status: row.status,
  settings: row.settings,
  secretSealed: row.secret_sealed,
  sessionHours: row.session_hours,
  secondFactor: row.second_factor,
  defaultRoles: row.default_roles,
  mappings: row.mappings,
  domains: row.domains,
})

type SignInProviderRow = {
  readonly id: number
  readonly key: string
  readonly team_id: number
  readonly team_name: string
  readonly requires_factor: boolean
  readonly is_provisioned: boolean
  readonly name: string
  readonly status: ProviderStatus
  readonly settings: StoredSettings
  readonly secret_sealed: Buffer | null
  readonly session_hours: number
  readonly second_factor: SecondFactorRule
  readonly default_roles: readonly Role[]
  readonly mappings: readonly GroupMapping[]
  /** Verified domains that are bound to it. */
  readonly domains: readonly string[]
}

export async function findSignInProvider(
  db: Db | Trx,
  by: { readonly key: string } | { readonly id: number },
): Promise<SignInProvider | undefined> {
  const { rows } = await sql<SignInProviderRow>`
    select p.id, p.key, p.team_id, t.name as team_name, t.require_2fa as requires_factor,
      exists (select from scim_tokens k where k.provider_id = p.id) as is_provisioned, p.name, p.status, p.settings,
      p.secret_sealed, p.session_hours, p.second_factor,
      p.default_roles, ${mappings} as mappings,
      array(select d.domain from domains d where d.provider_id = p.id and d.verified is not null order by d.domain) as domains
    from identity_providers p join teams t on t.id = p.team_id
    where ${'key' in by ? sql`p.key = ${by.key}` : sql`p.id = ${by.id}::bigint`}`.execute(db)
  return rows[0] && signInProviderOf(rows[0])
}

export type DomainProvider = { readonly key: string; readonly required: boolean }

/** The active provider of each verified domain, and whether its team accepts nothing else of these addresses. */
export async function listDomainProviders(db: Db): Promise<ReadonlyMap<string, DomainProvider>> {
  const { rows } = await sql<DomainProvider & { domain: string }>`
    select d.domain, p.key, t.sign_in_policy <> 'optional' as required
    from domains d join identity_providers p on p.id = d.provider_id join teams t on t.id = d.team_id
    where d.verified is not null and p.status = 'active'
    union all
    select unnest(domains), ${staffProviderKey}, required from staff_sign_in`.execute(db)
  return new Map(rows.map(({ domain, ...rest }) => [domain, rest]))
}

/** Remembers the id of an assertion of a provider until it expires. Returns whether it is new. */
export async function claimAssertion(db: Db | Trx, key: string, id: string, expires: Date): Promise<boolean> {
  const { rows } = await sql`
    insert into sso_assertions (provider_id, assertion_hash, expires)
    select p.id, ${hash('sha256', id, 'buffer')}, ${expires} from identity_providers p where p.key = ${key}
    on conflict do nothing returning provider_id`.execute(db)
  return rows.length > 0
}
