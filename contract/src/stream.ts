// The stream: what happens to the team, as it happens, over one answer that goes on (server-sent events).
import { messageTypes } from './webhook-message.ts'
import { route } from './route.ts'
import { EmptyIsAbsent, Optional, Repeatable, Strict, Enumeration } from './scalar.ts'

/** Beside the types of messages: what the stream says about itself. Both carry `{}`. */
export const streamSigns = ['ready', 'reset'] as const

export const followStreamRoute = route({
  name: 'followStream',
  group: 'Stream',
  method: 'GET',
  path: '/v3/stream',
  summary: 'Follow what happens',
  description:
    'Server-sent events (`text/event-stream`): the messages of webhooks, with the same types and bodies, for whoever ' +
    'is connected. The first event is `ready`; after a connection that broke, send its last id as `Last-Event-ID` and ' +
    'nothing is left out. Where that cannot be promised, after a week or a move of the database, the first event is ' +
    '`reset` instead: read anew whatever you show. A message may come twice. Without `type` come all that the team’s ' +
    'modules and the scopes of the API token (`ipam:read`, `lighthouse:read`) allow. The answer ends after a while, ' +
    'and when the credential does: connect again.',
  permission: { credential: 'any' },
  query: Strict({
    type: Optional(EmptyIsAbsent(Repeatable(Enumeration('WebhookMessageType', messageTypes)))),
  }),
  stream: true,
  success: 200,
  errors: ['module_disabled', 'scope_missing'],
})

export const streamRoutes = [followStreamRoute]
