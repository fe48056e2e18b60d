// The objects that the replay agent serves: sorted by their OID, read from .snmprec text (OID|type|value, a line each) or made by a
// test. A value may be a function, for counters that move.
import { compareOids, encodeVarbind, parseOid, type SnmpValue } from './snmp-ber.ts'

export type SnmpRecord = readonly [oid: string, value: SnmpValue | (() => SnmpValue)]

/** One object, with its encoding if its value is fixed. */
export type ServedObject = {
  readonly oid: readonly number[]
  encode(): Uint8Array
}

/** Sorted, without doubles: the last record of an OID is used. Recordings are often unsorted and have doubles. */
export function serveRecords(records: readonly SnmpRecord[]): readonly ServedObject[] {
  return [...new Map(records)]
    .map(([text, value]): ServedObject => {
      const oid = parseOid(text)
      if (typeof value === 'function') return { oid, encode: () => encodeVarbind(oid, value()) }
      let octets: Uint8Array | undefined
      return { oid, encode: () => (octets ??= encodeVarbind(oid, value)) }
    })
    .sort((one, other) => compareOids(one.oid, other.oid))
}

/** Returns the position of the first object after the OID; of the OID itself with `inclusive`. */
export function positionAfter(
  objects: readonly ServedObject[],
  oid: readonly number[],
  inclusive = false,
): number {
  let [low, high] = [0, objects.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compareOids(objects[middle]!.oid, oid)
    if (order < 0 || (order === 0 && !inclusive)) low = middle + 1
    else high = middle
  }
  return low
}

/** Parses .snmprec text; `4x` and the like are values in hexadecimal. Throws at a type that is unknown. */
export function parseSnmprec(text: string): SnmpRecord[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [oid = '', type = '', ...rest] = line.split('|')
      return [oid, parseValue(type, rest.join('|'))] as const
    })
}

/** The text that `parseSnmprec` reads, sorted; texts in hexadecimal. Values that move are as of now. */
export const formatSnmprec = (records: readonly SnmpRecord[]): string =>
  [...new Map(records)]
    .toSorted(([one], [other]) => compareOids(parseOid(one), parseOid(other)))
    .map(([oid, value]) => `${oid}|${formatValue(typeof value === 'function' ? value() : value)}\n`)
    .join('')

function formatValue({ tag, value }: SnmpValue): string {
  if (value instanceof Uint8Array) return `${tag}x|${Buffer.from(value).toString('hex')}`
  return `${tag}|${Array.isArray(value) ? value.join('.') : String(value ?? '')}`
}

function parseValue(type: string, text: string): SnmpValue {
  const tag = Number.parseInt(type, 10)
  const octets = type.endsWith('x') ? Buffer.from(text, 'hex') : Buffer.from(text, 'utf8')
  switch (tag) {
    case 2:
    case 65:
    case 66:
    case 67:
    case 70:
      return { tag, value: BigInt(text) }
    case 4:
    case 68:
      return { tag, value: octets }
    case 64:
      return { tag, value: type.endsWith('x') ? octets : Uint8Array.from(parseOid(text)) }
    case 6:
      return { tag, value: parseOid(text) }
    case 5:
      return { tag, value: null }
    default:
      throw new Error(`unknown type ${type}`)
  }
}
