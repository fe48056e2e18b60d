// What webhooks send: the types of messages, and what each says. Further fields may come; a receiver passes over those that it
// does not know.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { eventFlags } from './analysis.ts'
import { validationNames } from './announcement-checks.ts'
import { announcementStatuses } from './byoip.ts'
import { Id, Nullable, NullableTime, OneOf, Strict, Time } from './scalar.ts'

export const messageTypes = [
  'announcement.status_changed',
  'validation.failed',
  'event.started',
  'event.updated',
  'event.ended',
] as const
export type MessageType = (typeof messageTypes)[number]

const announcement = {
  announcement_id: Id,
  cidr: Type.String(),
  origin_asn: Type.Integer({ minimum: 1, maximum: 4_294_967_295 }),
}

const event = Strict({
  id: Type.String({ description: 'as in /v3/lighthouse/security/events/related/{event_id}' }),
  affected_network: Type.String({ description: 'CIDR, or empty where none is known' }),
  classification_key: Type.String(),
  start: Time,
  end: NullableTime,
  affected_bps: Type.Integer({ minimum: 0, description: 'bits per second, the peak so far' }),
  affected_pps: Type.Integer({ minimum: 0, description: 'packets per second, the peak so far' }),
  flags: Type.Array(OneOf(...eventFlags)),
})

/** `data` of each type. */
export const messageData = {
  'announcement.status_changed': Strict({
    ...announcement,
    before: OneOf(...announcementStatuses),
    after: OneOf(...announcementStatuses),
    at: Time,
  }),
  'validation.failed': Strict({
    ...announcement,
    name: OneOf(...validationNames),
    state: OneOf('missing', 'invalid', 'mismatch_asn', 'mismatch_length', 'expired'),
    note: Type.String({ description: 'why, in a sentence' }),
    fix: Nullable(Type.String({ description: 'the literal text of what to create' })),
  }),
  'event.started': event,
  'event.updated': event,
  'event.ended': event,
  'webhook.test': Strict({ webhook_id: Id }),
} as const

/** The body of a message of the type. */
export const messageOf = <T extends keyof typeof messageData>(type: T) =>
  Strict({
    type: Type.Literal(type),
    timestamp: Type.String({ format: 'date-time', description: 'when it happened' }),
    data: messageData[type],
  })

export type MessageData<T extends keyof typeof messageData> = Static<(typeof messageData)[T]>
