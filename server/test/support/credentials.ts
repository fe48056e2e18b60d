// Credentials for tests, created without signing in: sessions with their tokens, API tokens, and access tokens that are each
// invalid in one way.
import { SignJWT, generateKeyPair } from 'jose'
import { sql } from 'kysely'
import { AccessTokens } from '../../src/session/access-token.ts'
import { createApiToken, formatApiToken } from '../../src/session/api-token-format.ts'
import { formatRefreshToken } from '../../src/session/refresh-token.ts'
import { insertSession } from '../../src/session/session.store.ts'
import { mac } from '../../src/runtime/secrets.ts'
import type { TestApi } from '../api.ts'

export type Session = { readonly sessionId: string; readonly access: string; readonly refresh: string }

/** `none`: staff who are no member of the team have no open access to it. */
export type StaffEntry = 'none' | 'reading' | 'changing'

/** Creates a session of the user in the team, even if the user is not a member of it: staff have entered it with a reason. */
export async function openSession(
  api: TestApi,
  userId: number,
  teamId: number,
  { address = '127.0.0.1', userAgent = 'lightMyRequest', entry = 'changing' as StaffEntry } = {},
): Promise<Session> {
  const { owner } = api.database.postgres
  const { passwordHash, sessionVersion, secondFactor } = await owner
    .selectFrom('users')
    .select((users) => [
      'password_hash as passwordHash',
      'session_version as sessionVersion',
      users('totp_enabled', 'is not', null).as('secondFactor'),
    ])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const origin = {
    userId,
    passwordHash,
    sessionVersion,
    teamId,
    address,
    userAgent,
    secondFactor: Boolean(secondFactor),
  }
  const sessionId = (await insertSession(owner, origin, { idleSeconds: 3600, absoluteSeconds: 3600 }))!
  if (entry !== 'none')
    await sql`
      insert into staff_accesses (team_id, user_id, session_id, reason, change, expires)
      select ${teamId}, id, ${sessionId}, 'a test of the server', ${entry === 'changing'}, now() + interval '1 hour' from users u
      where id = ${userId} and is_staff
        and not exists (select from memberships m where m.user_id = u.id and m.team_id = ${teamId})`.execute(
      owner,
    )
  const access = await new AccessTokens(api.signingKeys, 300).sign({
    userId,
    sessionId,
    teamId,
    sessionVersion,
  })
  return { sessionId, access, refresh: formatRefreshToken(api.config.secret, { sessionId, counter: 1 }) }
}

export type ApiTokenOptions = {
  readonly scopes?: readonly string[]
  readonly networks?: readonly string[]
  readonly expires?: Date
  readonly revoked?: boolean
  readonly isAdmin?: boolean
  /** Days since the token was created and since its last use; a token expires after 7 unused days. */
  readonly idleDays?: number
  /** Limited to a zone, a prefix, a port and a service of the team that no test uses. */
  readonly isLimited?: boolean
}

/** A test's API, or the database and the key ring of a process. */
export type TokenIssuer = {
  readonly database: Pick<TestApi['database'], 'postgres'>
  readonly config: Pick<TestApi['config'], 'secret'>
}

/** Creates an API token of the team and returns its text. */
export async function addApiToken(
  api: TokenIssuer,
  teamId: number,
  options: ApiTokenOptions = {},
): Promise<string> {
  const token = createApiToken()
  const created = new Date(Date.now() - (options.idleDays ?? 0) * 86_400_000)
  await api.database.postgres.owner
    .insertInto('api_tokens')
    .values({
      id: token.id,
      team_id: teamId,
      name: 'test',
      secret_mac: mac(api.config.secret, 'api-token', token.secret),
      scopes: [...(options.scopes ?? [])],
      allowed_networks: [...(options.networks ?? [])],
      is_admin: options.isAdmin ?? false,
      created,
      expires: options.expires ?? null,
      max_unused_days: options.idleDays === undefined ? null : 7,
      revoked: options.revoked ? new Date() : null,
      is_limited: options.isLimited ?? false,
    })
    .execute()
  if (options.isLimited) await limitToOthers(api, teamId, token.id)
  return formatApiToken(token)
}

async function limitToOthers({ database }: TokenIssuer, teamId: number, tokenId: string): Promise<void> {
  await sql`
    with zone as (
      insert into dns_zones (team_id, name, name_key)
      select ${teamId}, 'unused-' || ${teamId} || '.example.', convert_to('example' || chr(1) || ${tokenId}, 'UTF8')
      returning id),
    prefix as (
      insert into prefixes (team_id, prefix) values (${teamId}, '192.0.2.240/28')
      on conflict (team_id, prefix) do update set name = excluded.name returning id),
    service as (insert into services (team_id, name, type) values (${teamId}, 'unused ' || ${tokenId}, 'transit') returning id)
    insert into resource_limits (team_id, token_id, zone_id, prefix_id, network, service_id)
    select ${teamId}::integer, ${tokenId}, id, null::integer, null::cidr, null::integer from zone
    union all select ${teamId}, ${tokenId}, null, id, '192.0.2.240/28', null from prefix
    union all select ${teamId}, ${tokenId}, null, null, null, id from service`.execute(
    database.postgres.owner,
  )
}

/** Creates a staff token and returns its text. */
export async function addStaffToken(
  api: TestApi,
  {
    scopes = [],
    networks = [],
    expires,
    revoked = false,
  }: Omit<ApiTokenOptions, 'isAdmin' | 'idleDays'> = {},
): Promise<string> {
  const token = createApiToken('staff')
  await api.database.postgres.owner
    .insertInto('staff_tokens')
    .values({
      id: token.id,
      name: 'test',
      secret_mac: mac(api.config.secret, 'staff-token', token.secret),
      scopes: [...scopes],
      allowed_networks: [...networks],
      expires: expires ?? new Date(Date.now() + 3_600_000),
      revoked: revoked ? new Date() : null,
    })
    .execute()
  return formatApiToken(token)
}

export type Forgery = {
  readonly audience?: string
  readonly type?: string
  readonly issuer?: string
  readonly secondsToLive?: number
  readonly sessionVersion?: number
  /** Signs with a foreign key under the id of a key of the ring. */
  readonly foreignKey?: boolean
}

/** Returns an access token of a new session of the user: valid except for the forgery. */
export async function forgeAccess(
  api: TestApi,
  userId: number,
  teamId: number,
  forgery: Forgery,
): Promise<string> {
  const { sessionId } = await openSession(api, userId, teamId)
  const { kid, privateKey } = api.signingKeys.current()
  const key = forgery.foreignKey ? (await generateKeyPair('Ed25519')).privateKey : privateKey
  const now = Math.floor(Date.now() / 1000)
  const expires = now + (forgery.secondsToLive ?? 300)
  return new SignJWT({ sid: sessionId, sv: forgery.sessionVersion ?? 1, tid: teamId })
    .setProtectedHeader({ alg: 'Ed25519', typ: forgery.type ?? 'at+jwt', kid })
    .setIssuer(forgery.issuer ?? 'pharos')
    .setAudience(forgery.audience ?? 'pharos-web')
    .setSubject(String(userId))
    .setIssuedAt(Math.min(now, expires - 300))
    .setExpirationTime(expires)
    .sign(key)
}

/** Returns an access token with the algorithm `none` (RFC 7519, section 6). */
export async function unsignedAccess(api: TestApi, userId: number, teamId: number): Promise<string> {
  const [, payload] = (await openSession(api, userId, teamId)).access.split('.')
  const head = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')
  return `${head}.${payload}.`
}
