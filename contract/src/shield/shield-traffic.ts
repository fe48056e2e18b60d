// The traffic towards a prefix of the team over time: all of it, what the team's rules dropped, and what passed.
import { Type, type Static } from 'typebox'
import { TrafficNotes, trafficQuery } from '../flow/traffic-parts.ts'
import { route } from '../route.ts'
import { Component, Strict } from '../scalar.ts'
import { Timeseries } from '../timeseries.ts'
import { shieldReading } from './shield.ts'

export const ShieldTraffic = Component('ShieldTraffic', { ...Timeseries.properties, notes: TrafficNotes })
export type ShieldTraffic = Static<typeof ShieldTraffic>

export const getShieldTrafficRoute = route({
  name: 'getShieldTraffic',
  group: 'Shield',
  method: 'GET',
  path: '/v3/lighthouse/security/shield/traffic',
  summary: 'Get shield traffic',
  description:
    'The traffic towards a prefix of the team, by default of the last 24 hours, as three series, which `key.part` names: `total`, `dropped` and `passed`, ' +
    'as in getRelatedEventTraffic. `dropped` is what rules dropped whose destinations overlap the prefix. Buckets have at least 60 seconds.',
  permission: shieldReading,
  query: Strict({
    prefix: Type.String({
      minLength: 2,
      maxLength: 50,
      description: 'address or prefix that the team holds',
    }),
    ...trafficQuery,
  }),
  response: ShieldTraffic,
  success: 200,
  errors: ['query_too_expensive'],
})

export const shieldTrafficRoutes = [getShieldTrafficRoute]
