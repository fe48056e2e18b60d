// Writes notifications: reads the outbox from the last position, and the letters. Position, notifications and the messages to the
// streams of their users are one transaction, so that everything is reported once, whichever process runs and dies.
import type { TeamNotificationKind } from '@pharos/contract/messages/notification-text'
import type { Db, Trx } from '../db/postgres.ts'
import { reportRefused, type RefusedRow } from '../db/write-rows.ts'
import { writePersonalMessages } from '../outbox/outbox.ts'
import {
  insertNotifications,
  listLetterOccurrences,
  listSamplingOccurrences,
  listTokenOccurrences,
  listOutbox,
  listRecipients,
  lockMailing,
  lockPosition,
  readFeedStates,
  savePosition,
  scheduleMail,
  type WrittenNotification,
} from './notification.store.ts'
import {
  moduleOfKind,
  notificationsOf,
  occurrencesOf,
  reportedTypes,
  type Occurrence,
  type Recipient,
  type ReportedMessage,
} from './recipient.ts'
import { nextMailAt } from './schedule.ts'

export type CollectDeps = {
  readonly db: Db
  /** Without a mail server no mails are queued: they would be out of date once there is one. */
  readonly canMail: boolean
  readonly now: () => Date
  /** Writes the messages that follow from others; they are read in their turn. */
  readonly derive: (trx: Trx, messages: readonly ReportedMessage[]) => Promise<void>
}

const batch = 500

/**
 * Writes the notifications of all new messages. No effect while another process does it. Rejects if the database
 * refuses some, which are skipped.
 */
export async function collectNotifications(deps: CollectDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { count, refused } = await deps.db.transaction().execute((trx) => collectBatch(deps, trx))
    reportRefused('notifications', refused)
    if (count < batch) return
  }
}

type Collected = { readonly count: number; readonly refused: readonly RefusedRow<unknown>[] }

/** Returns the number of messages that it read. */
async function collectBatch({ canMail, now, derive }: CollectDeps, trx: Trx): Promise<Collected> {
  const position = await lockPosition(trx)
  if (!position) return { count: 0, refused: [] }
  const messages = await listOutbox(trx, position, batch)
  await derive(trx, messages)
  const occurrences = [
    ...messages.filter(isReported).flatMap(occurrencesOf),
    ...(await listLetterOccurrences(trx, position.since)),
    ...(await listSamplingOccurrences(trx, position.since)),
    ...(await listTokenOccurrences(trx)),
  ]
  const refused = await notify(trx, occurrences, canMail, now())
  const last = messages.at(-1)
  if (last) await savePosition(trx, { xid: last.xid, id: last.row })
  // Another database server: the position is stored now, or messages written until the next run would be skipped.
  else if (position.isReset) await savePosition(trx, position)
  return { count: messages.length, refused }
}

const isReported = ({ type }: ReportedMessage): boolean => reportedTypes.includes(type)

async function notify(
  trx: Trx,
  occurrences: readonly Occurrence[],
  canMail: boolean,
  now: Date,
): Promise<readonly RefusedRow<unknown>[]> {
  if (occurrences.length === 0) return []
  const teamIds = [...new Set(occurrences.map(({ teamId }) => teamId))]
  const recipients = await listRecipients(trx, teamIds)
  const modules = new Map(recipients.map(({ teamId, modules }) => [teamId, modules]))
  const enabled = occurrences.filter((one) => isEnabled(one, modules.get(one.teamId)))
  const rows = newest(notificationsOf(enabled, recipients)).map((row) => ({
    ...row,
    isMailed: row.isMailed && canMail,
  }))
  // The end of an attack is written after its beginning, on which it depends.
  const first = await insertNotifications(
    trx,
    rows.filter(({ kind }) => kind !== 'attack_ended'),
  )
  const ended = await insertNotifications(
    trx,
    rows.filter(({ kind }) => kind === 'attack_ended'),
  )
  const written = [...first.written, ...ended.written]
  const targets = distinct(written)
  const settings = new Map(recipients.map((recipient) => [nameOf(recipient), recipient.settings]))
  for (const target of distinct(written.filter(({ isWaiting }) => isWaiting))) {
    const last = await lockMailing(trx, target)
    await scheduleMail(trx, target, nextMailAt(settings.get(nameOf(target))!.digest, now, last))
  }
  const feeds = await readFeedStates(trx, targets)
  await writePersonalMessages(
    trx,
    feeds.map(({ userId, teamId, unread, newestId: newest_id }) => ({
      teamId,
      userId,
      type: 'notifications.changed',
      data: { unread, newest_id },
    })),
  )
  return [...first.refused, ...ended.refused]
}

type Target = Pick<Recipient, 'userId' | 'teamId'>
const nameOf = ({ userId, teamId }: Target): string => `${userId} ${teamId}`

/** One statement cannot write a row twice: of an attack, the last state of the batch counts. */
function newest<Row extends Target & { readonly kind: string; readonly key: string; readonly at: Date }>(
  rows: readonly Row[],
): Row[] {
  const byThing = new Map<string, Row>()
  for (const row of rows) {
    const name = `${nameOf(row)} ${row.kind} ${row.key}`
    byThing.set(name, { ...row, at: byThing.get(name)?.at ?? row.at })
  }
  return [...byThing.values()]
}

const distinct = (written: readonly WrittenNotification[]): Target[] => [
  ...new Map(written.map(({ userId, teamId }) => [nameOf({ userId, teamId }), { userId, teamId }])).values(),
]

/** Staff need no module; a team gets no notification about modules that it does not have. */
const isEnabled = ({ teamId, kind }: Occurrence, modules: readonly string[] | undefined): boolean =>
  teamId === null || (modules !== undefined && isOn(moduleOfKind[kind as TeamNotificationKind], modules))

const isOn = (module: string | null, modules: readonly string[]): boolean =>
  module === null || modules.includes(module)
