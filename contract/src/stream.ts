// The stream: messages of a team as server-sent events.
import { personalMessageTypes } from './notification.ts'
import { messageTypes } from './webhook-message.ts'
import { route } from './route.ts'
import { Optional, Repeatable, Strict, Enumeration } from './scalar.ts'

/** Control events of the stream, with the data `{}`. */
export const streamSigns = ['ready', 'reset'] as const

/** The types of messages that the stream sends. */
export const streamMessageTypes = [...messageTypes, ...personalMessageTypes] as const
export type StreamMessageType = (typeof streamMessageTypes)[number]

export const followStreamRoute = route({
  name: 'followStream',
  group: 'Stream',
  method: 'GET',
  path: '/v3/stream',
  summary: 'Follow the stream of messages',
  description:
    'Server-sent events (`text/event-stream`): the messages of webhooks, with the same types and bodies. The ' +
    'first event is `ready`. After a lost connection, send the last id as `Last-Event-ID` to continue ' +
    'without a gap. If that is not possible, after a week or a move of the database, the first event is ' +
    '`reset`: read the current state from the API. A message may come twice. Without `type`, all messages ' +
    'that the modules of the team and the scopes of the API token (`ipam:read`, `lighthouse:read`) allow are ' +
    'sent. A user also gets `notifications.changed` when the personal notifications of the team change, with the data ' +
    '`{unread, newest_id}`; webhooks and API tokens do not. The answer ends after a while, and when the credential expires: connect again.',
  permission: { credential: 'any' },
  query: Strict({
    type: Optional(Repeatable(Enumeration('StreamMessageType', streamMessageTypes))),
  }),
  stream: true,
  success: 200,
  errors: ['module_disabled', 'scope_missing'],
})

export const streamRoutes = [followStreamRoute]
