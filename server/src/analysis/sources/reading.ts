// Reads fields of a detector's JSON; errors contain the field's place. Nothing is coerced: a number in text form is an
// error of the sender, unless the source's format allows it.
import { PrefixError } from '../../net/prefix-error.ts'
import { maskHostBits, parsePrefixOrAddress } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { cleanText } from '../json.ts'
import { NormaliseError } from './source.ts'

export type Fields = { readonly [name: string]: unknown }

export function readObject(value: unknown, place: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new NormaliseError(place, `an object is expected, not ${nameOf(value)}`)
}

export function readList(value: unknown, place: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new NormaliseError(place, `an array is expected, not ${nameOf(value)}`)
}

/** Reads a non-empty string. */
export function readText(value: unknown, place: string, lengthMax = 500): string {
  if (typeof value !== 'string') throw new NormaliseError(place, `a string is expected, not ${nameOf(value)}`)
  const text = cleanText(value, lengthMax).trim()
  if (text === '') throw new NormaliseError(place, 'is empty')
  return text
}

/** A key is never truncated: two long keys with the same beginning would become one. */
export function readKey(value: unknown, place: string, lengthMax = 200): string {
  const text = readText(value, place, lengthMax + 1)
  if (text.length > lengthMax) throw new NormaliseError(place, `is longer than ${lengthMax} characters`)
  return text
}

/** Like readText; undefined if absent, null or empty. */
export function readOptionalText(value: unknown, place: string, lengthMax = 500): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && cleanText(value, lengthMax).trim() === '') return undefined
  return readText(value, place, lengthMax)
}

/** A rate or an amount, rounded to an integer; undefined if absent or null. */
export function readAmount(value: unknown, place: string, factor = 1): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw new NormaliseError(place, `a number is expected, not ${nameOf(value)}`)
  const amount = Math.round(value * factor)
  if (amount >= 0 && Number.isSafeInteger(amount)) return amount
  throw new NormaliseError(place, 'a number from 0 to 2^53 is expected')
}

/** An address or a prefix. `masked`: this sender is known to leave host bits set, which are cleared. */
export function readNetwork(value: unknown, place: string, masked = false): Prefix {
  const text = readText(value, place, 100)
  try {
    return masked && text.includes('/') ? maskHostBits(text) : parsePrefixOrAddress(text)
  } catch (error) {
    if (error instanceof PrefixError) throw new NormaliseError(place, error.message)
    throw error
  }
}

/** Times outside of this range are errors of the sender, such as seconds instead of milliseconds. */
const yearMin = 1980
const yearMax = 2200

export function checkTime(time: Date, place: string): Date {
  const year = time.getUTCFullYear()
  if (year >= yearMin && year <= yearMax) return time
  throw new NormaliseError(place, `a time between the years ${yearMin} and ${yearMax} is expected`)
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return (
    { string: 'a string', number: 'a number', boolean: 'true or false' }[typeof value as string] ??
    'an object'
  )
}
