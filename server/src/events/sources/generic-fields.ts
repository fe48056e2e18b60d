// The settings `fields` of a mapped source: the pointer and unit of each field, parsed once and applied to each event.
import { parseTime } from '../../text/time.ts'
import type { Notes } from './source.ts'
import { compilePointer } from './pointer.ts'
import type { Pointer } from './pointer.ts'
import {
  hashedKey,
  joinKey,
  numberOfText,
  readAmount,
  readList,
  readObject,
  readText,
  shortKey,
  writtenKey,
} from './reading.ts'
import type { ReportFields } from './reading.ts'
import { NormaliseError, settingError } from './source.ts'
import {
  bitRates,
  byteAmounts,
  packetAmounts,
  packetRates,
  readStatedTime,
  readTime,
  timeUnits,
} from './units.ts'
import type { TimeUnit } from './units.ts'

const amounts = {
  bps: bitRates,
  pps: packetRates,
  threshold_bps: bitRates,
  threshold_pps: packetRates,
  total_bytes: byteAmounts,
  total_packets: packetAmounts,
} as const
const amountDefaults = {
  bps: 'bps',
  pps: 'pps',
  threshold_bps: 'bps',
  threshold_pps: 'pps',
  total_bytes: 'bytes',
  total_packets: 'packets',
} as const
const times = ['start', 'end', 'observed'] as const
const plain = [
  'network',
  'status',
  'direction',
  'classification',
  'flags',
  'description',
  'protocols',
  'resource_id',
  'location_id',
  'location',
  'country',
  'timezone',
] as const

type AmountName = keyof typeof amounts
type TimeName = (typeof times)[number]
export type FieldName = AmountName | TimeName | (typeof plain)[number]

const fieldNames: readonly string[] = ['id', ...plain, ...times, ...Object.keys(amounts)]

/** The fields of one event. A detail that cannot be read is undefined, and noted. */
export type EventFields = {
  /** The key; throws NormaliseError if a part of it is missing. */
  key(): string
  raw(name: FieldName): unknown
  /** In the unit of the API; undefined if absent. */
  amount(name: AmountName): number | undefined
  /** `isExpiry`: a time far ahead is kept. */
  time(name: TimeName, isExpiry?: boolean): Date | undefined
  /** For notes: the event's place and the field's pointer. */
  placeOf(name: FieldName): string
}
export type FieldReader = (event: ReportFields, place: string, notes: Notes) => EventFields

type Found = { readonly value: unknown; readonly at: string }
const nothing: Found = { value: undefined, at: '' }
type Field = {
  readonly find: (event: unknown) => Found
  readonly unit: string | undefined
  readonly isText: boolean
}

/** Throws NormaliseError for an unknown name, pointer or unit, and if `id` is missing. */
export function createFieldReader({ id, ...settings }: ReportFields): FieldReader {
  if (id === undefined) {
    throw settingError('settings.fields.id', 'is missing: the pointer to the key of the event')
  }
  const readKeyOf = compileKey(id, 'settings.fields.id')
  const fields = new Map<string, Field>(
    Object.entries(settings).map(([name, field]) => [name, compileField(name, field)] as const),
  )
  return (event, place, notes) => {
    const found = (name: FieldName) => fields.get(name)?.find(event) ?? nothing
    const raw = (name: FieldName) => found(name).value
    const placeOf = (name: FieldName) => `${place}${found(name).at}`
    const unitOf = (name: FieldName, byDefault: string) => fields.get(name)?.unit ?? byDefault
    return {
      key: () => readKeyOf(event, place),
      raw,
      placeOf,
      amount(name) {
        const { value, at } = found(name)
        if (isAbsent(value) && value !== '') return undefined
        const fieldPlace = `${place}${at}`
        return notes.optional(() => {
          const number = fields.get(name)!.isText ? numberOfText(value, fieldPlace) : value
          return readAmount(number, fieldPlace, amounts[name].get(unitOf(name, amountDefaults[name])))
        })
      },
      time(name, isExpiry = false) {
        const { value, at } = found(name)
        if (isAbsent(value)) return undefined
        const read = isExpiry ? readStatedTime : readTime
        return read(value, unitOf(name, 'iso') as TimeUnit, `${place}${at}`, notes)
      },
    }
  }
}

/**
 * Compiles the setting `id`: a pointer, a list of pointers whose values together are the key, or `{ at, hash: true }` with
 * either of them.
 */
function compileKey(setting: unknown, place: string): (event: unknown, place: string) => string {
  const isPlain = typeof setting === 'string' || Array.isArray(setting)
  const { at, hash = false, ...others } = isPlain ? { at: setting } : readObject(setting, place)
  if (Object.keys(others).length > 0 || typeof hash !== 'boolean') {
    throw settingError(place, 'a JSON pointer, a list of them or { at, hash } is expected')
  }
  const parts = compilePointers(at, place)
  return (event, eventPlace) => {
    const values = parts.map(({ get, at: part }) =>
      keyText(get(event), `${eventPlace}${part}`, parts.length > 1),
    )
    const key = values.length === 1 ? shortKey(values[0]!) : joinKey(values)
    return hash ? hashedKey(key) : key
  }
}

/** Returns the key of an event from the text of a client. Settings that are invalid fail each delivery. */
export function mappedKey(text: string, settings: unknown): string {
  const { fields } = (settings ?? {}) as { readonly fields?: { readonly id?: { readonly hash?: unknown } } }
  return writtenKey(text, fields?.id?.hash === true)
}

/** Keys may be numbers or strings. In a composed key, one time has one form, whatever its time zone. */
function keyText(value: unknown, place: string, isPart: boolean): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  const text = readText(value, place, Number.MAX_SAFE_INTEGER)
  return (isPart ? parseTime(text)?.toISOString() : undefined) ?? text
}

type Located = { readonly get: Pointer; readonly at: string }

/** Compiles one pointer or a non-empty list of them. */
function compilePointers(setting: unknown, place: string): Located[] {
  if (!Array.isArray(setting)) return [{ get: compilePointer(setting, place), at: String(setting) }]
  if (setting.length === 0) throw settingError(place, 'at least one JSON pointer is expected')
  return setting.map((one, index) => ({ get: compilePointer(one, `${place}.${index}`), at: String(one) }))
}

function compileField(name: string, field: unknown): Field {
  const place = `settings.fields.${name}`
  if (!fieldNames.includes(name)) {
    throw settingError(place, `is unknown; known are ${fieldNames.join(', ')}`)
  }
  const {
    at,
    first,
    unit,
    value,
    text = false,
    until,
    ...others
  } = typeof field === 'string' ? { at: field } : readObject(field, place)
  const isConstant = value !== undefined
  const sources = [at, first, value].filter((one) => one !== undefined)
  const hasOptions = [unit, until].some((one) => one !== undefined) || text !== false
  if (Object.keys(others).length > 0 || sources.length !== 1 || (isConstant && hasOptions)) {
    throw settingError(place, 'a JSON pointer, { at, unit, text, until }, { first } or { value } is expected')
  }
  if (typeof text !== 'boolean') throw settingError(`${place}.text`, 'true or false is expected')
  if (isConstant) return { find: () => ({ value, at: '' }), unit: undefined, isText: false }
  const pointers =
    first === undefined
      ? [{ get: compilePointer(at, `${place}.at`), at: String(at) }]
      : compilePointers(readList(first, `${place}.first`), `${place}.first`)
  return {
    find: beforeText(readUntil(until, `${place}.until`), (event) => firstPresent(pointers, event)),
    unit: readUnit(name, unit, `${place}.unit`),
    isText: text,
  }
}

function firstPresent(pointers: readonly Located[], event: unknown): Found {
  for (const { get, at } of pointers) {
    const value = get(event)
    if (!isAbsent(value)) return { value, at }
  }
  return { value: undefined, at: pointers[0]!.at }
}

/** Truncates texts before the first `until`: `203.0.113.7@0` before `@`. */
function beforeText(until: string | undefined, find: Field['find']): Field['find'] {
  if (until === undefined) return find
  return (event) => {
    const found = find(event)
    return typeof found.value === 'string' ? { ...found, value: found.value.split(until, 1)[0] } : found
  }
}

function readUntil(value: unknown, place: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw settingError(place, 'the text before which the value ends is expected, such as "@"')
}

/** An absent value: missing, null or empty. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function readUnit(name: string, unit: unknown, place: string): string | undefined {
  if (unit === undefined) return undefined
  const known = unitsOf(name)
  if (typeof unit === 'string' && known.includes(unit)) return unit
  throw settingError(
    place,
    known.length > 0 ? `one of ${known.join(', ')} is expected` : 'this field has no unit',
  )
}

function unitsOf(name: string): readonly string[] {
  if ((times as readonly string[]).includes(name)) return timeUnits
  return Object.hasOwn(amounts, name) ? [...amounts[name as AmountName].keys()] : []
}

/** Returns whether an event is ignored: the text of the condition that it meets, or undefined. */
export type IgnoreRule = (event: unknown) => string | undefined

/**
 * Compiles the setting `ignore`: a list of conditions `{ at, is }`, `{ at, not }` (a value or a list of values) or
 * `{ at, absent: true }`. An event that meets any of them is ignored.
 */
export function compileIgnore(setting: unknown): IgnoreRule {
  const conditions = readList(setting, 'settings.ignore').map((one, index) =>
    compileCondition(one, `settings.ignore.${index}`),
  )
  return (event) => conditions.find(({ matches }) => matches(event))?.text
}

function compileCondition(
  setting: unknown,
  place: string,
): { text: string; matches: (event: unknown) => boolean } {
  const { at, ...tests } = readObject(setting, place)
  const get = compilePointer(at, `${place}.at`)
  const [test, ...more] = Object.entries(tests)
  if (test === undefined || more.length > 0) throw conditionError(place)
  const [name, value] = test
  const values = [value].flat() as unknown[]
  if (values.some((one) => one !== null && typeof one === 'object')) throw conditionError(place)
  const text = `${String(at)} ${name} ${values.map((one) => JSON.stringify(one)).join(', ')}`
  switch (name) {
    case 'is':
      return { text, matches: (event) => values.includes(get(event)) }
    case 'not':
      return { text, matches: (event) => !values.includes(get(event)) }
    case 'absent':
      if (typeof value !== 'boolean') throw conditionError(place)
      return { text, matches: (event) => isAbsent(get(event)) === value }
    default:
      throw conditionError(place)
  }
}

const conditionError = (place: string): NormaliseError =>
  settingError(place, '{ at, is }, { at, not } or { at, absent: true } is expected')
