// The time zone of a place: of a location of the provider, an airport, or coordinates.
import { Type, type Static } from 'typebox'
import { route } from './route.ts'
import { Component, Nullable, Optional, Strict, Time } from './scalar.ts'

export const LocationTimezone = Component('LocationTimezone', {
  location: Nullable(
    Type.String({ description: 'key of the location, or the IATA code; null for coordinates' }),
  ),
  name: Nullable(Type.String({ description: 'name of the place; null for coordinates' })),
  country: Nullable(Type.String({ description: 'ISO 3166-1 alpha-2; null if unknown' })),
  timezone: Type.String({ description: 'IANA name, such as Australia/Sydney' }),
  utc_offset: Type.String({ description: 'offset from UTC at that time, such as +10:00' }),
  dst: Type.Boolean({ description: 'whether daylight saving time is in effect at that time' }),
  at: { ...Time, description: 'the time of `utc_offset` and `dst`' },
})
export type LocationTimezone = Static<typeof LocationTimezone>

const Degrees = (maximum: number, description: string) =>
  Optional(
    Type.String({
      pattern: '^-?[0-9]{1,3}(\\.[0-9]{1,10})?$',
      expects: `degrees from -${maximum} to ${maximum}, such as 52.37`,
      description,
    }),
  )

export const getTimezoneRoute = route({
  name: 'getTimezone',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/timezone',
  summary: 'Timezone For Location',
  description:
    'The time zone of a place: of `location`, or of `latitude` and `longitude`. Looked up in data of the server: nothing is sent elsewhere. ' +
    'A location that is not known returns 404.',
  permission: { credential: 'any', module: 'lighthouse', scope: 'lighthouse:read', grant: 'lighthouse.see' },
  query: Strict({
    location: Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'key of a location of the provider, as in `source_location_id` of an event, the slug of a region, or an IATA code',
      }),
    ),
    latitude: Degrees(90, 'decimal degrees, north is positive; with `longitude`'),
    longitude: Degrees(180, 'decimal degrees, east is positive; with `latitude`'),
    at: Optional({ ...Time, description: 'time of `utc_offset` and `dst`; now by default' }),
  }),
  response: LocationTimezone,
  success: 200,
  errors: ['not_found'],
})

export const timezoneRoutes = [getTimezoneRoute]
