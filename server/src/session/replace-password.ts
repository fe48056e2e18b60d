// What happens whenever a password is replaced, whatever the reason: sessions end, mails that were sent before say nothing
// any more, the user is told, and it stands in the audit.
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { savePassword, type Account } from './account.store.ts'
import { deleteMailTokens } from './mail-token.store.ts'
import { revokeAllSessions } from './session.store.ts'

/** `account` is locked. The session `keptId` goes on; its access tokens end as all others do. */
export async function replacePassword(
  trx: Trx,
  ring: KeyRing,
  account: Account,
  passwordHash: string,
  entry: Omit<AuditEntry, 'target'>,
  keptId: string | null = null,
): Promise<void> {
  await savePassword(trx, account.id, passwordHash)
  await revokeAllSessions(trx, account.id, 'password', keptId)
  await deleteMailTokens(trx, account.id)
  const content = { at: new Date().toISOString(), address: entry.address ?? '' }
  await queueMail(trx, ring, { to: account.email, teamId: null, template: 'password-changed', content })
  await writeAudit(trx, { ...entry, target: `user:${account.id}` })
}
