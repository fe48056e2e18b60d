// Confirming that a user reads an address: that of a new account, or the one that an account is to have from then on.
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { joinByDomain } from '../team/auto-join.ts'
import { lockAccount, saveConfirmedEmail, type Account } from './account.store.ts'
import { createMailToken, invalidToken, mailTokenMinutes, requireMailToken } from './mail-token.ts'
import { hasNewMailToken, rebindMailToken } from './mail-token.store.ts'
import { findHomeTeam, revokeAllSessions } from './session.store.ts'
import type { Origin } from './visitor.ts'

export type ConfirmDeps = {
  readonly db: Db
  readonly ring: KeyRing
  /** How users reach us, without a path. */
  readonly publicUrl: string
}

/** What is needed where an address is found to be confirmed: its domain may make the user a member of a team. */
export type JoinDeps = ConfirmDeps & { readonly membersPerTeam: number }

/** However often somebody signs in to an account that is not confirmed, a mail goes out this seldom. */
const remindedMinutes = 10

/** Sends the link to the address. In the fragment, which no server logs and no Referer carries. */
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

/** For who has shown the password of an account that is not confirmed: another mail, unless one has just gone. */
export async function remindToConfirm(deps: ConfirmDeps, userId: number): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, userId)
    if (!account || account.emailConfirmed) return
    if (await hasNewMailToken(trx, userId, 'confirm-email', remindedMinutes)) return
    await sendConfirmation(trx, deps, userId, account.email)
  })
}

export type ConfirmedEmail = { readonly email: string; readonly confirmed: string }

/** Mail scanners open links: a token that has done its work answers the same again. */
export async function confirmEmail(
  deps: JoinDeps,
  origin: Origin,
  { token: text }: { readonly token: string },
): Promise<ConfirmedEmail> {
  const { userId } = await requireMailToken(deps.db, deps.ring, 'confirm-email', text)
  return deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, userId)
    // Asked again under the lock: another token may have changed the account.
    const { id, email } = await requireMailToken(trx, deps.ring, 'confirm-email', text)
    if (!account) throw invalidToken()
    const confirmed =
      confirmedAlready(account, email) ?? (await confirm(trx, deps, origin, account, id, email))
    return { email, confirmed: confirmed.toISOString() }
  })
}

const confirmedAlready = (account: Account, email: string): Date | null =>
  account.email.toLowerCase() === email.toLowerCase() ? account.emailConfirmed : null

async function confirm(
  trx: Trx,
  { membersPerTeam }: JoinDeps,
  { requestId, address }: Origin,
  account: Account,
  tokenId: string,
  email: string,
): Promise<Date> {
  const confirmed = await saveConfirmedEmail(trx, account.id, email)
  // Somebody else has confirmed the address meanwhile.
  if (confirmed === 'taken') throw invalidToken()
  // The link is followed without a credential, so nobody is given a new session.
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
