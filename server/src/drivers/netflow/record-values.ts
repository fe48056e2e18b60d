// The values of one record of a data set: `walk` goes through the records and sets the place of each value, so that
// reading allocates no memory. There is one record at a time.
import { isReadable, slotNames, variableLength, type RecordLayout } from './elements.ts'

export const places = new Int32Array(slotNames.length)
export const lengths = new Uint16Array(slotNames.length)
const starts = new Int32Array(256)
const sizes = new Uint16Array(256)

/** The low 32 bits of the value of a slot; 0 if it is absent. */
export function low(octets: Uint8Array, index: number): number {
  const at = places[index]!
  if (at < 0) return 0
  const end = at + lengths[index]!
  let value = 0
  for (let i = Math.max(at, end - 4); i < end; i++) value = (value << 8) | octets[i]!
  return value >>> 0
}

/** The bits above 32. */
export function high(octets: Uint8Array, index: number): number {
  const at = places[index]!
  if (at < 0) return 0
  const end = at + lengths[index]! - 4
  let value = 0
  for (let i = at; i < end; i++) value = (value << 8) | octets[i]!
  return value >>> 0
}

export const isPresent = (index: number): boolean => places[index]! >= 0

/** The number of records of a set in `octets[at, end)`; of variable ones an upper limit. Padding is shorter than a record. */
export function countRecords(layout: RecordLayout, at: number, end: number): number {
  return Math.floor((end - at) / layout.width)
}

/** Calls `onRecord` once the values of a record have their places. Returns the number of records; -1 minus it if one exceeds the set. */
export function walk(
  octets: Uint8Array,
  at: number,
  end: number,
  layout: RecordLayout,
  onRecord: () => void,
): number {
  let records = 0
  let next = at
  while (end - next >= layout.width) {
    if (layout.isVariable) {
      next = walkFields(octets, next, end, layout)
      if (next < 0) return -1 - records
      locateVariable(layout)
    } else {
      locateFixed(layout, next)
      next += layout.width
    }
    records++
    onRecord()
  }
  return records
}

function locateFixed(layout: RecordLayout, start: number): void {
  for (let i = 0; i < places.length; i++) {
    const place = layout.places[i]!
    places[i] = place < 0 ? -1 : start + place
    lengths[i] = layout.lengths[i]!
  }
}

function locateVariable(layout: RecordLayout): void {
  for (let i = 0; i < places.length; i++) {
    const field = layout.places[i]!
    const isUsed = field >= 0 && isReadable(i, sizes[field]!)
    places[i] = isUsed ? starts[field]! : -1
    lengths[i] = isUsed ? sizes[field]! : 0
  }
}

/** Sets where each field of a variable record is (RFC 7011, section 7). Returns the end of the record; -1 if it exceeds the set. */
function walkFields(octets: Uint8Array, at: number, end: number, layout: RecordLayout): number {
  let next = at
  for (let field = 0; field < layout.fieldLengths.length; field++) {
    let length = layout.fieldLengths[field]!
    if (length === variableLength) {
      if (next >= end) return -1
      length = octets[next++]!
      if (length === 255) {
        if (next + 2 > end) return -1
        length = (octets[next]! << 8) | octets[next + 1]!
        next += 2
      }
    }
    if (next + length > end) return -1
    starts[field] = next
    sizes[field] = length
    next += length
  }
  return next
}
