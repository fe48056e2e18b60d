// The settings that sources of every kind have: their location. The kind defines all others.
import { isTimezone } from '../../text/time.ts'
import type { EventTexts } from '../event/event.ts'
import { readObject, readOptionalText, readText } from './reading.ts'
import type { ReportFields } from './reading.ts'
import { NormaliseError, settingError } from './source.ts'

const commonNames = ['location', 'timezone', 'country']

/** Returns the settings of the kind itself; throws if a setting is neither in `names` nor common to all sources. */
export function readKindSettings(settings: unknown, names: readonly string[]): ReportFields {
  const fields = readObject(settings ?? {}, 'settings')
  for (const name of Object.keys(fields)) {
    if (names.includes(name) || commonNames.includes(name)) continue
    const known = [...names, ...commonNames].join(', ')
    throw settingError(`settings.${name}`, `is unknown; known are ${known}`)
  }
  checkPlace(fields)
  return fields
}

/** The location that a source's setting `location` names. */
export type Place = { readonly name: string; readonly country: string; readonly timezone: string }

/** The location texts of the source's events, unless a delivery contains its own. */
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

function checkPlace(fields: ReportFields): void {
  if (fields.location !== undefined) readText(fields.location, 'settings.location')
  if (fields.country !== undefined) readCountry(fields.country, 'settings.country')
  if (fields.timezone !== undefined) readTimezone(fields.timezone, 'settings.timezone')
}

/** ISO 3166-1 alpha-2, upper case. */
export function readCountry(value: unknown, place: string): string {
  const country = readText(value, place)
  if (/^[A-Z]{2}$/.test(country)) return country
  throw new NormaliseError(place, 'country')
}

/** A name of the IANA time zone database. */
export function readTimezone(value: unknown, place: string): string {
  const timezone = readText(value, place, 60)
  if (isTimezone(timezone)) return timezone
  throw new NormaliseError(place, 'timezone')
}
