// Creates, changes and revokes API tokens, for admins of their team and for the operator. The secret is returned once, at
// creation; only its MAC is stored.
import type { QueryOf } from '@pharos/contract/route'
import type { Scope } from '@pharos/contract/scope'
import type { CreatedToken, listTokensRoute, Token } from '@pharos/contract/token'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { mac, type KeyRing } from '../runtime/secrets.ts'
import { requireStillGranted } from '../team/team-lock.ts'
import { createApiToken, formatApiToken } from './api-token-format.ts'
import {
  countApiTokens,
  findApiToken,
  insertApiToken,
  listApiTokens,
  lockApiToken,
  revokeApiToken,
  saveApiToken,
  type ApiTokenRow,
  type NewApiToken,
} from './api-token.store.ts'
import { parseTokenChange, parseNewToken, type TokenChange, type NewTokenBody } from './new-api-token.ts'

export type TokenDeps = {
  readonly postgres: Postgres
  readonly ring: KeyRing
  /** Maximum number of tokens of one team, including expired ones. */
  readonly quota: number
  readonly now: () => Date
}

/** The author of the change, for the audit log. */
type Author = Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry>
type TokenSettings = Omit<NewApiToken, 'id' | 'secretMac'>

/** Creates a token; `text` is the token itself and cannot be retrieved again. */
export async function issueApiToken(
  trx: Trx,
  ring: KeyRing,
  settings: TokenSettings,
  author: Author,
): Promise<{ readonly row: ApiTokenRow; readonly text: string }> {
  const token = createApiToken()
  const secretMac = mac(ring, 'api-token', token.secret)
  const row = await insertApiToken(trx, { ...settings, id: token.id, secretMac })
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
const recordedOf = ({ name, scopes, networks, isAdmin, expires, maxUnusedDays }: ApiTokenRow) => ({
  name,
  scopes,
  networks,
  isAdmin,
  expires,
  maxUnusedDays,
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
  const read = parseNewToken(body, now())
  const createdBy = actor.kind === 'user' ? actor.userId : null
  const create = async (trx: Trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    const count = await countApiTokens(trx, actor.teamId)
    if (count >= quota) throw quotaUsed(quota)
    const settings = { ...read, teamId: actor.teamId, createdBy }
    const { row, text } = await issueApiToken(trx, ring, settings, auditOf(operation))
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
    if (reason && change.expires !== undefined) throw ended(reason)
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

async function lockForChange(trx: Trx, { actor, ifMatch }: Operation, id: string): Promise<ApiTokenRow> {
  const token = await lockApiToken(trx, actor.teamId, id)
  if (!token) throw notFound('API token')
  requireMatch(ifMatch, versionOf(token))
  return token
}

const answerWith = (token: ApiTokenRow) => ({ body: present(token), etag: tagOf(token) })

/** A token has no version of its own: its tag is computed from the fields that an admin can change, not from its use. */
const versionOf = ({ name, networks, expires }: ApiTokenRow): string => etagOf({ name, networks, expires })
const tagOf = (token: ApiTokenRow): string =>
  etagOf({ name: token.name, networks: token.networks, expires: token.expires }, present(token))

const reasonOf = ({ isExpired, isUnused }: ApiTokenRow) =>
  isExpired ? 'expired' : isUnused ? 'unused' : null

function present(token: ApiTokenRow): Token {
  const reason = reasonOf(token)
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes as Scope[],
    is_admin: token.isAdmin,
    allowed_subnets: token.networks,
    created: token.created.toISOString(),
    created_by: token.creator,
    expires: token.expires?.toISOString() ?? null,
    max_unused_days: token.maxUnusedDays,
    last_used: token.lastUsed?.toISOString() ?? null,
    last_used_address: token.lastUsedAddress,
    active: reason === null,
    inactive_reason: reason,
  }
}
