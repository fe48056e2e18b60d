// The format of messages: the module that a type belongs to, and the JSON text that webhooks and the stream both send.
// Pure.
import type { StreamType } from '@pharos/contract/stream'
import type { OperatorMessageType } from '@pharos/contract/webhook-message'
import type { PersonalMessageType } from '@pharos/contract/notification'

type AnyMessageType = StreamType | OperatorMessageType | PersonalMessageType

/** The module that a team needs to get messages of the type. */
export function moduleOf(type: StreamType): 'lighthouse' | 'shield' | 'ipam' | 'dns' | 'inventory' {
  if (type.startsWith('event.')) return 'lighthouse'
  if (type.startsWith('shield.')) return 'shield'
  if (/^(port|service|cross_connect)\./.test(type)) return 'inventory'
  return type.startsWith('zone.') ? 'dns' : 'ipam'
}

/** The message as JSON. `data` is the JSON text of the outbox, so that both channels send the same bytes. */
export const messageText = (type: AnyMessageType, at: Date, data: string): string =>
  `{"type":"${type}","timestamp":"${at.toISOString()}","data":${data}}`

/** Identifies the message across webhooks and attempts. `id` is the row's id in the outbox. */
export const messageId = (at: Date, id: number): string =>
  `msg_${at.getTime().toString(16)}_${id.toString(16)}`
