// Adds, lists, renames and removes the passkeys of the user's own account. Adding or removing one changes the second factor: all sessions are
// revoked, and the caller continues in a new one.
import { passkeysMax, type listPasskeysRoute, type Passkey } from '@pharos/contract/session/passkey'
import type { QueryOf } from '@pharos/contract/route'
import type { SessionTokens } from '@pharos/contract/session/session'
import type { PasskeyCreation, PasskeyRegistration, PasskeyRequest } from '@pharos/contract/session/webauthn'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { isUpgradeFinished } from '../db/release.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import { challengeMs, createChallenge, type ChallengeUse } from './passkey-challenge.ts'
import {
  checkRegistration,
  descriptorOf,
  passkeyAlgorithms,
  passkeyRequestOf,
  signInUse,
  userHandleOf,
  type PasskeyDeps,
} from './passkey-check.ts'
import {
  deletePasskeyRow,
  findPasskey,
  insertPasskey,
  listPasskeyRows,
  listUserPasskeys,
  lockPasskey,
  savePasskeyName,
  type PasskeyRow,
} from './passkey.store.ts'
import { requirePassword } from './password-check.ts'
import type { RelyingParty } from './relying-party.ts'
import type { PersonalOperation } from './replace-sessions.ts'
import type { RequestSource } from './request-source.ts'
import { requireUser, userIdOf } from './require-user.ts'
import { applyFactorChange, getHolder, renewCodes, type SecondFactorDeps } from './second-factor.ts'
import { deleteUnusedCodes, findFactorStatus, lockCounter } from './second-factor.store.ts'
import { lockUser } from './session.store.ts'

export type PasskeyOptionsDeps = PasskeyDeps & { readonly optionsOfClient: ClientLimiter }
export type OwnPasskeyDeps = PasskeyDeps & SecondFactorDeps

/** Needs no account, writes nothing, and returns the same for everybody. Throws `rate_limited`. */
export async function createSignInOptions(
  deps: PasskeyOptionsDeps,
  { address }: RequestSource,
): Promise<{ public_key: PasskeyRequest }> {
  deps.optionsOfClient.take(address)
  return { public_key: passkeyRequestOf(deps.ring, requireParty(deps), signInUse) }
}

/** The session that asked for the options is the one that may use them. */
const registrationUse = (operation: Operation): ChallengeUse => ({
  use: 'register',
  subject: requireUser(operation).sessionId,
})

export async function createPasskeyOptions(
  deps: OwnPasskeyDeps,
  operation: Operation,
  { current_password }: { readonly current_password: string },
): Promise<{ public_key: PasskeyCreation }> {
  const userId = userIdOf(operation)
  const party = requireParty(deps)
  await requirePassword(deps, userId, current_password)
  await requireFinishedUpgrade(deps.db)
  const existing = await listUserPasskeys(deps.db, userId)
  requireRoom(existing)
  const { email, name } = await getHolder(deps.db, userId)
  return {
    public_key: {
      challenge: createChallenge(deps.ring, registrationUse(operation)),
      rp: { id: party.id, name: party.name },
      user: { id: userHandleOf(userId), name: email, displayName: name },
      pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: challengeMs,
      excludeCredentials: existing.map(descriptorOf),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
    },
  }
}

export type AddedPasskey = SessionTokens & {
  readonly passkey: Passkey
  readonly recovery_codes: string[] | null
}

/** The recovery codes are returned only here, and only with the first factor. */
export async function createPasskey(
  deps: OwnPasskeyDeps,
  operation: PersonalOperation,
  { name, response }: { readonly name: string; readonly response: PasskeyRegistration },
): Promise<AddedPasskey> {
  const userId = userIdOf(operation)
  const relyingParty = requireParty(deps)
  const created = await checkRegistration({ ...deps, relyingParty }, registrationUse(operation), response)
  if (!created) throw invalid(['body', 'response'], 'passkey')
  const { credential, aaguid, credentialBackedUp: backedUp } = created
  return deps.db.transaction().execute(async (trx) => {
    await lockFactors(trx, userId)
    await requireFinishedUpgrade(trx)
    requireRoom(await listUserPasskeys(trx, userId))
    const { has_factor: hasFactor } = await findFactorStatus(trx, userId)
    const row = await insertPasskey(trx, {
      userId,
      credentialId: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      transports: response.response.transports,
      backedUp,
      aaguid,
      relyingParty: relyingParty.id,
      name,
    })
    if (!row) throw fail('exists', 'passkey')
    const recovery_codes = hasFactor ? null : await renewCodes(trx, deps.ring, userId)
    const change = { action: 'passkey.add', after: recorded(row), notice: 'passkey added' } as const
    const tokens = await applyFactorChange(trx, deps, operation, change, true)
    return { ...tokens, passkey: present(row, relyingParty), recovery_codes }
  })
}

export async function deletePasskey(
  deps: OwnPasskeyDeps,
  operation: PersonalOperation,
  id: number,
  { current_password }: { readonly current_password: string },
): Promise<SessionTokens> {
  const userId = userIdOf(operation)
  await requirePassword(deps, userId, current_password)
  return deps.db.transaction().execute(async (trx) => {
    await lockFactors(trx, userId)
    const row = await lockPasskey(trx, userId, id)
    if (!row) throw notFound('passkey')
    await deletePasskeyRow(trx, row)
    await deleteUnusedCodes(trx, userId)
    const { has_factor: hasFactor } = await findFactorStatus(trx, userId)
    const notice = hasFactor ? 'passkey removed' : 'off'
    const change = { action: 'passkey.delete', before: recorded(row), notice } as const
    return applyFactorChange(trx, deps, operation, change, hasFactor)
  })
}

export async function listPasskeys(
  deps: PasskeyDeps,
  operation: Operation,
  query: QueryOf<typeof listPasskeysRoute>,
): Promise<{ results: Passkey[]; count: number }> {
  const { page, count } = await listPasskeyRows(deps.db, userIdOf(operation), query)
  return { results: page.map((row) => present(row, deps.relyingParty)), count }
}

/** Throws `not_found`. */
export async function getPasskey(
  deps: PasskeyDeps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<Passkey>> {
  const row = await findPasskey(deps.db, userIdOf(operation), id)
  if (!row) throw notFound('passkey')
  return answerWith(deps, row)
}

/** Changes the name, which has no effect on signing in. Throws `not_found` and `precondition_failed`. */
export function updatePasskey(
  deps: PasskeyDeps,
  operation: Operation,
  id: number,
  { name }: { readonly name?: string },
): Promise<ChangeAnswer<Passkey>> {
  return runOwnerChange(deps.db, operation, async (trx) => {
    const userId = userIdOf(operation)
    const before = await lockPasskey(trx, userId, id)
    if (!before) throw notFound('passkey')
    requireMatch(operation.ifMatch, etagOf(before.version))
    if (name === undefined || name === before.name) return answerWith(deps, before)
    const after = await savePasskeyName(trx, id, name)
    const entry = { ...auditOf(operation), action: 'passkey.update', target: `user:${userId}` }
    await writeAudit(trx, { ...entry, before: recorded(before), after: recorded(after) })
    return answerWith(deps, after)
  })
}

/** In the order of every change of a second factor: the counter of wrong codes, then the user. */
async function lockFactors(trx: Trx, userId: number): Promise<void> {
  await lockCounter(trx, userId)
  await lockUser(trx, userId)
}

function requireParty({ relyingParty }: PasskeyDeps): RelyingParty {
  if (!relyingParty) throw fail('conflict', 'noPasskeys')
  return relyingParty
}

/** A process of the release before would sign in without the passkey. */
async function requireFinishedUpgrade(db: Db | Trx): Promise<void> {
  if (!(await isUpgradeFinished(db))) throw fail('conflict', 'unfinishedUpgrade')
}

function requireRoom(existing: readonly PasskeyRow[]): void {
  if (existing.length >= passkeysMax) throw fail('quota_exceeded', 'passkeys', { limit: passkeysMax })
}

const recorded = ({ id, name }: PasskeyRow) => ({ passkey: id, name })

const answerWith = ({ relyingParty }: PasskeyDeps, row: PasskeyRow) => ({
  body: present(row, relyingParty),
  etag: etagOf(row.version, [row.last_used, row.backed_up]),
})

const present = (row: PasskeyRow, party: RelyingParty | undefined): Passkey => ({
  id: row.id,
  name: row.name,
  created: row.created.toISOString(),
  last_used: row.last_used?.toISOString() ?? null,
  synced: row.backed_up,
  usable: row.relying_party === party?.id,
})
