// Replaces a password, for any reason: deletes the mail tokens sent before, notifies the user, and audits the change. The
// caller must revoke the sessions.
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { savePassword, type Account } from './account.store.ts'
import { deleteMailTokens } from './mail-token.store.ts'

/** The caller must have locked `account`. */
export async function replacePassword(
  trx: Trx,
  ring: KeyRing,
  account: Account,
  passwordHash: string,
  entry: Omit<AuditEntry, 'target'>,
): Promise<void> {
  await savePassword(trx, account.id, passwordHash)
  await deleteMailTokens(trx, account.id)
  const content = { at: new Date().toISOString(), address: entry.address ?? '' }
  await queueMail(trx, ring, { to: account.email, teamId: null, template: 'password-changed', content })
  await writeAudit(trx, { ...entry, target: `user:${account.id}` })
}
