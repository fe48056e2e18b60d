// Confirms that a user has access to a mailbox: that of a new account, or the one an account is to be changed to.
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { joinByDomain } from '../team/auto-join.ts'
import { leavesProvider, lockAccount, saveConfirmedEmail, type Account } from './account.store.ts'
import { createMailToken, invalidToken, mailTokenMinutes, requireMailToken } from './mail-token.ts'
import { hasNewMailToken, rebindMailToken } from './mail-token.store.ts'
import { findHomeTeam, revokeAllSessions } from './session.store.ts'
import type { RequestSource } from './request-source.ts'

export type ConfirmDeps = {
  readonly db: Db
  readonly ring: KeyRing
  /** The web application's URL, without a path. */
  readonly publicUrl: string
}

/** Dependencies of confirming an address: its domain may make the user a member of a team. */
export type JoinDeps = ConfirmDeps & { readonly membersPerTeam: number }

/** Interval between mails for sign-ins to an unconfirmed account. */
const resendAfterMinutes = 10

/** Sends the link. The token is in the fragment, which no server logs and no Referer contains. */
export async function sendConfirmation(
  trx: Trx,
  { ring, publicUrl }: ConfirmDeps,
  userId: number,
  email: string,
): Promise<void> {
  const token = await createMailToken(trx, ring, 'confirm-email', userId, email)
  const content = {
    link: `${publicUrl}/confirm-email#${token}`,
    hours: mailTokenMinutes['confirm-email'] / 60,
  }
  await queueMail(trx, ring, { to: email, teamId: null, template: 'confirm-email', content })
}

/** After a sign-in with the right password to an unconfirmed account: sends another mail unless one was just sent. */
export async function resendConfirmation(deps: ConfirmDeps, userId: number): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, userId)
    if (!account || account.emailConfirmed) return
    if (await hasNewMailToken(trx, userId, 'confirm-email', resendAfterMinutes)) return
    await sendConfirmation(trx, deps, userId, account.email)
  })
}

export type ConfirmedEmail = { readonly email: string; readonly confirmed: string }

/** Mail scanners open links: a token that was used returns the same answer again. */
export async function confirmEmail(
  deps: JoinDeps,
  source: RequestSource,
  { token: text }: { readonly token: string },
): Promise<ConfirmedEmail> {
  const { userId } = await requireMailToken(deps.db, deps.ring, 'confirm-email', text)
  return deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, userId)
    // Checked again under the lock: another token may have changed the account.
    const { id, email } = await requireMailToken(trx, deps.ring, 'confirm-email', text)
    if (!account) throw invalidToken()
    const confirmed =
      confirmedAlready(account, email) ?? (await confirm(trx, deps, source, account, id, email))
    return { email, confirmed: confirmed.toISOString() }
  })
}

const confirmedAlready = (account: Account, email: string): Date | null =>
  account.email.toLowerCase() === email.toLowerCase() ? account.emailConfirmed : null

async function confirm(
  trx: Trx,
  { membersPerTeam }: JoinDeps,
  { requestId, address }: RequestSource,
  account: Account,
  tokenId: string,
  email: string,
): Promise<Date> {
  // A team may have begun to require its identity provider since the link was sent.
  if (await leavesProvider(trx, account.id, email)) throw invalidToken()
  const confirmed = await saveConfirmedEmail(trx, account.id, email)
  // Another account has confirmed the address since.
  if (confirmed === 'taken') throw invalidToken()
  // The link carries no credential, so no new session is created.
  if (account.email.toLowerCase() !== email.toLowerCase()) await revokeAllSessions(trx, account.id, 'email')
  await rebindMailToken(trx, tokenId)
  await writeAudit(trx, {
    teamId: await findHomeTeam(trx, account.id),
    actor: `user:${account.id}`,
    byStaff: account.isStaff,
    action: 'email.confirm',
    target: `user:${account.id}`,
    before: { email: account.email, confirmed: account.emailConfirmed !== null },
    after: { email, confirmed: true },
    requestId,
    address,
  })
  await joinByDomain(trx, account.id, { membersPerTeam, requestId, address })
  return confirmed
}
