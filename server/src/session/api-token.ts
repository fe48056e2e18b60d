// Creates, changes and revokes API tokens, for admins of their team and for the operator. The secret is returned once, at
// creation; only its MAC is stored.
import type { Resources } from '@pharos/contract/resource-limit'
import { grantsOf, hasGrant, type Role } from '@pharos/contract/role'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import type { Scope } from '@pharos/contract/scope'
import {
  overlapHoursByDefault,
  type CreatedToken,
  type listTokensRoute,
  type rotateTokenRoute,
  type Token,
  type transferTokenRoute,
} from '@pharos/contract/team/token'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { insertLimits } from '../limit/resource-limit.store.ts'
import { findResources, presentResources } from '../limit/resources.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import { rolesOfToken } from '../operation/grant.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { mac, type KeyRing } from '../runtime/secrets.ts'
import { lockServiceAccount } from '../team/service-account.ts'
import { requireStillGranted } from '../team/team-lock.ts'
import { createApiToken, formatApiToken } from './api-token-format.ts'
import {
  countApiTokens,
  findApiToken,
  insertApiToken,
  listApiTokens,
  lockApiToken,
  readApiToken,
  readTokenDaysMax,
  revokeApiToken,
  rotateApiToken,
  saveApiToken,
  saveServiceAccount,
  type ApiTokenRow,
  type NewApiToken,
} from './api-token.store.ts'
import {
  expiryOf,
  parseNewToken,
  parseTokenChange,
  requireNarrower,
  type NewTokenBody,
  type TokenChange,
} from './new-api-token.ts'

export type TokenDeps = {
  readonly postgres: Postgres
  readonly ring: KeyRing
  /** Maximum number of tokens of one team, including expired ones. */
  readonly quota: number
  readonly now: () => Date
}

/** The author of the change, for the audit log. */
type Author = Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry>
type TokenSettings = Omit<NewApiToken, 'id' | 'secretMac' | 'isLimited'> & {
  /** Null: all of the team. */
  readonly resources: Resources | null
}

/** Creates a token; `text` is the token itself and cannot be retrieved again. Throws `not_found` for a resource that the team does not have. */
export async function issueApiToken(
  trx: Trx,
  ring: KeyRing,
  { resources, ...settings }: TokenSettings,
  author: Author,
): Promise<{ readonly row: ApiTokenRow; readonly text: string }> {
  const token = createApiToken()
  const secretMac = mac(ring, 'api-token', token.secret)
  const { teamId } = settings
  const limits = resources && (await findResources(trx, teamId, resources, ['body', 'resources']))
  const inserted = await insertApiToken(trx, {
    ...settings,
    id: token.id,
    secretMac,
    isLimited: limits !== null,
  })
  if (limits) await insertLimits(trx, teamId, { tokenId: token.id }, limits)
  const row = limits ? await readApiToken(trx, teamId, token.id) : inserted
  await writeAudit(trx, { ...author, ...entryOf('create', token.id), after: recordedOf(row) })
  return { row, text: formatApiToken(token) }
}

/** Revokes a token of the team. Returns false if it is revoked already or does not exist. */
export async function revokeActiveApiToken(
  trx: Trx,
  teamId: number,
  id: string,
  author: Author,
): Promise<boolean> {
  const token = await lockApiToken(trx, teamId, id)
  if (!token) return false
  await revokeLocked(trx, teamId, token, author)
  return true
}

async function revokeLocked(trx: Trx, teamId: number, token: ApiTokenRow, author: Author): Promise<void> {
  await revokeApiToken(trx, teamId, token.id)
  await writeAudit(trx, { ...author, ...entryOf('revoke', token.id), before: recordedOf(token) })
}

const entryOf = (verb: string, id: string) => ({ action: `api_token.${verb}`, target: `api_token:${id}` })

/** The fields of a token in the audit log: its settings, not its use. */
const recordedOf = (row: ApiTokenRow) => ({
  name: row.name,
  scopes: row.scopes,
  networks: row.networks,
  isAdmin: row.is_admin,
  expires: row.expires,
  maxUnusedDays: row.max_unused_days,
  ...(row.limits ? { resources: presentResources(row.limits) } : {}),
  ...(row.service_account_id === null ? {} : { serviceAccountId: row.service_account_id }),
})

/** Returns a page of the tokens of the actor's team and the exact count, from one snapshot. */
export async function listTokens(
  { postgres }: TokenDeps,
  { actor }: Operation,
  query: QueryOf<typeof listTokensRoute>,
): Promise<{ results: Token[]; count: number }> {
  const { page, count } = await listApiTokens(postgres, actor.teamId, query)
  return { results: page.map(present), count }
}

export async function getToken(
  { postgres }: TokenDeps,
  { actor }: Operation,
  id: string,
): Promise<ChangeAnswer<Token>> {
  const token = await findApiToken(postgres, actor.teamId, id)
  if (!token) throw notFound('API token')
  return answerWith(token)
}

/** Throws `quota_exceeded`, and `invalid` with all errors. */
export async function createToken(
  { postgres, ring, quota, now }: TokenDeps,
  operation: Operation,
  body: NewTokenBody,
): Promise<ChangeAnswer<CreatedToken>> {
  const { actor } = operation
  const { settings, expires: given, resources } = parseNewToken(body, now())
  const createdBy = actor.kind === 'user' ? actor.userId : null
  const create = async (trx: Trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    const count = await countApiTokens(trx, actor.teamId)
    if (count >= quota) throw quotaUsed(quota)
    if (settings.serviceAccountId !== null)
      await lockServiceAccount(trx, actor.teamId, settings.serviceAccountId)
    const expires = expiryOf(given, await readTokenDaysMax(trx, actor.teamId), now())
    const owned = { ...settings, expires, resources, teamId: actor.teamId, createdBy }
    const { row, text } = await issueApiToken(trx, ring, owned, auditOf(operation))
    return { body: { ...present(row), token: text }, etag: tagOf(row) }
  }
  return runChange(postgres, operation, create, { sealedUnder: ring })
}

const quotaUsed = (quota: number) => fail('quota_exceeded', 'apiTokens', { limit: quota })

/** Throws `not_found`, `precondition_failed`, `invalid`, and `conflict` if the expiry of an expired token is extended. */
export function updateToken(
  { postgres, now }: TokenDeps,
  operation: Operation,
  id: string,
  body: TokenChange,
): Promise<ChangeAnswer<Token>> {
  const { teamId } = operation.actor
  const change = parseTokenChange(body, now())
  return runChange(postgres, operation, async (trx) => {
    const before = await lockForChange(trx, operation, id)
    const reason = reasonOf(before)
    if ((reason === 'expired' || reason === 'unused') && change.expires !== undefined) throw ended(reason)
    requireNarrower(before, change)
    const next = { ...before, ...change }
    if (isSame(before, next)) return answerWith(before)
    const after = await saveApiToken(trx, teamId, next)
    const recorded = { before: recordedOf(before), after: recordedOf(after) }
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('update', id), ...recorded })
    return answerWith(after)
  })
}

const ended = (reason: 'expired' | 'unused') =>
  fail('conflict', reason === 'expired' ? 'tokenExpired' : 'tokenUnused')

const isSame = (a: ApiTokenRow, b: ApiTokenRow): boolean =>
  JSON.stringify(recordedOf(a)) === JSON.stringify(recordedOf(b))

export function deleteToken(
  { postgres }: TokenDeps,
  operation: Operation,
  id: string,
): Promise<ChangeAnswer<null>> {
  return runChange(postgres, operation, async (trx) => {
    const token = await lockForChange(trx, operation, id)
    await revokeLocked(trx, operation.actor.teamId, token, auditOf(operation))
    return { body: null }
  })
}

/** Gives the token a new secret. Throws `not_found`, `precondition_failed`, and `conflict` for a token that has ended. */
export function rotateToken(
  { postgres, ring }: TokenDeps,
  operation: Operation,
  id: string,
  { overlap_hours: overlapHours = overlapHoursByDefault }: BodyOf<typeof rotateTokenRoute>,
): Promise<ChangeAnswer<CreatedToken>> {
  const { teamId } = operation.actor
  const rotate = async (trx: Trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    const before = await lockForChange(trx, operation, id)
    const reason = reasonOf(before)
    if (reason === 'expired' || reason === 'unused') throw ended(reason)
    const { secret } = createApiToken()
    await rotateApiToken(trx, id, mac(ring, 'api-token', secret), overlapHours)
    const row = await readApiToken(trx, teamId, id)
    const after = { previous_secret_until: row.previous_until }
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('rotate', id), after })
    return {
      body: { ...present(row), token: formatApiToken({ holder: 'team', id, secret }) },
      etag: tagOf(row),
    }
  }
  return runChange(postgres, operation, rotate, { sealedUnder: ring })
}

/** Moves a token to a service account. Throws `not_found`, `precondition_failed`, `invalid` if the account may do more than the token. */
export function transferToken(
  { postgres }: TokenDeps,
  operation: Operation,
  id: string,
  { service_account_id: accountId }: BodyOf<typeof transferTokenRoute>,
): Promise<ChangeAnswer<Token>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    const account = await lockServiceAccount(trx, teamId, accountId)
    const before = await lockForChange(trx, operation, id)
    if (before.service_account_id === accountId) return answerWith(before)
    const held = await readTokenRoles(trx, teamId, before)
    if (grantsOf(account.roles).some((grant) => !hasGrant(held, grant)))
      throw invalid(['body', 'service_account_id'], 'widens')
    await saveServiceAccount(trx, teamId, id, accountId)
    const after = await readApiToken(trx, teamId, id)
    const recorded = { before: recordedOf(before), after: recordedOf(after) }
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('transfer', id), ...recorded })
    return answerWith(after)
  })
}

async function readTokenRoles(
  trx: Trx,
  teamId: number,
  { is_admin: isAdmin, service_account_id: serviceAccountId }: ApiTokenRow,
): Promise<readonly Role[]> {
  if (serviceAccountId === null) return rolesOfToken(isAdmin)
  return (await lockServiceAccount(trx, teamId, serviceAccountId)).roles
}

async function lockForChange(trx: Trx, { actor, ifMatch }: Operation, id: string): Promise<ApiTokenRow> {
  const token = await lockApiToken(trx, actor.teamId, id)
  if (!token) throw notFound('API token')
  requireMatch(ifMatch, versionOf(token))
  return token
}

const answerWith = (token: ApiTokenRow) => ({ body: present(token), etag: tagOf(token) })

/** A token has no version: its tag is computed from the fields that an admin can change, not from its use. */
const versionOf = (token: ApiTokenRow): string => etagOf(changeableOf(token))
const tagOf = (token: ApiTokenRow): string => etagOf(changeableOf(token), present(token))
const changeableOf = ({
  name,
  networks,
  expires,
  previous_until: previousUntil,
  service_account_id: serviceAccountId,
}: ApiTokenRow) => ({
  name,
  networks,
  expires,
  previousUntil,
  serviceAccountId,
})

function reasonOf({
  is_expired: isExpired,
  is_unused: isUnused,
  is_disabled: isDisabled,
  lacks_resources: lacksResources,
}: ApiTokenRow): Token['inactive_reason'] {
  if (isExpired) return 'expired'
  if (isUnused) return 'unused'
  if (isDisabled) return 'disabled'
  return lacksResources ? 'no_resources' : null
}

function present(token: ApiTokenRow): Token {
  const reason = reasonOf(token)
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes as Scope[],
    is_admin: token.is_admin,
    resources: presentResources(token.limits),
    service_account_id: token.service_account_id,
    allowed_subnets: token.networks,
    created: token.created.toISOString(),
    created_by: token.creator,
    expires: token.expires?.toISOString() ?? null,
    max_unused_days: token.max_unused_days,
    last_used: token.last_used?.toISOString() ?? null,
    last_used_address: token.last_used_address,
    active: reason === null,
    inactive_reason: reason,
    previous_secret_until: token.previous_until?.toISOString() ?? null,
  }
}
