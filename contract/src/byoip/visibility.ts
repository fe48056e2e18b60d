// How an announced prefix is seen by BGP route collectors in other networks: schemas and the sentences of the reasons why it is
// not known.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Component, Enumeration, Nullable, NullableTime, Time } from '../scalar.ts'

/**
 * `current`: the routes of all known collectors are known. `partial`: only some routes are known, so the counts are lower
 * bounds. `unavailable`: there are no current data, and the counts are null.
 */
const visibilityStates = ['current', 'partial', 'unavailable'] as const

/** Why the state is not `current`. */
const reasons = {
  no_source: 'The provider does not monitor visibility.',
  stale: 'The monitoring of visibility has no current data. The provider has to repair it.',
  not_monitored: 'Visibility of this prefix is not monitored yet.',
  few_collectors: 'Too few route collectors have reported so far to judge visibility.',
  changes_only:
    'The monitoring started or reconnected while the prefix was announced: route collectors that have reported no change since then are not counted.',
  too_many_routes: 'The prefix has more routes than the monitoring can store.',
} as const
export type VisibilityReason = keyof typeof reasons
const visibilityReasons = Object.keys(reasons) as [VisibilityReason, ...VisibilityReason[]]

/** Returns the sentence of a reason for people. */
export const visibilityReasonText = (reason: VisibilityReason): string => reasons[reason]

/** Last change on the provider's routers: the first of them announces the prefix, or the last one has withdrawn it. */
const routerChangeKinds = ['announced', 'withdrawn'] as const

const rpkiStates = ['valid', 'mismatch_asn', 'mismatch_length', 'missing', 'unavailable'] as const

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const AsnOfRoute = Type.Integer({
  minimum: 0,
  maximum: 4_294_967_295,
  description: 'origin of the routes; 0 if it is not known',
})

export const SeenOrigin = Component('SeenOrigin', {
  asn: AsnOfRoute,
  count: Count('collectors whose route has this origin'),
  expected: Type.Boolean({ description: 'whether it is the origin_asn of the announcement' }),
})
export type SeenOrigin = Static<typeof SeenOrigin>

export const SeenRoute = Component('SeenRoute', {
  cidr: Type.String({ description: 'the announced prefix, or a part of it' }),
  asn: AsnOfRoute,
  count: Count('collectors whose route has this origin'),
})
export type SeenRoute = Static<typeof SeenRoute>

const RouterChange = Component('AnnouncementRouterChange', {
  at: { ...Time, description: 'time of the change' },
  kind: {
    ...Enumeration('RouterChangeKind', routerChangeKinds),
    description: '`announced`: by the first router; `withdrawn`: by the last one',
  },
  seconds_to_80pct: Nullable(
    Count(
      'seconds until 80 % of the collectors had the announcement, or 80 % of those that had the route lost it; null if not reached or not measured',
    ),
  ),
})

export const Visibility = Component('AnnouncementVisibility', {
  state: {
    ...Enumeration('VisibilityState', visibilityStates),
    description:
      '`current`: the routes of all known collectors are known. `partial`: only some are, so that the counts are lower ' +
      'bounds. `unavailable`: there are no current data, and the counts are null',
  },
  reason: Nullable({
    ...Enumeration('VisibilityReason', visibilityReasons),
    description: 'code of the reason why the state is not `current`; null if it is',
  }),
  message: Nullable(Type.String({ description: 'the reason as text, if the state is not `current`' })),
  collectors_total: Nullable(
    Count('known collectors: routers of other networks that send their routes to a route collector'),
  ),
  collectors_seeing: Nullable(Count('collectors that have a route for exactly this prefix')),
  origins: Type.Array(SeenOrigin, { description: 'origins of these routes, most seen first' }),
  more_specifics: Type.Array(SeenRoute, {
    description: 'routes inside the prefix with another origin, which no announcement explains',
  }),
  rpki: { ...Enumeration('RpkiState', rpkiStates), description: 'state of the announced route in the RPKI' },
  checked: { ...NullableTime, description: 'time of the data; null if there are none' },
  last_change: Nullable({
    ...RouterChange,
    description: "last change on the provider's routers; null if none is known",
  }),
  zombie: Nullable(
    Type.Boolean({
      description:
        'whether collectors still have the route long after the routers withdrew it; null if not known',
    }),
  ),
})
export type Visibility = Static<typeof Visibility>
