// Queues the mails of notifications that are due: one mail with all pending notifications of a user in a team. While
// the user's previous mail was not sent, no mail is queued, so that an outage of the mail server leaves one mail per
// user and team.
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { composeDigest, digestLinesMax } from './digest.ts'
import { lockDueMail, postponeMail, readWaiting, saveMailed } from './notification.store.ts'
import { unsubscribeUrl } from './unsubscribe.ts'

export type DigestDeps = {
  readonly db: Db
  readonly ring: KeyRing
  /** Without a trailing slash. */
  readonly publicUrl: string
  readonly now: () => Date
}

const blockedMs = 5 * 60_000

/** Queues the mails that are due. Any number of processes may run it. */
export async function sendDigests(deps: DigestDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const done = await deps.db.transaction().execute((trx) => sendNext(deps, trx))
    if (!done) return
  }
}

async function sendNext({ ring, publicUrl, now }: DigestDeps, trx: Trx): Promise<boolean> {
  const at = now()
  const due = await lockDueMail(trx, at)
  if (!due) return false
  const { userId, teamId, email, team, isBlocked } = due
  if (email !== null && isBlocked) {
    await postponeMail(trx, due, new Date(at.getTime() + blockedMs))
    return true
  }
  const { shown, counts, since } = await readWaiting(trx, due, digestLinesMax)
  if (email === null || since === null) {
    await saveMailed(trx, due, 'none', null)
    return true
  }
  const unsubscribe = unsubscribeUrl(ring, publicUrl, { userId, teamId, from: 'notifications' }, at)
  const content = composeDigest({ team, shown, counts, since, publicUrl, unsubscribe })
  await queueMail(trx, ring, { to: email, teamId, userId, template: 'notifications', content })
  await saveMailed(trx, due, 'queued', at)
  return true
}
