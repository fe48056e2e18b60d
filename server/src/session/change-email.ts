// Changes the user's e-mail address. The change takes effect when the link in the mail to the new address is followed;
// the old address is notified immediately. The answer does not reveal whether another account has the new address.
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import { parseEmail } from '../text/email.ts'
import { fail, invalid } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import { findAccountByEmail, lockAccount } from './account.store.ts'
import { sendConfirmation, type ConfirmDeps } from './confirm-email.ts'
import type { MailLimits } from './mail-limits.ts'
import { deleteMailTokens } from './mail-token.store.ts'
import { userIdOf } from './require-user.ts'
import { requirePassword, type PasswordCheckDeps } from './password-check.ts'

export type ChangeEmailDeps = ConfirmDeps &
  PasswordCheckDeps & { readonly db: Db; readonly mailLimits: MailLimits }

export type ChangeEmail = { readonly email: string; readonly current_password: string }

export async function changeEmail(
  deps: ChangeEmailDeps,
  operation: Operation,
  { email: typed, current_password }: ChangeEmail,
): Promise<void> {
  const userId = userIdOf(operation)
  const email = parseEmail(typed)
  if (email === undefined) throw invalid(['body', 'email'], 'email')
  const passwordHash = await requirePassword(deps, userId, current_password)
  deps.mailLimits.take(operation.address, email)
  await deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, userId)
    if (account?.passwordHash !== passwordHash) throw fail('wrong_password', 'changed')
    if (account.email.toLowerCase() === email.toLowerCase()) throw invalid(['body', 'email'], 'sameEmail')
    // Only the latest requested change is valid.
    await deleteMailTokens(trx, userId, 'confirm-email')
    if (!(await findAccountByEmail(trx, email))) await sendConfirmation(trx, deps, userId, email)
    await notifyOldAddress(trx, deps, operation, account.email, email)
  })
}

async function notifyOldAddress(
  trx: Trx,
  { ring }: ConfirmDeps,
  operation: Operation,
  from: string,
  to: string,
): Promise<void> {
  const content = { to, at: new Date().toISOString(), address: operation.address }
  await queueMail(trx, ring, { to: from, teamId: null, template: 'email-changing', content })
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'email.change',
    target: `user:${userIdOf(operation)}`,
    before: { email: from },
    after: { email: from, requested: to },
  })
}
