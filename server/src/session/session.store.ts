// Sessions in the database. Every function works on the sessions of one user; a session's id is only in its tokens.
import { sql } from 'kysely'
import type { listSessionsRoute } from '@pharos/contract/session/account'
import type { QueryOf } from '@pharos/contract/route'
import type { User } from '@pharos/contract/session/session'
import type { StaffRole } from '@pharos/contract/staff-role'
import { columns, type RowOf } from '../db/columns.ts'
import { listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { hasFactor, hasProof, isLocalSession, isStrongSession, opensLocally } from '../db/proofs.ts'
import { gracePeriodMs, lateRepeatMs, type Client, type Rotation } from './rotation.ts'

export type SessionLifetime = { readonly idleSeconds: number; readonly absoluteSeconds: number }

export type SignInAccount = {
  /** Staff that sign in without the identity provider of staff although it is required. */
  readonly is_break_glass: boolean
  readonly id: number
  /** Null: the account signs in with an identity provider only. */
  readonly passwordHash: string | null
  readonly emailConfirmed: boolean
  readonly isDemo: boolean
  readonly isStaff: boolean
  readonly hasSecondFactor: boolean
  readonly sessionVersion: number
  /**
   * Of the teams that a password or a passkey opens, else of all: that of the most recently used session, else the first by name. Null for a user without
   * teams.
   */
  readonly teamId: number | null
}

/** A sign-in of an account that has a second factor is strong. */
const homeTeam = sql`(
  select t.id from memberships m join teams t on t.id = m.team_id
  where m.user_id = u.id
  order by ${opensLocally(hasFactor)} desc,
    (select max(s.last_used) from sessions s where s.user_id = u.id and s.team_id = t.id) desc nulls last, t.name, t.id limit 1)`

/** Returns the team in whose audit log actions of the user without a session are recorded. */
export async function findHomeTeam(db: Db | Trx, userId: number): Promise<number | null> {
  const { rows } = await sql<{ teamId: number | null }>`
    select ${homeTeam} as "teamId" from users u where u.id = ${userId}`.execute(db)
  return rows[0]?.teamId ?? null
}

/** User `u` is of the accounts that have the rights of staff without the identity provider that is required. */
const isBreakGlass = sql<boolean>`(
  u.is_staff and exists (select from staff_sign_in f where f.required and lower(u.email) = any(f.break_glass)))`

export async function findSignInAccount(
  db: Db,
  by: { readonly email: string } | { readonly userId: number },
): Promise<SignInAccount | undefined> {
  const { rows } = await sql<SignInAccount>`
    select u.id, u.password_hash as "passwordHash", u.email_confirmed is not null as "emailConfirmed",
      u.is_demo as "isDemo", u.is_staff as "isStaff", ${hasFactor} as "hasSecondFactor",
      ${isBreakGlass} as is_break_glass,
      u.session_version as "sessionVersion", ${homeTeam} as "teamId"
    from users u where ${'email' in by ? sql`lower(u.email) = lower(${by.email})` : sql`u.id = ${by.userId}`}`.execute(
    db,
  )
  return rows[0]
}

const gracePeriod = sql`make_interval(secs => ${gracePeriodMs / 1000})`

/** Of the tokens that are still accepted: one of the two columns, oldest first. */
const repeatable = (column: 'rotated' | 'until') => sql`
  select ${sql.ref(column)} from unnest(rotations, renewed_until) as past(rotated, until)
  where greatest(rotated + ${gracePeriod}, until) > now() order by rotated`

const expiryOfNew = ({ idleSeconds, absoluteSeconds }: SessionLifetime) =>
  sql`now() + make_interval(secs => ${Math.min(idleSeconds, absoluteSeconds)})`

export type NewSession = {
  readonly userId: number
  /** The hash that the password was compared with; null for an account without one, which a passkey has opened. */
  readonly passwordHash: string | null
  /**
   * Version as read with the hash: it changes whenever all sessions of the user end, as when a second factor is
   * enabled.
   */
  readonly sessionVersion: number
  readonly teamId: number
  readonly address: string
  readonly userAgent: string
  /** Whether a second factor was used, or a passkey that verified the user: the proof of the session is strong. */
  readonly secondFactor: boolean
}

/**
 * Opens a session; undefined if the password or the second factor was changed since the account was read. Takes a shared lock on
 * the account: either a concurrent change sees this session and revokes it, or this function sees the change.
 */
export async function insertSession(
  db: Db | Trx,
  session: NewSession,
  lifetime: SessionLifetime,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with opened as (
      insert into sessions (user_id, team_id, address, user_agent, last_address, last_user_agent, second_factor, expires)
      select id, ${session.teamId}, ${session.address}, ${session.userAgent}, ${session.address}, ${session.userAgent},
        ${session.secondFactor}, ${expiryOfNew(lifetime)}
      from users where id = ${session.userId} and password_hash is not distinct from ${session.passwordHash}
        and session_version = ${session.sessionVersion} for share
      returning id, second_factor)
    insert into session_proofs (session_id, kind, strong)
    select id, 'local', second_factor from opened returning session_id as id`.execute(db)
  return rows[0]?.id
}

/**
 * Opens a session that replaces one just revoked: of the same user, in the same team. Undefined if the user is no longer
 * in the team. A break-glass account that has added its first factor signs in with it: that is what is reported.
 */
export async function insertSuccessor(
  trx: Trx,
  revokedId: string,
  { address, userAgent }: Client,
  secondFactor: boolean | null,
  lifetime: SessionLifetime,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with opened as (
      insert into sessions (user_id, team_id, address, user_agent, last_address, last_user_agent, second_factor, expires)
      select user_id, team_id, ${address}, ${userAgent}, ${address}, ${userAgent},
        coalesce(${secondFactor}::boolean and (${isStrongSession} or not ${isBreakGlass}), ${isStrongSession}), ${expiryOfNew(lifetime)}
      from sessions s join users u on u.id = s.user_id
      where s.id = ${revokedId} and user_profile(s.user_id, s.team_id) is not null
      returning id, second_factor)
    insert into session_proofs (session_id, kind, strong)
    select id, 'local', second_factor from opened returning session_id as id`.execute(trx)
  return rows[0]?.id
}

export type SessionHolder = {
  readonly sessionId: string
  readonly userId: number
  readonly teamId: number
  readonly sessionVersion: number
  readonly isDemo: boolean
  readonly profile: User
}

/** A refresh token, and the client that presents it. */
export type Presented = Client & { readonly sessionId: string; readonly counter: number }

/**
 * Rotates each of these tokens that is the newest of its session: one statement decides which of several concurrent
 * requests is the first. Omits tokens whose session does not exist, has ended, or is at another number, or whose user
 * left the team. A token that is listed twice is rotated once, and both get its successor.
 *
 * `skipLocked` also omits sessions that another transaction is changing: one session must not delay the others.
 */
export async function rotateSessions(
  db: Db,
  presented: readonly Presented[],
  lifetime: SessionLifetime,
  { skipLocked }: { readonly skipLocked: boolean },
): Promise<SessionHolder[]> {
  const parametersOf = <Key extends keyof Presented>(key: Key) => presented.map((one) => one[key])
  // The lock returns the newest version of a session, of which the team is then read.
  const { rows } = await sql<SessionHolder>`
    with newest as (
      select s.id, s.counter, s.user_id, s.team_id, p.address, p.user_agent
      from unnest(${parametersOf('sessionId')}::uuid[], ${parametersOf('counter')}::integer[],
        ${parametersOf('address')}::inet[], ${parametersOf('userAgent')}::text[]) as p(id, counter, address, user_agent)
      join sessions s on s.id = p.id
      where s.counter = p.counter and s.revoked is null and s.expires > now()
      for no key update of s ${skipLocked ? sql`skip locked` : sql``}),
    holder as materialized (
      select s.*, case when ${hasProof} then session_user_profile(s.user_id, s.team_id, s.id) end as profile from newest s),
    rotated as (
      update sessions s set
        counter = s.counter + 1,
        rotations = array(${repeatable('rotated')}) || now(),
        renewed_until = array_append(array(${repeatable('until')}), null),
        last_used = now(),
        last_address = h.address,
        last_user_agent = h.user_agent,
        expires = least(now() + make_interval(secs => ${lifetime.idleSeconds}),
          s.created + make_interval(secs => ${lifetime.absoluteSeconds}))
      from holder h
      where s.id = h.id and s.counter = h.counter and s.revoked is null and h.profile is not null
      returning s.id)
    select h.id as "sessionId", h.user_id as "userId", h.team_id as "teamId", u.session_version as "sessionVersion",
      u.is_demo as "isDemo", h.profile
    from rotated r join holder h on h.id = r.id join users u on u.id = h.user_id`.execute(db)
  return rows
}

/** Restarts the grace period of the newest token's parent, within the time in which late repeats are accepted. */
const renewedGrace = sql`case when cardinality(rotations) = 0 then '{}' else
  renewed_until[:cardinality(rotations) - 1] ||
    least(now() + ${gracePeriod}, rotations[cardinality(rotations)] + make_interval(secs => ${lateRepeatMs / 1000})) end`

/** Restarts the grace period of the parent; false if the session has ended or its counter has changed. */
export async function renewGrace(trx: Trx, sessionId: string, counter: number): Promise<boolean> {
  const { rows } = await sql`
    update sessions set renewed_until = ${renewedGrace}, last_used = now()
    where id = ${sessionId} and counter = ${counter} and revoked is null returning id`.execute(trx)
  return rows.length > 0
}

export type PresentedSession = Rotation & {
  readonly userId: number
  readonly teamId: number
  /** Revoked, expired, or without a proof that has not expired. */
  readonly over: boolean
  readonly is_local: boolean
  readonly now: Date
  readonly sessionVersion: number
  readonly isDemo: boolean
  readonly profile: User | null
}

/** Returns the session with the database's time; the profile is for `inTeam`, else for the session's team. */
export async function findSession(
  db: Db | Trx,
  sessionId: string,
  inTeam: number | null = null,
): Promise<PresentedSession | undefined> {
  const { rows } = await sql<PresentedSession>`
    select s.user_id as "userId", s.team_id as "teamId", s.counter, s.rotations, now() as now,
      s.renewed_until as "renewedUntil",
      host(s.last_address) as "lastAddress", s.last_user_agent as "lastUserAgent",
      s.revoked is not null or s.expires <= now() or not ${hasProof} as over, ${isLocalSession} as is_local,
      u.session_version as "sessionVersion", u.is_demo as "isDemo",
      session_user_profile(s.user_id, coalesce(${inTeam}::integer, s.team_id), s.id) as profile
    from sessions s join users u on u.id = s.user_id where s.id = ${sessionId}`.execute(db)
  return rows[0]
}

const openColumns = columns('sessions', 's', ['id', 'team_id', 'created', 'last_used', 'expires'], {
  address: sql<string | null>`host(s.address)`,
  user_agent: sql<string | null>`s.user_agent`,
})
export type OpenSessionRow = RowOf<typeof openColumns>

/** Returns a page of the user's active sessions, the most recently used first. */
export const listOpenSessions = (
  db: Db,
  userId: number,
  { ordering, ...slice }: QueryOf<typeof listSessionsRoute>,
): Promise<Page<OpenSessionRow>> =>
  listAll(db, {
    matching: sql`
      select s.* from sessions s where s.user_id = ${userId} and s.revoked is null and s.expires > now()`,
    columns: openColumns,
    order: orderBy(
      ordering,
      { last_used: sql`s.last_used`, created: sql`s.created`, expires: sql`s.expires` },
      sql`s.id`,
    ),
    slice,
  })

/** Returns the team of an active session of the user. */
export async function findOwnSessionTeam(
  trx: Trx,
  userId: number,
  sessionId: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ teamId: number }>`
    select team_id as "teamId" from sessions
    where id = ${sessionId} and user_id = ${userId} and revoked is null and expires > now() for update`.execute(
    trx,
  )
  return rows[0]?.teamId
}

export type SessionTimes = { readonly created: Date; readonly expires: Date; readonly lastUsed: Date }

export async function findSessionTimes(db: Db, sessionId: string): Promise<SessionTimes | undefined> {
  return db
    .selectFrom('sessions')
    .select(['created', 'expires', 'last_used as lastUsed'])
    .where('id', '=', sessionId)
    .executeTakeFirst()
}

/** Revokes a session; returns whether it was active. */
export async function revokeSession(db: Db | Trx, sessionId: string, reason: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ revoked: sql<Date>`now()`, revoked_reason: reason })
    .where('id', '=', sessionId)
    .where('revoked', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Every revocation of a user's sessions locks the user before any session. Returns whether there is one. */
export async function lockUser(trx: Trx, userId: number): Promise<boolean> {
  const { rows } = await sql`select from users where id = ${userId} for no key update`.execute(trx)
  return rows.length > 0
}

/**
 * Revokes all sessions of the user, and thereby every access token. Locks the user before any session, as replacing the
 * password does: concurrent revocations wait for each other.
 */
export async function revokeAllSessions(trx: Trx, userId: number, reason: string): Promise<void> {
  await lockUser(trx, userId)
  await trx
    .updateTable('sessions')
    .set({ revoked: sql<Date>`now()`, revoked_reason: reason })
    .where('user_id', '=', userId)
    .where('revoked', 'is', null)
    .execute()
  await trx
    .updateTable('users')
    .set({ session_version: sql<number>`session_version + 1` })
    .where('id', '=', userId)
    .execute()
}

/**
 * Switches the session to another team and returns the number of its newest token; undefined if that is not possible. Does not
 * rotate the token: a lost answer must not leave the tabs one token behind. Restarts the grace period of the token's parent: tabs
 * that wake at the same time may have it while this one continues with the newest.
 */
export async function switchTeam(
  db: Db | Trx,
  sessionId: string,
  teamId: number,
): Promise<number | undefined> {
  // Queried first: an update of no row still fires the trigger that clears the credential cache of every process.
  const able = await sql`
    select from sessions where id = ${sessionId} and revoked is null and expires > now()
      and user_profile(user_id, (select id from teams where id = ${teamId}::bigint)) is not null`.execute(db)
  if (able.rows.length === 0) return undefined
  const { rows } = await sql<{ counter: number }>`
    update sessions set team_id = ${teamId}, renewed_until = ${renewedGrace}, last_used = now()
    where id = ${sessionId} and revoked is null and expires > now() and user_profile(user_id, ${teamId}) is not null
    returning counter`.execute(db)
  return rows[0]?.counter
}

export type ProvidedSession = {
  readonly userId: number
  /** Version as read with the account. */
  readonly sessionVersion: number
  readonly teamId: number
  /** Null: of the staff of the installation. */
  readonly providerId: number | null
  /** By the groups; null: those of the account. */
  readonly staffRoles: readonly StaffRole[] | null
  readonly hours: number
  readonly strong: boolean
  /** Session at the provider; null if it states none. */
  readonly idpSession: string | null
  readonly address: string
  readonly userAgent: string
  /** The session that the new one replaces: its proofs move to it. */
  readonly replaced: string | null
}

/**
 * Opens a session with a proof of an identity provider, and revokes the replaced one; undefined if all sessions of the user were ended since the
 * account was read.
 */
export async function insertProvidedSession(
  trx: Trx,
  session: ProvidedSession,
  lifetime: SessionLifetime,
): Promise<string | undefined> {
  const { userId, teamId, providerId, staffRoles, address, userAgent, strong, replaced } = session
  const kind = providerId === null ? 'staff' : 'provider'
  const { rows } = await sql<{ id: string }>`
    with opened as (
      insert into sessions (user_id, team_id, address, user_agent, last_address, last_user_agent, second_factor, expires)
      select id, ${teamId}, ${address}, ${userAgent}, ${address}, ${userAgent}, ${strong}, ${expiryOfNew(lifetime)}
      from users where id = ${userId} and session_version = ${session.sessionVersion} for share
      returning id)
    insert into session_proofs (session_id, kind, at, expires, strong, provider_id, team_id, staff_roles, idp_session)
    select o.id, ${kind}::text, now(), now() + make_interval(hours => ${session.hours}), ${strong}, ${providerId}::integer, null::integer,
      ${staffRoles}::text[], ${session.idpSession}::text
    from opened o
    union all
    select o.id, p.kind, p.at, p.expires, p.strong, p.provider_id, p.team_id, p.staff_roles, p.idp_session
    from opened o, session_proofs p
    where p.session_id = ${replaced}::uuid and (p.kind, p.provider_id) is distinct from (${kind}::text, ${providerId}::integer)
      and coalesce(p.expires > now(), true)
    union all
    select o.id, 'local', s.created, null, s.second_factor, null, null, null, null
    from opened o, sessions s
    where s.id = ${replaced}::uuid and not exists (select from session_proofs p where p.session_id = s.id)
    returning session_id as id`.execute(trx)
  if (rows[0] && replaced !== null) await revokeSession(trx, replaced, 'replaced')
  return rows[0]?.id
}

/** Returns the user of an active session, which is locked. */
export async function lockSessionUser(trx: Trx, sessionId: string): Promise<number | undefined> {
  const { rows } = await sql<{ user_id: number }>`
    select user_id from sessions
    where id = ${sessionId} and revoked is null and expires > now() for no key update`.execute(trx)
  return rows[0]?.user_id
}
