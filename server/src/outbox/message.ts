// The format of messages: the module that a type belongs to, and the JSON text that the stream sends.
// Pure.
import type { StreamType } from '@pharos/contract/messages/stream'
import type { OperatorMessageType } from '@pharos/contract/messages/webhook-message'
import type { PersonalMessageType } from '@pharos/contract/messages/notification'

type AnyMessageType = StreamType | OperatorMessageType | PersonalMessageType

/** The module that a team needs to get messages of the type; null: none, for those with `readingWithoutModule`. */
export function moduleOf(type: StreamType): 'lighthouse' | 'shield' | 'ipam' | 'dns' | 'inventory' | null {
  if (/^(team|alert)\./.test(type)) return null
  if (/^(event|incident)\./.test(type)) return 'lighthouse'
  if (type.startsWith('shield.')) return 'shield'
  if (/^(port|service|cross_connect)\./.test(type)) return 'inventory'
  return type.startsWith('zone.') ? 'dns' : 'ipam'
}

/** The grant, and the scope of API tokens, for messages of a type without a module. */
export const readingWithoutModule = (type: StreamType) =>
  type.startsWith('alert.')
    ? (['alerts.see', 'alerts:read'] as const)
    : (['audit.see', 'audit:read'] as const)

/** The message as JSON. `data` is the JSON text of the outbox. The body of a webhook has the same bytes: outbox.store.ts. */
export const messageText = (type: AnyMessageType, at: Date, data: string): string =>
  `{"type":"${type}","timestamp":"${at.toISOString()}","data":${data}}`
