// The outbox: messages to teams and to the operator, written in the transaction of the change that they report, for the
// stream and for webhooks. This is the only module that writes the table; which changes are reported is decided next to
// the statements that write them.
import type { RegionsChanged, StreamType } from '@pharos/contract/stream'
import type { NotificationsChangedData, PersonalMessageType } from '@pharos/contract/notification'
import type { MessageData, MessageType, OperatorMessageType } from '@pharos/contract/webhook-message'
import type { Trx } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { storedJson } from '../db/stored-json.ts'
import { messageId, messageText, moduleOf } from './message.ts'
import { insertMessages, insertWebhookDeliveries, listReceivers, type Receiver } from './outbox.store.ts'

/** A message of one type; `teamId` is null for messages to the operator. */
export type NewMessage = {
  [T in MessageType]: { readonly teamId: number; readonly type: T; readonly data: MessageData<T> }
}[MessageType]

/** A message of the stream, which no webhook gets. */
export type NewStreamMessage = {
  readonly teamId: number
  readonly type: 'announcement.regions_changed'
  readonly data: RegionsChanged
}

export type NewOperatorMessage = {
  [T in OperatorMessageType]: { readonly teamId: null; readonly type: T; readonly data: MessageData<T> }
}[OperatorMessageType]

/** A message to one user of a team: only the stream delivers it. */
export type NewPersonalMessage = {
  readonly teamId: number
  readonly userId: number
  readonly type: PersonalMessageType
  readonly data: NotificationsChangedData
}

/** Adds the messages to the transaction, for the streams of their users. */
export async function writePersonalMessages(
  trx: Trx,
  messages: readonly NewPersonalMessage[],
): Promise<void> {
  if (messages.length === 0) return
  await insertMessages(
    trx,
    messages.map((message) => ({ ...message, data: storedJson(message.data) })),
  )
  await wake(trx, 'outbox')
}

/**
 * Adds the messages to the transaction in order, with a delivery for each webhook that receives them. One insert for
 * all messages and one for all deliveries, so that ten thousand announcements need no more statements than one.
 */
export async function writeMessages(
  trx: Trx,
  messages: readonly (NewMessage | NewStreamMessage | NewOperatorMessage)[],
): Promise<void> {
  if (messages.length === 0) return
  const rows = messages.map(({ teamId, type, data }) => ({
    teamId,
    userId: null,
    type,
    data: storedJson(data),
  }))
  const teamIds = [...new Set(rows.map(({ teamId }) => teamId))]
  const [ids, listed] = await Promise.all([insertMessages(trx, rows), listReceivers(trx, teamIds)])
  await wake(trx, 'outbox')
  const receivers = Map.groupBy(listed, ({ team_id }) => team_id)
  const deliveries = rows.flatMap(({ teamId, type, data }, place) =>
    (receivers.get(teamId) ?? [])
      .filter((receiver) => gets(receiver, type))
      .map(({ id, at }) => ({
        webhook_id: id,
        team_id: teamId,
        message_id: messageId(at, ids[place]!),
        type,
        body: messageText(type, at, data),
      })),
  )
  if (deliveries.length === 0) return
  await insertWebhookDeliveries(trx, deliveries)
  await wake(trx, 'webhooks')
}

/** Messages to the operator depend on no module. */
function gets({ team_id, events, modules }: Receiver, type: StreamType | OperatorMessageType): boolean {
  return events.includes(type) && (team_id === null || modules.includes(moduleOf(type as StreamType)))
}
