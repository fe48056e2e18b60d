// What every source can be configured with, whatever its kind: where it stands. The rest is its kind's business.
import { isTimezone } from '../../text/time.ts'
import type { EventTexts } from '../event.ts'
import { readKey, readObject, readOptionalText, readText } from './reading.ts'
import type { Fields } from './reading.ts'
import { NormaliseError } from './source.ts'

const commonNames = ['location', 'timezone', 'country']

/** The settings of the kind itself; one that is neither among `names` nor common to all sources is an error. */
export function readKindSettings(settings: unknown, names: readonly string[]): Fields {
  const fields = readObject(settings ?? {}, 'settings')
  for (const name of Object.keys(fields)) {
    if (names.includes(name) || commonNames.includes(name)) continue
    const known = [...names, ...commonNames].join(', ')
    throw new NormaliseError(`settings.${name}`, `is not known; known are ${known}`)
  }
  checkPlace(fields)
  return fields
}

/** The place that a source's `location` names, from the table of locations. */
export type Place = { readonly name: string; readonly country: string; readonly timezone: string }

/** What events of the source say about where it stands, unless a delivery says better. */
export function defaultTexts(settings: unknown, place: Place | undefined): Partial<EventTexts> {
  const fields = readObject(settings ?? {}, 'settings')
  const location = readOptionalText(fields.location, 'settings.location')
  const timezone = readOptionalText(fields.timezone, 'settings.timezone') ?? place?.timezone
  const country = readOptionalText(fields.country, 'settings.country') ?? place?.country
  return {
    ...(location === undefined ? {} : { sourceLocationId: location, sourceLocation: place?.name ?? '' }),
    ...(timezone === undefined ? {} : { sourceTimezone: timezone }),
    ...(country === undefined ? {} : { sourceCountry: country }),
  }
}

function checkPlace(fields: Fields): void {
  if (fields.location !== undefined) readText(fields.location, 'settings.location')
  if (fields.country !== undefined) readCountry(fields.country, 'settings.country')
  if (fields.timezone !== undefined) readTimezone(fields.timezone, 'settings.timezone')
}

/** ISO 3166-1 alpha-2, upper case. */
export function readCountry(value: unknown, place: string): string {
  const country = readText(value, place)
  if (/^[A-Z]{2}$/.test(country)) return country
  throw new NormaliseError(place, 'two capital letters are expected, such as NL')
}

/** A name of the IANA time zone database. */
export function readTimezone(value: unknown, place: string): string {
  const timezone = readKey(value, place, 60)
  if (isTimezone(timezone)) return timezone
  throw new NormaliseError(place, 'an IANA time zone is expected, such as Europe/Amsterdam')
}
