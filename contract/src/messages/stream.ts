// The stream: messages of a team as server-sent events.
import { Type, type Static } from 'typebox'
import { regionStates } from '../byoip/announcement.ts'
import { personalMessageTypes } from './notification.ts'
import { messageTypes } from './webhook-message.ts'
import { route } from '../route.ts'
import { Component, Enumeration, Id, Optional, Repeatable, Strict, Time } from '../scalar.ts'

/** Message types of webhooks, plus types of the stream only. */
export const streamTypes = [...messageTypes, 'announcement.regions_changed'] as const
export type StreamType = (typeof streamTypes)[number]

/** All message types of the stream, for the team and for the signed-in user. */
export const streamMessageTypes = [...streamTypes, ...personalMessageTypes] as const
export type StreamMessageType = (typeof streamMessageTypes)[number]

/** The most changes in one message. */
export const regionChangesMax = 100

/** The data of `announcement.regions_changed`: the client should read the state again. */
export const RegionsChanged = Component('AnnouncementRegionsChangedData', {
  changes: Type.Array(
    Component('AnnouncementRegionChange', {
      announcement_id: { ...Id, description: 'id of the announcement' },
      region: Type.String({ description: 'slug of the region' }),
      state: { ...Enumeration('RegionState', regionStates), description: 'state in the region now' },
    }),
    { description: `the first ${regionChangesMax} changes of one transaction` },
  ),
  truncated: Type.Boolean({ description: 'whether there were more' }),
  at: { ...Time, description: 'time of the changes' },
})
export type RegionsChanged = Static<typeof RegionsChanged>

/** Control events of the stream, with the data `{}`. */
export const streamSigns = ['ready', 'reset'] as const

export const followStreamRoute = route({
  name: 'followStream',
  group: 'Stream',
  method: 'GET',
  path: '/v3/stream',
  summary: 'Follow the stream of messages',
  description:
    'Server-sent events (`text/event-stream`): the messages of webhooks, with the same types and bodies, and ' +
    '`announcement.regions_changed` when regions of announcements change while the status stays. The first event is `ready`. After a lost connection, send the last id as `Last-Event-ID` to continue ' +
    'without a gap. If that is not possible, after a week or a move of the database, the first event is ' +
    '`reset`: read the current state from the API. A message may come twice. Without `type`, all messages ' +
    'that the modules of the team and the scopes of the API token (`ipam:read`, `lighthouse:read`, `shield:read`, `dns:read`, `inventory:read`, `alerts:read`) allow are ' +
    'sent. A user also gets `notifications.changed` when the personal notifications of the team change, with the data ' +
    '`{unread, newest_id}`; webhooks and API tokens do not. The answer ends after a while, and when the credential expires: connect again.',
  permission: { credential: 'any' },
  query: Strict({
    type: Optional(Repeatable(Enumeration('StreamMessageType', streamMessageTypes))),
  }),
  stream: true,
  success: 200,
  errors: ['forbidden', 'module_disabled', 'scope_missing'],
})

export const streamRoutes = [followStreamRoute]
