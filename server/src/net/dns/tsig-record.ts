// The data of a TSIG record (RFC 8945 section 4.2) as a value. Signatures are in `tsig.ts`.
import { MessageError, read16 } from './message.ts'
import { write16, write32 } from './message-writer.ts'
import { nameFromWire, nameToWire, skipName } from './name.ts'
import type { DomainName } from './name.ts'

/** The data of a TSIG record. */
export type Tsig = {
  readonly algorithm: DomainName
  /** Unix seconds, 48 bits. */
  readonly time: number
  readonly fudge: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
}

/** Decodes the data of a TSIG record. Throws MessageError. */
export function decodeTsig(rdata: Uint8Array): Tsig {
  const nameEnd = skipName(rdata, 0, rdata.length)
  const macAt = nameEnd + 10
  const macEnd = nameEnd < 0 || macAt > rdata.length ? -1 : macAt + read16(rdata, nameEnd + 8)
  const otherAt = macEnd + 6
  if (macEnd < 0 || otherAt > rdata.length || otherAt + read16(rdata, macEnd + 4) !== rdata.length)
    throw new MessageError('tsig', 'the data of TSIG is malformed')
  return {
    algorithm: nameFromWire(rdata),
    time: readTime(rdata, nameEnd),
    fudge: read16(rdata, nameEnd + 6),
    mac: rdata.slice(macAt, macEnd),
    originalId: read16(rdata, macEnd),
    error: read16(rdata, macEnd + 2),
    other: rdata.slice(otherAt),
  }
}

/** Encodes the data of a TSIG record. */
export function encodeTsig(tsig: Tsig): Uint8Array {
  const { time, fudge, mac, originalId, error, other } = tsig
  return Buffer.concat([
    nameToWire(tsig.algorithm),
    timeOctets(time),
    uint16s(fudge, mac.length),
    mac,
    uint16s(originalId, error, other.length),
    other,
  ])
}

/** Returns numbers as 16 bits each. */
export function uint16s(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value >> 8, value & 255]))
}

/** Returns Unix seconds as 48 bits. */
export function timeOctets(time: number): Uint8Array {
  const octets = new Uint8Array(6)
  const seconds = Math.floor(time)
  write16(octets, 0, Math.floor(seconds / 2 ** 32))
  write32(octets, 2, seconds % 2 ** 32)
  return octets
}

function readTime(wire: Uint8Array, at: number): number {
  return read16(wire, at) * 2 ** 32 + read16(wire, at + 2) * 65_536 + read16(wire, at + 4)
}
