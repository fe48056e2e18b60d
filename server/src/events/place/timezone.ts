// The time zone of a place. All lookups use local data on the server.
import type { LocationTimezone, getTimezoneRoute } from '@pharos/contract/timezone'
import type { QueryOf } from '@pharos/contract/route'
import findTimezone from '@photostructure/tz-lookup'
import { Temporal } from 'temporal-polyfill'
import type { Db } from '../../db/postgres.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import { parseTime } from '../../text/time.ts'
import { airports } from './airport.ts'
import { findLocation } from './timezone.store.ts'

export type TimezoneDeps = { readonly db: Db; readonly now: () => Date }
type Query = QueryOf<typeof getTimezoneRoute>
type Place = Pick<LocationTimezone, 'location' | 'name' | 'country' | 'timezone'>

/**
 * Returns the time zone of a location or of coordinates. Throws `not_found`, and `invalid` unless exactly one of the
 * two is given.
 */
export async function getTimezone(
  { db, now }: TimezoneDeps,
  _: unknown,
  query: Query,
): Promise<LocationTimezone> {
  const place = await placeOf(db, query)
  const at = query.at === undefined ? now() : parseTime(query.at)!
  return { ...place, ...offsetAt(place.timezone, at), at: at.toISOString() }
}

async function placeOf(db: Db, { location, latitude, longitude }: Query): Promise<Place> {
  const hasCoordinates = latitude !== undefined || longitude !== undefined
  if (location !== undefined) {
    if (hasCoordinates) throw invalid(['query', 'location'], 'locationAndCoordinates')
    return await placeOfLocation(db, location)
  }
  if (!hasCoordinates) throw invalid(['query', 'location'], 'locationOrCoordinates')
  if (latitude === undefined) throw invalid(['query', 'latitude'], 'coordinateMissing')
  if (longitude === undefined) throw invalid(['query', 'longitude'], 'coordinateMissing')
  const timezone = findTimezone(degrees('latitude', latitude, 90), degrees('longitude', longitude, 180))
  return { location: null, name: null, country: null, timezone }
}

function degrees(name: 'latitude' | 'longitude', text: string, max: number): number {
  const value = Number(text)
  if (Math.abs(value) > max) throw invalid(['query', name], 'coordinateRange', { max })
  return value
}

/** A location of the provider has precedence: `ams` is its site, which may have another name than the airport. */
async function placeOfLocation(db: Db, text: string): Promise<Place> {
  const own = await findLocation(db, text.toLowerCase())
  if (own) return { location: own.key, name: own.name, country: own.country, timezone: own.timezone }
  const airport = airports.get(text.toUpperCase())
  if (!airport) throw notFound('location')
  return { location: text.toUpperCase(), ...airport }
}

/**
 * Daylight saving time: the offset is greater than the smallest one of the year. Also applied to Ireland, whose law
 * defines it the other way round.
 */
function offsetAt(timezone: string, at: Date): Pick<LocationTimezone, 'utc_offset' | 'dst'> {
  const here = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone)
  const least = Math.min(
    ...[1, 4, 7, 10].map((month) => here.with({ month, day: 1 }).offsetNanoseconds),
    here.offsetNanoseconds,
  )
  return { utc_offset: here.offset.slice(0, 6), dst: here.offsetNanoseconds > least }
}
