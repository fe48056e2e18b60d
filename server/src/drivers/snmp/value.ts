// Converts values of SNMP objects to the expected type: a device may send any type anywhere. Any other value becomes
// null without an error.
import type { Varbind } from 'net-snmp'

type Value = Pick<Varbind, 'type' | 'value'>

/** Tags of SMIv2 (RFC 2578). */
const tag = { integer: 2, octets: 4, oid: 6, address: 64, counter: 65, gauge: 66, ticks: 67, counter64: 70 }

/** noSuchObject, noSuchInstance, endOfMibView: no value (RFC 3416). */
export const isAbsentValue = ({ type }: Value): boolean => type >= 128 && type <= 130

/** A counter of either size. A Counter64 has 1 to 9 octets. */
export function toCounter({ type, value }: Value): bigint | null {
  if ((type === tag.counter || type === tag.gauge) && typeof value === 'number') return BigInt(value)
  if (type !== tag.counter64 || !(value instanceof Uint8Array)) return null
  if (value.length === 0 || value.length > 9 || (value.length === 9 && value[0] !== 0)) return null
  let high = 0
  const split = Math.max(0, value.length - 4)
  for (let at = 0; at < split; at++) high = high * 256 + value[at]!
  let low = 0
  for (let at = split; at < value.length; at++) low = low * 256 + value[at]!
  return high < 2 ** 21 ? BigInt(high * 2 ** 32 + low) : (BigInt(high) << 32n) + BigInt(low)
}

/** An integer, gauge, counter of 32 bits, or time in hundredths of a second. */
export function toNumber({ type, value }: Value): number | null {
  const isNumber = type === tag.integer || type === tag.gauge || type === tag.counter || type === tag.ticks
  return isNumber && typeof value === 'number' ? value : null
}

export function toOctets({ type, value }: Value): Uint8Array | null {
  return type === tag.octets && value instanceof Uint8Array ? value : null
}

/** Without control characters and surrounding white space; empty texts are null. Octets that are no UTF-8 are read as Latin-1. */
export function toText(one: Value): string | null {
  const octets = toOctets(one)
  if (octets === null) return null
  const buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  const utf8 = buffer.toString('utf8')
  const text = utf8.includes('\uFFFD') ? buffer.toString('latin1') : utf8
  // oxlint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  return clean === '' ? null : clean
}

export function toOid({ type, value }: Value): string | null {
  return type === tag.oid && typeof value === 'string' ? value : null
}

/** An IPv4 address. */
export function toAddress({ type, value }: Value): string | null {
  return type === tag.address && typeof value === 'string' ? value : null
}
