// The feed of a user in the current team: notifications, and which of them were read.
import {
  type listNotificationsRoute,
  type Notification,
  type NotificationsChangedData,
} from '@pharos/contract/messages/notification'
import { notificationText } from '@pharos/contract/messages/notification-text'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { writePersonalMessages } from '../outbox/outbox.ts'
import type { Operation } from '../operation/operation.ts'
import { listFeed, readFeedState, saveRead, type FeedRow } from './feed.store.ts'
import { resourceOf } from './resource.ts'
import { requireNotifiedUser } from './settings.ts'

type Deps = { readonly db: Db }

export async function listNotifications(
  { db }: Deps,
  operation: Operation,
  query: QueryOf<typeof listNotificationsRoute>,
): Promise<{ results: Notification[]; count: number }> {
  const { userId, teamId } = requireNotifiedUser(operation)
  const { page, count } = await listFeed(db, userId, teamId, query)
  return { results: page.map(present), count }
}

/** Marks the notifications up to an id as read, and notifies the user's other tabs. */
export function readNotifications(
  { db }: Deps,
  operation: Operation,
  { up_to }: { readonly up_to: number },
): Promise<ChangeAnswer<NotificationsChangedData>> {
  const { userId, teamId } = requireNotifiedUser(operation)
  return runOwnerChange(db, operation, async (trx) => {
    const changed = await saveRead(trx, userId, teamId, up_to)
    const body = await readFeedState(trx, userId, teamId)
    if (changed > 0)
      await writePersonalMessages(trx, [{ teamId, userId, type: 'notifications.changed', data: body }])
    return { body }
  })
}

const present = ({ id, kind, at, attrs, read }: FeedRow): Notification => ({
  id,
  kind,
  at: at.toISOString(),
  text: notificationText(kind, attrs),
  attrs,
  resource: resourceOf(kind, attrs),
  read: read?.toISOString() ?? null,
})
