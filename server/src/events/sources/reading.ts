// Reads fields of a detector's JSON; errors contain the field's place. Values are not coerced: a number in text form is
// an error of the sender, unless the source's format or its mapping allows it.
import { createHash } from 'node:crypto'
import { PrefixError } from '../../net/prefix-error.ts'
import { maskHostBits, parsePrefixOrAddress } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { cleanText } from '../event/json.ts'
import type { Notes } from './source.ts'
import { NormaliseError } from './source.ts'

export type ReportFields = { readonly [name: string]: unknown }

export function readObject(value: unknown, place: string): ReportFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ReportFields
  throw typeError(place, 'an object', value)
}

export function readList(value: unknown, place: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw typeError(place, 'an array', value)
}

/** Reads a non-empty string. */
export function readText(value: unknown, place: string, lengthMax = 500): string {
  if (typeof value !== 'string') throw typeError(place, 'a string', value)
  const text = cleanText(value, lengthMax).trim()
  if (text === '') throw new NormaliseError(place, 'empty')
  return text
}

/** Maximum length of `source_event_id`. */
const keyMax = 200

/** Reads the key of an event. A longer key is hashed: truncated keys with the same beginning would be equal. */
export function readKey(value: unknown, place: string): string {
  return shortKey(readText(value, place, Number.MAX_SAFE_INTEGER))
}

/** Returns the key itself, or its hash if it is too long for `source_event_id`. */
export function shortKey(key: string): string {
  return key.length <= keyMax ? key : hashedKey(key)
}

/**
 * Returns the key of an event that a client has written, in the form of deliveries. A key may be given as its hash,
 * which the API returns.
 */
export function writtenKey(text: string, isHashed = false): string {
  const key = shortKey(cleanText(text, Number.MAX_SAFE_INTEGER).trim())
  return isHashed && !/^sha256:[0-9a-f]{64}$/.test(key) ? hashedKey(key) : key
}

export function hashedKey(key: string): string {
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}

/** Joins the parts of a key, so that different parts never give the same key. */
export function joinKey(parts: readonly string[]): string {
  return shortKey(parts.map((part) => part.replace(/[\\|]/g, '\\$&')).join('|'))
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
  if (typeof value !== 'number') throw typeError(place, 'a number', value)
  const amount = Math.round(value * factor)
  if (amount >= 0 && Number.isSafeInteger(amount)) return amount
  throw new NormaliseError(place, 'number_range')
}

/** A decimal number in text form, such as a label of Prometheus; other values are returned as they are. */
export function numberOfText(value: unknown, place: string): unknown {
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (text === '') return undefined
  if (/^\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/.test(text)) return Number(text)
  throw new NormaliseError(place, 'number_text', { value: text.slice(0, 50) })
}

/** An address or a prefix. `masked`: this sender is known to leave host bits set, which are cleared. */
export function readNetwork(value: unknown, place: string, masked = false): Prefix {
  const text = readText(value, place, 100)
  try {
    return masked && text.includes('/') ? maskHostBits(text) : parsePrefixOrAddress(text)
  } catch (error) {
    if (error instanceof PrefixError) throw new NormaliseError(place, 'network', { detail: error.message })
    throw error
  }
}

/** Parses a list of networks. Invalid ones are skipped with a note, unless all are invalid. */
export function readNetworks(list: readonly unknown[], place: string, notes: Notes): Prefix[] {
  const errors: NormaliseError[] = []
  const networks = list.slice(0, 1_000).flatMap((network, at) => {
    try {
      return [readNetwork(network, `${place}/${at}`, true)]
    } catch (error) {
      if (!(error instanceof NormaliseError)) throw error
      errors.push(error)
      return []
    }
  })
  if (networks.length === 0 && errors.length > 0) throw errors[0]!
  for (const error of errors) notes.add('warning', error.place, error.code, error.attrs)
  return networks
}

/** Times outside of this range are errors of the sender, such as seconds instead of milliseconds. */
const yearMin = 1980
const yearMax = 2200

export function checkTime(time: Date, place: string): Date {
  const year = time.getUTCFullYear()
  if (year >= yearMin && year <= yearMax) return time
  throw new NormaliseError(place, 'time_range', { min: yearMin, max: yearMax })
}

function typeError(place: string, expected: string, value: unknown): NormaliseError {
  return new NormaliseError(place, 'type', { expected, found: nameOf(value) })
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
