// The outbox: messages to teams and to the operator, written in the transaction of the change that they report, for the
// stream and for webhooks. This is the only module that writes the table; which changes are reported is decided next to
// the statements that write them.
import type { RegionsChanged, StreamType } from '@pharos/contract/messages/stream'
import type { NotificationsChangedData, PersonalMessageType } from '@pharos/contract/messages/notification'
import type { MessageData, MessageType, OperatorMessageType } from '@pharos/contract/messages/webhook-message'
import type { Trx } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'
import { moduleOf } from './message.ts'
import { insertMessages, type MessageRow } from './outbox.store.ts'

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
  await write(trx, messages)
}

/**
 * Adds the messages to the transaction in order, with a delivery for each webhook that receives them. One statement for all, so that ten thousand
 * announcements need no more than one.
 */
export async function writeMessages(
  trx: Trx,
  messages: readonly (NewMessage | NewStreamMessage | NewOperatorMessage)[],
): Promise<void> {
  await write(
    trx,
    messages.map((message) => ({ ...message, userId: null })),
  )
}

type AnyMessage = Omit<MessageRow, 'data'> & { readonly data: object }

async function write(trx: Trx, messages: readonly AnyMessage[]): Promise<void> {
  if (messages.length === 0) return
  const types = [...new Set(messages.map(({ type }) => type))]
  await insertMessages(
    trx,
    messages.map(({ teamId, userId, type, data }) => ({ teamId, userId, type, data: storedJson(data) })),
    // Messages to the operator depend on no module.
    types.map((type) => ({ type, module: moduleOf(type as StreamType) })),
  )
}
