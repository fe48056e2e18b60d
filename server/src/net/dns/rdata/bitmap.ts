// The type bitmap of NSEC, NSEC3 and CSYNC (RFC 4034 section 4.1.2): windows of up to 256 types.
import { findType, typeName } from '../type.ts'
import { Cursor } from './field.ts'
import type { FieldKind } from './field.ts'

/** Returns the bitmap of types; empty without types. Order and repetition do not matter. */
export function encodeBitmap(types: Iterable<number>): Uint8Array {
  const windows = new Map<number, Uint8Array>()
  const lengths = new Map<number, number>()
  for (const type of types) {
    const window = type >> 8
    const octets = windows.get(window) ?? new Uint8Array(32)
    windows.set(window, octets)
    const at = (type & 255) >> 3
    octets[at]! |= 0x80 >> (type & 7)
    lengths.set(window, Math.max(lengths.get(window) ?? 0, at + 1))
  }
  const sorted = [...windows.keys()].sort((a, b) => a - b)
  return Uint8Array.from(
    sorted.flatMap((window) => {
      const length = lengths.get(window)!
      return [window, length, ...windows.get(window)!.subarray(0, length)]
    }),
  )
}

/** Returns the types of a well-formed bitmap in ascending order. */
function decodeBitmap(bitmap: Uint8Array): number[] {
  const types: number[] = []
  for (let at = 0; at < bitmap.length; at += bitmap[at + 1]! + 2) {
    for (let bit = 0; bit < bitmap[at + 1]! * 8; bit++) {
      if ((bitmap[at + 2 + (bit >> 3)]! & (0x80 >> (bit & 7))) !== 0) types.push(bitmap[at]! * 256 + bit)
    }
  }
  return types
}

function bitmap(
  isOptional: boolean,
  check: (types: number[]) => string | undefined = () => undefined,
): FieldKind {
  return {
    parse(tokens, out) {
      const types: number[] = []
      while (!tokens.isAtEnd) {
        const type = findType(tokens.word())
        if (type === undefined) throw tokens.error('syntax', 'not a record type. Use mnemonics or TYPEnnn.')
        types.push(type)
      }
      if (types.length === 0 && !isOptional)
        throw tokens.error('missing', 'no types. List the types of the name.')
      const problem = check(types)
      if (problem !== undefined) throw tokens.error('syntax', problem)
      out.octets(encodeBitmap(types))
    },
    skip(data) {
      if (data.left === 0 && !isOptional) throw data.error('missing', 'no types. List the types of the name.')
      const types: number[] = []
      for (let last = -1; data.left > 0;) {
        const window = data.octet()
        const length = data.octet()
        if (window <= last || length < 1 || length > 32) throw malformed(data)
        const octets = data.octets(length)
        if (octets[length - 1] === 0) throw malformed(data)
        types.push(...decodeBitmap(Uint8Array.of(window, length, ...octets)))
        last = window
      }
      const problem = check(types)
      if (problem !== undefined) throw data.error('syntax', problem)
    },
    print: (data) => decodeBitmap(data.octets()).map(typeName).join(' '),
  }
}

function malformed(data: Cursor): Error {
  return data.error('syntax', 'windows are ascending, of 1 to 32 octets, and do not end with zero.')
}

/** At least one type. */
export const typeBitmap = bitmap(false)
export const optionalTypeBitmap = bitmap(true)
/** Bitmap of types that a zone can have: Knot writes the names of others to its file, and then does not load it. */
export const zoneTypeBitmap = bitmap(true, (types) => {
  const found = types.find(isNeverInZones)
  return found === undefined ? undefined : `${typeName(found)} is no type of records in a zone.`
})

/** Types 128 to 255 and OPT are of questions and messages (RFC 6895 section 3.1), SIG is obsolete (RFC 3755), NULL has no text (RFC 1035). */
const isNeverInZones = (type: number): boolean =>
  type === 0 || type === 10 || type === 24 || type === 41 || (type >= 128 && type < 256)
