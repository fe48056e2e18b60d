// The settings `fields` of a mapped source: the pointer and unit of each field, parsed once and applied to each event.
import { compilePointer } from './pointer.ts'
import type { Pointer } from './pointer.ts'
import { readAmount, readObject } from './reading.ts'
import type { Fields } from './reading.ts'
import { NormaliseError } from './source.ts'
import { bitRates, byteAmounts, packetAmounts, packetRates, readTime, timeUnits } from './units.ts'
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
  'id',
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

const fieldNames: readonly FieldName[] = [...plain, ...times, ...(Object.keys(amounts) as AmountName[])]

export type FieldReader = (
  event: Fields,
  place: string,
) => {
  raw(name: FieldName): unknown
  /** In the unit of the API; undefined if absent. */
  amount(name: AmountName): number | undefined
  time(name: TimeName): Date | undefined
  /** For errors: the event's place and the field's pointer. */
  placeOf(name: FieldName): string
}

type Field = { readonly get: Pointer; readonly at: string; readonly unit: string | undefined }

/** Throws NormaliseError for an unknown name, pointer or unit, and if `id` is missing. */
export function createFieldReader(settings: Fields): FieldReader {
  const fields = new Map<string, Field>(
    Object.entries(settings).map(([name, field]) => [name, readField(name, field)] as const),
  )
  if (!fields.has('id')) {
    throw new NormaliseError('settings.fields.id', 'is missing: the pointer to the key of the event')
  }
  return (event, place) => {
    const raw = (name: FieldName) => fields.get(name)?.get(event)
    const placeOf = (name: FieldName) => `${place}${fields.get(name)?.at ?? ''}`
    return {
      raw,
      placeOf,
      amount: (name) =>
        readAmount(raw(name), placeOf(name), amounts[name].get(unitOf(fields, name, amountDefaults[name]))),
      time: (name) => readTime(raw(name), unitOf(fields, name, 'iso') as TimeUnit, placeOf(name)),
    }
  }
}

function unitOf(fields: ReadonlyMap<string, Field>, name: string, byDefault: string): string {
  return fields.get(name)?.unit ?? byDefault
}

function readField(name: string, field: unknown): Field {
  const place = `settings.fields.${name}`
  if (!(fieldNames as readonly string[]).includes(name)) {
    throw new NormaliseError(place, `is unknown; known are ${fieldNames.join(', ')}`)
  }
  if (typeof field === 'string') return { get: compilePointer(field, place), at: field, unit: undefined }
  const { at, unit, value, ...others } = readObject(field, place)
  const isConstant = value !== undefined && at === undefined && unit === undefined
  if (Object.keys(others).length > 0 || (value !== undefined && !isConstant)) {
    throw new NormaliseError(place, 'a JSON pointer, { at, unit } or { value } is expected')
  }
  if (isConstant) return { get: () => value, at: '', unit: undefined }
  return {
    get: compilePointer(at, `${place}.at`),
    at: String(at),
    unit: readUnit(name, unit, `${place}.unit`),
  }
}

function readUnit(name: string, unit: unknown, place: string): string | undefined {
  if (unit === undefined) return undefined
  const known = unitsOf(name)
  if (typeof unit === 'string' && known.includes(unit)) return unit
  throw new NormaliseError(
    place,
    known.length > 0 ? `one of ${known.join(', ')} is expected` : 'this field has no unit',
  )
}

function unitsOf(name: string): readonly string[] {
  if ((times as readonly string[]).includes(name)) return timeUnits
  return Object.hasOwn(amounts, name) ? [...amounts[name as AmountName].keys()] : []
}
