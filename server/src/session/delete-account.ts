// Deletes an account with all that belongs to it: by its owner, by the operator, or because it has no team and nobody uses it. Entries of the audit
// log stay: they name the account by its number, and their addresses and names are erased beside them.
import type { deleteAccountRoute, DeletedAccount } from '@pharos/contract/session/personal-data'
import type { BodyOf } from '@pharos/contract/route'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import { erasePersonalTexts } from '../db/audit-addresses.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { queueMail } from '../mail/mail.ts'
import { errorAt, fail, invalid, notFound } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import type { Operation } from '../operation/operation.ts'
import { lockTeamsHeldIn, revokeAllHoldings } from '../team/holdings.ts'
import { findAccountByEmail, lockAccount, type Account } from './account.store.ts'
import {
  countParts,
  deleteUser,
  isManagedByFile,
  findNamesOfTeams,
  listTeamsLeftWithoutAdmin,
} from './delete-account.store.ts'
import { checkPasskey, signInUse, type PasskeyDeps } from './passkey-check.ts'
import { requirePassword, type PasswordCheckDeps } from './password-check.ts'
import { sessionOver } from './replace-sessions.ts'
import { userIdOf } from './require-user.ts'

export type DeleteAccountDeps = PasswordCheckDeps & PasskeyDeps

type Proof = BodyOf<typeof deleteAccountRoute>

/** Throws `wrong_password`, `last_admin`, and `conflict` for an account of the platform file. A dry run needs no proof. */
export async function deleteOwnAccount(
  deps: DeleteAccountDeps,
  operation: Operation,
  proof: Proof,
): Promise<ChangeAnswer<DeletedAccount>> {
  const userId = userIdOf(operation)
  const passwordHash = operation.dryRun ? undefined : await requireProof(deps, userId, proof)
  return runOwnerChange(deps.db, operation, async (trx) => {
    const account = await lockForDeletion(trx, userId)
    if (!account) throw sessionOver()
    if (passwordHash !== undefined && passwordHash !== account.passwordHash)
      throw fail('wrong_password', 'changed')
    if (await isManagedByFile(trx, userId)) throw fail('conflict', 'accountOfPlatformFile')
    await requireOtherAdmins(trx, userId)
    const { address } = operation
    const body = await deleteAccount(trx, deps.ring, account, { author: auditOf(operation), address })
    return { body, before: {} }
  })
}

/** Returns the hash that the password matched; undefined for a passkey. */
async function requireProof(
  deps: DeleteAccountDeps,
  userId: number,
  { current_password: password, passkey }: Proof,
): Promise<string | undefined> {
  if ((password === undefined) === (passkey === undefined))
    throw invalid(['body', 'current_password'], 'passwordOrPasskey')
  if (password !== undefined) return requirePassword(deps, userId, password)
  const verdict = await checkPasskey(deps, signInUse, passkey!)
  if (verdict.kind !== 'accepted' || verdict.passkey.user_id !== userId)
    throw invalid(['body', 'passkey'], 'passkey')
  return undefined
}

/** Thrown to roll a trial back; never leaves this file. */
class Rollback extends Error {}

export type OperatorDeletion = {
  /** Also if a team is left without an admin. */
  readonly force: boolean
  /** Returns what would be deleted. */
  readonly dryRun: boolean
}

export type DeletedByOperator = DeletedAccount & {
  readonly email: string
  /** The platform file has the account: it has to be removed there. */
  readonly isManaged: boolean
}

/** For the operator, on request of the person. Throws `not_found` and `last_admin`. */
export async function deleteAccountOf(
  db: Db,
  ring: KeyRing,
  email: string,
  { force, dryRun }: OperatorDeletion,
): Promise<DeletedByOperator> {
  const found = await findAccountByEmail(db, email)
  if (!found) throw notFound(`user ${email}`)
  let deleted: DeletedByOperator | undefined
  try {
    await db.transaction().execute(async (trx) => {
      const account = await lockForDeletion(trx, found.id)
      if (!account) throw notFound(`user ${email}`)
      if (!force) await requireOtherAdmins(trx, account.id)
      const isManaged = await isManagedByFile(trx, account.id)
      const by = { author: { teamId: null, actor: 'operator' }, address: null }
      deleted = { ...(await deleteAccount(trx, ring, account, by)), email: account.email, isManaged }
      if (dryRun) throw new Rollback()
    })
  } catch (error) {
    if (!(error instanceof Rollback)) throw error
  }
  return deleted!
}

/** Locks the teams first, as every change of their members does, then the account. */
export async function lockForDeletion(trx: Trx, userId: number): Promise<Account | undefined> {
  await lockTeamsHeldIn(trx, userId)
  return lockAccount(trx, userId)
}

async function requireOtherAdmins(trx: Trx, userId: number): Promise<void> {
  const teams = await listTeamsLeftWithoutAdmin(trx, userId)
  if (teams.length === 0) return
  throw fail(
    'last_admin',
    'account',
    { teams: teams.map(({ name }) => name) },
    { errors: teams.map(({ id, name }) => errorAt(['body'], 'lastAdmin', { team_id: id, name })) },
  )
}

type Deletion = {
  readonly author: Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry>
  /** Of the request, for the mail; null without one. */
  readonly address: string | null
}

/** The account is locked. Returns what was deleted; the mail to its address confirms it. */
export async function deleteAccount(
  trx: Trx,
  ring: KeyRing,
  { id, email }: Account,
  { author, address }: Deletion,
): Promise<DeletedAccount> {
  const parts = await countParts(trx, id, email)
  const held = await revokeAllHoldings(trx, id)
  const names = await findNamesOfTeams(
    trx,
    held.map(({ teamId }) => teamId),
  )
  const entry = { ...author, action: 'account.delete', target: `user:${id}` }
  await writeAudit(
    trx,
    { ...entry, after: parts },
    ...held
      .filter(({ teamId }) => teamId !== author.teamId)
      .map(({ teamId, lost }) => ({ ...entry, teamId, after: lost })),
  )
  await deleteUser(trx, id, email)
  await erasePersonalTexts(trx, id, email)
  const content = { at: new Date().toISOString(), address }
  await queueMail(trx, ring, { to: email, teamId: null, template: 'account-deleted', content })
  const teams = held.map(({ teamId, lost }) => ({
    id: teamId,
    name: names.get(teamId) ?? '',
    api_tokens_revoked: lost.api_tokens_revoked.length,
    invitations_withdrawn: lost.invitations_withdrawn.length,
  }))
  return { user_id: id, teams, ...parts }
}
