// RTR protocol data units, between octets and values: RFC 8210 section 5 (version 1) and RFC 6810 section 5 (version 0).
// Pure. It detects malformed PDUs and returns their error code; it does not know which PDU is valid in which state.
import { maskBits, sameBits, widthOf } from '../../net/bits.ts'
import type { Family } from '../../net/bits.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'

export type RtrVersion = 0 | 1

/** RFC 8210 section 12. */
export const errorCodes = {
  corruptData: 0,
  internalError: 1,
  noDataAvailable: 2,
  invalidRequest: 3,
  unsupportedVersion: 4,
  unsupportedPdu: 5,
  withdrawalOfUnknown: 6,
  duplicateAnnouncement: 7,
  unexpectedVersion: 8,
} as const

/** Seconds (RFC 8210 section 6). Version 0 has no intervals. */
export type RtrIntervals = { readonly refresh: number; readonly retry: number; readonly expire: number }

export type RtrPdu =
  | { readonly type: 'serial_notify' | 'serial_query'; readonly session: number; readonly serial: number }
  | { readonly type: 'reset_query' | 'cache_reset' }
  | { readonly type: 'cache_response'; readonly session: number }
  | { readonly type: 'prefix'; readonly announced: boolean; readonly vrp: VrpBits }
  | { readonly type: 'router_key'; readonly announced: boolean; readonly asn: number }
  | {
      readonly type: 'end_of_data'
      readonly session: number
      readonly serial: number
      readonly intervals?: RtrIntervals
    }
  | { readonly type: 'error_report'; readonly code: number; readonly text: string }

/** A protocol violation of the cache, with the error code to report and the octets of the erroneous PDU received so far. */
export class RtrError extends Error {
  readonly code: number
  readonly octets: Uint8Array
  /** False if no Error Report may be sent: an Error Report is never answered with another (RFC 8210 section 5.11). */
  readonly answerable: boolean

  constructor(code: number, message: string, octets: Uint8Array = new Uint8Array(0), answerable = true) {
    super(message)
    this.name = 'RtrError'
    this.code = code
    this.octets = octets
    this.answerable = answerable
  }
}

/** `octets`: the PDU as received, a view that is valid until the next PDU is decoded. */
export type DecodedPdu = { readonly pdu: RtrPdu; readonly version: number; readonly octets: Uint8Array }

/** Length limit of a PDU. Only Error Reports and Router Keys vary in length; real ones have some hundred octets. */
export const pduLengthMax = 8_192
const headerLength = 8
const serialNotifyType = 0
const errorReportType = 10

type Decode = (octets: Uint8Array, view: DataView, version: number) => RtrPdu

/** The lengths of a PDU type. 0: variable, at least `lengthMin`. */
type Shape = {
  readonly length: readonly [v0: number, v1: number]
  readonly lengthMin?: number
  readonly decode: Decode
}

/** By type number. A length of -1: that version does not have the type. */
const shapes: ReadonlyMap<number, Shape> = new Map<number, Shape>([
  [serialNotifyType, { length: [12, 12], decode: (_, view) => serial('serial_notify', view) }],
  [1, { length: [12, 12], decode: (_, view) => serial('serial_query', view) }],
  [2, { length: [8, 8], decode: () => ({ type: 'reset_query' }) }],
  [3, { length: [8, 8], decode: (_, view) => ({ type: 'cache_response', session: view.getUint16(2) }) }],
  [4, { length: [20, 20], decode: (octets, view) => prefix(octets, view, 4) }],
  [6, { length: [32, 32], decode: (octets, view) => prefix(octets, view, 6) }],
  [7, { length: [12, 24], decode: endOfData }],
  [8, { length: [8, 8], decode: () => ({ type: 'cache_reset' }) }],
  [9, { length: [-1, 0], lengthMin: 32, decode: routerKey }],
  [errorReportType, { length: [0, 0], lengthMin: 16, decode: errorReport }],
])

/**
 * Decodes the PDU that starts at `start`; undefined while octets are missing. Throws RtrError on a malformed PDU as soon as its
 * header is complete, so that an excessive length is never waited for. A Serial Notify may have any version (RFC 8210 section 7).
 */
export function decodePdu(octets: Uint8Array, start: number): DecodedPdu | undefined {
  if (octets.length - start < headerLength) return undefined
  const header = new DataView(octets.buffer, octets.byteOffset + start, headerLength)
  const [version, type, length] = [header.getUint8(0), header.getUint8(1), header.getUint32(4)]
  const fault = (code: number, message: string): RtrError =>
    new RtrError(code, message, octets.slice(start, start + Math.min(length, 64)), type !== errorReportType)
  if (version > 1 && type !== serialNotifyType)
    throw fault(errorCodes.unsupportedVersion, `protocol version ${version}`)
  const shape = shapes.get(type)
  const wanted = shape?.length[version === 0 ? 0 : 1] ?? -1
  if (!shape || wanted < 0) throw fault(errorCodes.unsupportedPdu, `PDU type ${type} in version ${version}`)
  if (wanted === 0 ? length < shape.lengthMin! || length > pduLengthMax : length !== wanted)
    throw fault(errorCodes.corruptData, `a PDU of type ${type} with length ${length}`)
  if (octets.length - start < length) return undefined
  const whole = octets.subarray(start, start + length)
  const view = new DataView(whole.buffer, whole.byteOffset, length)
  return { pdu: shape.decode(whole, view, version), version, octets: whole }
}

function serial(type: 'serial_notify' | 'serial_query', view: DataView): RtrPdu {
  return { type, session: view.getUint16(2), serial: view.getUint32(8) }
}

/** RFC 8210 sections 5.6 and 5.7. */
function prefix(octets: Uint8Array, view: DataView, family: Family): RtrPdu {
  const [flags, length, maxLength] = [view.getUint8(8), view.getUint8(9), view.getUint8(10)]
  const word = (i: number): number => (family === 6 || i === 0 ? view.getInt32(12 + 4 * i) : 0)
  const vrp = {
    family,
    length,
    w0: word(0),
    w1: word(1),
    w2: word(2),
    w3: word(3),
    maxLength,
    asn: view.getUint32(family === 4 ? 16 : 28),
  }
  if (length > maxLength || maxLength > widthOf(family))
    throw corrupt(`prefix length ${length}, max length ${maxLength}`, octets)
  if (!sameBits(vrp, maskBits(vrp), 128)) throw corrupt('a prefix with host bits', octets)
  return { type: 'prefix', announced: (flags & 1) === 1, vrp }
}

/** RFC 8210 section 5.10: flags in the place of a session, then the key's identifier, the ASN and the key. */
function routerKey(_: Uint8Array, view: DataView): RtrPdu {
  return { type: 'router_key', announced: (view.getUint8(2) & 1) === 1, asn: view.getUint32(28) }
}

function endOfData(_: Uint8Array, view: DataView, version: number): RtrPdu {
  const [session, serial] = [view.getUint16(2), view.getUint32(8)]
  if (version === 0) return { type: 'end_of_data', session, serial }
  const intervals = { refresh: view.getUint32(12), retry: view.getUint32(16), expire: view.getUint32(20) }
  return { type: 'end_of_data', session, serial, intervals }
}

/** RFC 8210 section 5.11: a copy of the PDU at fault and a text, both with their lengths and both possibly empty. */
function errorReport(octets: Uint8Array, view: DataView): RtrPdu {
  const malformed = (): RtrError =>
    new RtrError(errorCodes.corruptData, 'an Error Report whose lengths do not fit', octets, false)
  const copyLength = view.getUint32(8)
  const textAt = 12 + copyLength + 4
  if (textAt > octets.length) throw malformed()
  const textLength = view.getUint32(textAt - 4)
  if (textAt + textLength !== octets.length) throw malformed()
  return { type: 'error_report', code: view.getUint16(2), text: readable(octets.subarray(textAt)) }
}

const textLengthMax = 200

/** Returns text of the cache for the log, without control characters and truncated. */
function readable(octets: Uint8Array): string {
  const text = new TextDecoder().decode(octets.subarray(0, 4 * textLengthMax))
  return text.replaceAll(/\p{C}/gu, ' ').trim().slice(0, textLengthMax)
}

function corrupt(message: string, octets: Uint8Array): RtrError {
  return new RtrError(errorCodes.corruptData, message, octets.slice())
}

export function encodeResetQuery(version: RtrVersion): Uint8Array {
  return header(version, 2, 0, 8)
}

export function encodeSerialQuery(version: RtrVersion, session: number, serial: number): Uint8Array {
  const octets = header(version, 1, session, 12)
  new DataView(octets.buffer).setUint32(8, serial)
  return octets
}

/** Encodes an Error Report for `error`, with its PDU and its text truncated. */
export function encodeErrorReport(version: RtrVersion, error: RtrError): Uint8Array {
  const copy = error.octets.subarray(0, 1_024)
  const text = new TextEncoder().encode(error.message.slice(0, textLengthMax))
  const octets = header(version, errorReportType, error.code, 16 + copy.length + text.length)
  const view = new DataView(octets.buffer)
  view.setUint32(8, copy.length)
  octets.set(copy, 12)
  view.setUint32(12 + copy.length, text.length)
  octets.set(text, 16 + copy.length)
  return octets
}

function header(version: RtrVersion, type: number, third: number, length: number): Uint8Array<ArrayBuffer> {
  const octets = new Uint8Array(length)
  const view = new DataView(octets.buffer)
  view.setUint8(0, version)
  view.setUint8(1, type)
  view.setUint16(2, third)
  view.setUint32(4, length)
  return octets
}
