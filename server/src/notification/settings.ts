// The notification settings of a user: per team, and for employees of the provider also for staff notifications.
// Without saved settings the defaults apply, which only report events that need a person.
import type { Digest, NotificationSettings } from '@pharos/contract/messages/notification'
import {
  staffNotificationKinds,
  teamNotificationKinds,
  type NotificationKind,
} from '@pharos/contract/messages/notification-text'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation, UserActor } from '../operation/operation.ts'
import { fail } from '../runtime/error.ts'
import { nextMailAt } from './schedule.ts'
import type { MailSubscription } from './unsubscribe.ts'
import {
  deleteWaitingMails,
  findSettings,
  isLockedMember,
  listMailings,
  lockSettings,
  saveDue,
  saveNotificationSettings,
  type SavedSettings,
} from './settings.store.ts'

/** The settings of a user in one team, or as staff. */
export type RecipientSettings = {
  readonly mail: boolean
  readonly digest: Digest
  readonly attackBps: number | null
  readonly attackPps: number | null
  readonly monthlyReport: boolean
  /** Whether each kind is mailed. */
  readonly kinds: Readonly<Record<NotificationKind, boolean>>
}

/** Approvals are off: all staff get the mails of `operator_alert_emails` about them by default. */
const offByDefault: ReadonlySet<NotificationKind> = new Set(['approval_opened', 'staff_access'])
const kindDefaults = Object.fromEntries(
  [...teamNotificationKinds, ...staffNotificationKinds].map((kind) => [kind, !offByDefault.has(kind)]),
) as RecipientSettings['kinds']

const defaults: RecipientSettings = {
  mail: true,
  digest: 'immediate',
  attackBps: 1_000_000_000,
  attackPps: 1_000_000,
  monthlyReport: false,
  kinds: kindDefaults,
}

/** Returns the settings that apply; `saved` may lack kinds that were added later. */
export const settingsOf = (saved: SavedSettings | undefined): RecipientSettings =>
  saved ? { ...saved, kinds: { ...kindDefaults, ...saved.kinds } } : defaults

type Deps = { readonly db: Db; readonly now: () => Date }

export async function getNotificationSettings(
  { db }: Deps,
  operation: Operation,
): Promise<{ body: NotificationSettings; etag: string }> {
  const body = await present(db, requireNotifiedUser(operation))
  return { body, etag: etagOf(body) }
}

export function updateNotificationSettings(
  { db, now }: Deps,
  operation: Operation,
  body: NotificationSettings,
): Promise<ChangeAnswer<NotificationSettings>> {
  const actor = requireNotifiedUser(operation)
  const { userId, teamId, isStaff } = actor
  if (body.staff && !isStaff) throw fail('forbidden', 'staffOnly')
  return runOwnerChange(db, operation, async (trx) => {
    await lockSettings(trx, userId)
    // An employee of the provider may be in a team without being a member.
    const inTeam = await isLockedMember(trx, userId, teamId)
    const before = await present(trx, actor)
    requireMatch(operation.ifMatch, etagOf(before))
    const { staff, mail, digest, attack_bps: attackBps, attack_pps: attackPps, kinds } = body
    const ofTeam = { mail, digest, attackBps, attackPps, kinds, monthlyReport: body.monthly_report }
    const ofStaff = staff && { ...staff, attackBps: null, attackPps: null, monthlyReport: false }
    if (inTeam) await save(trx, userId, teamId, ofTeam, now())
    if (ofStaff) await save(trx, userId, null, ofStaff, now())
    const after = await present(trx, actor)
    if (JSON.stringify(before) !== JSON.stringify(after) || operation.dryRun)
      await writeAudit(trx, {
        ...auditOf(operation),
        action: 'notifications.update',
        target: `user:${userId}`,
        before,
        after,
      })
    return { body: after, before, etag: etagOf(after) }
  })
}

/** Turns mails of notifications or the monthly report off, without a signed-in user: the link of a mail. The other settings are kept. */
export async function unsubscribe(
  db: Db,
  { userId, teamId, from }: MailSubscription,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // The user may have left the team since the mail.
    if (teamId !== null && !(await isLockedMember(trx, userId, teamId))) return
    const settings = settingsOf(await findSettings(trx, userId, teamId))
    const off = from === 'report' ? ({ monthlyReport: false } as const) : ({ mail: false } as const)
    if (!(from === 'report' ? settings.monthlyReport : settings.mail)) return
    await save(trx, userId, teamId, { ...settings, ...off }, now)
    const entry = { teamId, actor: `user:${userId}`, target: `user:${userId}`, byStaff: teamId === null }
    await writeAudit(trx, { ...entry, action: 'notifications.unsubscribe' })
  })
}

async function save(
  trx: Trx,
  userId: number,
  teamId: number | null,
  settings: SavedSettings,
  now: Date,
): Promise<void> {
  await saveNotificationSettings(trx, userId, teamId, settings)
  if (!settings.mail) return deleteWaitingMails(trx, userId, teamId)
  for (const { last, isDue } of await listMailings(trx, userId, teamId))
    if (isDue) await saveDue(trx, userId, teamId, nextMailAt(settings.digest, now, last))
}

async function present(db: Db | Trx, { userId, teamId, isStaff }: UserActor): Promise<NotificationSettings> {
  const { mail, digest, attackBps, attackPps, kinds, monthlyReport } = settingsOf(
    await findSettings(db, userId, teamId),
  )
  const ofStaff = settingsOf(isStaff ? await findSettings(db, userId, null) : undefined)
  return {
    mail,
    digest,
    attack_bps: attackBps,
    attack_pps: attackPps,
    kinds: pick(kinds, teamNotificationKinds),
    monthly_report: monthlyReport,
    staff: isStaff
      ? { mail: ofStaff.mail, digest: ofStaff.digest, kinds: pick(ofStaff.kinds, staffNotificationKinds) }
      : null,
  }
}

const pick = <K extends NotificationKind>(kinds: RecipientSettings['kinds'], names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, kinds[name]])) as Record<K, boolean>

/** Returns the actor if it is a user. Throws `unauthenticated` for an API token, which gets no notifications. */
export function requireNotifiedUser({ actor }: Operation): UserActor {
  if (actor.kind === 'user') return actor
  throw fail('unauthenticated', 'personal')
}
