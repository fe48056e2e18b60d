// The traffic towards the target of a security event: all of it, what the team's shield rules dropped, and what passed.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import { TrafficNotes, trafficQuery } from '../flow/traffic-parts.ts'
import { Component, Enumeration, Strict } from '../scalar.ts'
import { Timeseries } from '../timeseries.ts'

/** The series of an answer, in this order. */
export const eventTrafficParts = ['total', 'dropped', 'passed'] as const
export type EventTrafficPart = (typeof eventTrafficParts)[number]

const eventTrafficSources = ['flows', 'detector'] as const

export const EventTraffic = Component('EventTraffic', {
  ...Timeseries.properties,
  source: {
    ...Enumeration('EventTrafficSource', eventTrafficSources),
    description:
      'where `total` is from: `flows` of routers; `detector`: the samples of the detector, as there are no flows towards the network in the window, or ' +
      'they cannot be read. A sample is that of the whole event',
  },
  notes: TrafficNotes,
})
export type EventTraffic = Static<typeof EventTraffic>

export const getEventTrafficRoute = route({
  name: 'getRelatedEventTraffic',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/events/related/{event_id}/traffic',
  summary: 'Event Traffic Related',
  description:
    'The traffic towards the affected network of an event, or towards the part of it that the team holds. Three series, which `key.part` names: `total`; ' +
    '`dropped`, the packets that `deny` and `rate_limit` rules of the team dropped whose destinations overlap the network; `passed`, the difference, at least 0. ' +
    'Flows count in the bucket in which routers export them, up to a minute after the packets, and contain dropped packets if the routers export before the ' +
    'scrubber. `dropped` depends on the scrubber: nftables counts packets, of a `rate_limit` those that exceed the rate on average; the sandbox of the demo ' +
    'estimates them from flows; FlowSpec does not count, and its drops are missing (`notes`). A rule with a destination larger than the network counts as a whole. `dropped` is ' +
    'kept by minute for 400 days by default. The window is the event with 15 minutes before and after unless `start` or `end` say otherwise. Buckets have at ' +
    'least 60 seconds. Values are null after now, `total` where no flow of the team was received, and `dropped` without the store of flows or a scrubber that counts.',
  permission: { credential: 'any', module: 'lighthouse', scope: 'lighthouse:read', grant: 'lighthouse.see' },
  params: Strict({ event_id: Type.String({ maxLength: 300 }) }),
  query: Strict(trafficQuery),
  response: EventTraffic,
  success: 200,
  errors: ['query_too_expensive'],
})

export const eventTrafficRoutes = [getEventTrafficRoute]
