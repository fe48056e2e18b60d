// The table of record types: their fields in the order of presentation format, and checks that concern several fields. A new type is one line.
import { recordType as t, typeName } from '../type.ts'
import {
  algorithm,
  certificateType,
  coveredType,
  digestType,
  ipv4,
  ipv6,
  laterName,
  name,
  notificationScheme,
  optionalString,
  period,
  string,
  strings,
  text,
  uint16,
  uint32,
  uint8,
} from './basic.ts'
import { optionalTypeBitmap, typeBitmap, zoneTypeBitmap } from './bitmap.ts'
import { base64, hashedName, hex, salt } from './encoded.ts'
import { Cursor } from './field.ts'
import type { FieldKind } from './field.ts'
import { locationField } from './loc.ts'
import { RdataError } from './rdata-error.ts'
import {
  addressPrefixes,
  eui48,
  eui64,
  hostIdentity,
  ipseckeyGateway,
  ipseckeyKey,
  locator64,
  relay,
  relayType,
  tag,
  x25Address,
} from './special.ts'
import { findSubstitutionError } from './substitution.ts'
import { serviceParameters } from './svcb.ts'
import { time } from './time.ts'

export type RdataField = readonly [name: string, kind: FieldKind]

export type RdataType = {
  readonly fields: readonly RdataField[]
  /** A digest whose length its type determines. */
  readonly digest?: DigestRule
  /**
   * Returns the error of well-formed fields: a rule of their content, for which a name server refuses the whole zone.
   */
  readonly objection?: (rdata: Uint8Array) => RdataError | undefined
}

/** `isAdvice`: a wrong length is no error in zone files, because name servers accept it. */
type DigestRule = {
  readonly typeAt: number
  readonly digestAt: number
  readonly lengths: Readonly<Record<number, number>>
  readonly lengthMin?: number
  readonly isAdvice?: true
}

/** Lengths of SHA-1, SHA-256 and SHA-384. */
const digestLengths = { 1: 20, 2: 32, 4: 48 }

const ds: RdataType = {
  fields: [
    ['key tag', uint16],
    ['algorithm', algorithm],
    ['digest type', digestType],
    ['digest', hex],
  ],
  digest: { typeAt: 3, digestAt: 4, lengths: digestLengths },
}
const dnskey: RdataType = {
  fields: [
    ['flags', uint16],
    ['protocol', uint8],
    ['algorithm', algorithm],
    ['public key', base64],
  ],
}
const tlsa: RdataType = {
  fields: [
    ['usage', uint8],
    ['selector', uint8],
    ['matching type', uint8],
    ['certificate data', hex],
  ],
  digest: { typeAt: 2, digestAt: 3, lengths: { 1: 32, 2: 64 }, isAdvice: true },
}
const svcb = fields(['priority', uint16], ['target', laterName], ['parameters', serviceParameters])
const txt = fields(['text', strings])
const oneName = (field: string): RdataType => fields([field, name])
const preferred = (field: string): RdataType => fields(['preference', uint16], [field, name])

function fields(...fields: RdataField[]): RdataType {
  return { fields }
}

const table: ReadonlyMap<number, RdataType> = new Map<number, RdataType>([
  [t.A, fields(['address', ipv4])],
  [t.NS, oneName('name server')],
  [t.CNAME, oneName('target')],
  [t.ALIAS, oneName('target')],
  [
    t.SOA,
    fields(
      ['primary name server', name],
      ['mailbox', name],
      ['serial', uint32],
      ['refresh', period],
      ['retry', period],
      ['expire', period],
      ['minimum', period],
    ),
  ],
  [t.PTR, oneName('target')],
  [t.HINFO, fields(['CPU', string], ['operating system', string])],
  [t.MINFO, fields(['responsible mailbox', name], ['error mailbox', name])],
  [t.MX, preferred('mail server')],
  [t.TXT, txt],
  [t.RP, fields(['mailbox', name], ['text name', name])],
  [t.AFSDB, fields(['subtype', uint16], ['server', name])],
  [t.X25, fields(['address', x25Address])],
  [t.ISDN, fields(['address', string], ['subaddress', optionalString])],
  [t.RT, preferred('intermediate host')],
  [t['NSAP-PTR'], oneName('owner')],
  [t.PX, fields(['preference', uint16], ['RFC 822 name', name], ['X.400 name', name])],
  [t.GPOS, fields(['longitude', string], ['latitude', string], ['altitude', string])],
  [t.AAAA, fields(['address', ipv6])],
  [t.LOC, fields(['location', locationField])],
  [t.EID, fields(['endpoint', hex])],
  [t.NIMLOC, fields(['locator', hex])],
  [t.SRV, fields(['priority', uint16], ['weight', uint16], ['port', uint16], ['target', name])],
  [
    t.NAPTR,
    {
      fields: [
        ['order', uint16],
        ['preference', uint16],
        ['flags', string],
        ['services', string],
        ['regular expression', string],
        ['replacement', name],
      ],
      objection: objectionToRule,
    },
  ],
  [t.KX, preferred('key exchanger')],
  [
    t.CERT,
    fields(['type', certificateType], ['key tag', uint16], ['algorithm', algorithm], ['certificate', base64]),
  ],
  [t.DNAME, oneName('target')],
  [t.APL, fields(['prefixes', addressPrefixes])],
  [t.DS, ds],
  [
    t.SSHFP,
    {
      fields: [
        ['algorithm', uint8],
        ['fingerprint type', uint8],
        ['fingerprint', hex],
      ],
      digest: { typeAt: 1, digestAt: 2, lengths: { 1: 20, 2: 32 } },
    },
  ],
  [
    t.IPSECKEY,
    fields(
      ['precedence', uint8],
      ['gateway type', uint8],
      ['algorithm', uint8],
      ['gateway', ipseckeyGateway],
      ['public key', ipseckeyKey],
    ),
  ],
  [
    t.RRSIG,
    fields(
      ['type covered', coveredType],
      ['algorithm', algorithm],
      ['labels', uint8],
      ['original TTL', uint32],
      ['expiration', time],
      ['inception', time],
      ['key tag', uint16],
      ["signer's name", name],
      ['signature', base64],
    ),
  ],
  [t.NSEC, fields(['next name', laterName], ['types', typeBitmap])],
  [t.DNSKEY, dnskey],
  [t.DHCID, fields(['identifier', base64])],
  [
    t.NSEC3,
    fields(
      ['hash algorithm', uint8],
      ['flags', uint8],
      ['iterations', uint16],
      ['salt', salt],
      ['next hashed name', hashedName],
      ['types', optionalTypeBitmap],
    ),
  ],
  [t.NSEC3PARAM, fields(['hash algorithm', uint8], ['flags', uint8], ['iterations', uint16], ['salt', salt])],
  [t.TLSA, tlsa],
  [t.SMIMEA, tlsa],
  [t.HIP, fields(['host identity', hostIdentity])],
  [t.NINFO, txt],
  [t.TALINK, fields(['previous name', laterName], ['next name', laterName])],
  [t.CDS, ds],
  [t.CDNSKEY, dnskey],
  [t.OPENPGPKEY, fields(['public key', base64])],
  [t.CSYNC, fields(['serial', uint32], ['flags', uint16], ['types', zoneTypeBitmap])],
  [
    t.ZONEMD,
    {
      fields: [
        ['serial', uint32],
        ['scheme', uint8],
        ['hash algorithm', uint8],
        ['digest', hex],
      ],
      digest: { typeAt: 5, digestAt: 6, lengths: { 1: 48, 2: 64 }, lengthMin: 12 },
    },
  ],
  [
    t.DSYNC,
    fields(['type', coveredType], ['scheme', notificationScheme], ['port', uint16], ['target', laterName]),
  ],
  [t.SVCB, svcb],
  [t.HTTPS, svcb],
  [t.SPF, txt],
  [t.NID, fields(['preference', uint16], ['node identifier', locator64])],
  [t.L32, fields(['preference', uint16], ['locator', ipv4])],
  [t.L64, fields(['preference', uint16], ['locator', locator64])],
  [t.LP, fields(['preference', uint16], ['pointer', laterName])],
  [t.EUI48, fields(['address', eui48])],
  [t.EUI64, fields(['address', eui64])],
  [t.URI, fields(['priority', uint16], ['weight', uint16], ['target', text])],
  [t.CAA, fields(['flags', uint8], ['tag', tag], ['value', text])],
  [t.AVC, txt],
  [t.AMTRELAY, fields(['precedence', uint8], ['discovery optional', relayType], ['relay', relay])],
  [t.RESINFO, txt],
  [t.WALLET, txt],
  [t.TA, ds],
  [t.DLV, ds],
])

/** The regular expression of NAPTR (RFC 3403 section 4.1), after two numbers and two strings. */
function objectionToRule(rdata: Uint8Array): RdataError | undefined {
  const data = new Cursor(rdata)
  data.take(4)
  string.skip(data)
  string.skip(data)
  const message = findSubstitutionError(data.octets(data.octet()))
  return message === undefined ? undefined : new RdataError('meaning', 'regular expression', message)
}

type OpaqueForm = { readonly lengthMin: number; readonly isWell?: (rdata: Uint8Array) => boolean }

/**
 * Types that have no text form here, but a known form on the wire: rarely used, and BIND refuses a whole zone with any other octets in them at transfer.
 */
const opaqueForms: ReadonlyMap<number, OpaqueForm> = new Map<number, OpaqueForm>([
  // RFC 1706.
  [t.NSAP, { lengthMin: 1 }],
  // The format 1 has digits (ATM Forum af-saa-0069).
  [
    t.ATMA,
    {
      lengthMin: 2,
      isWell: ([format, ...octets]: Uint8Array) =>
        format !== 1 || octets.every((octet) => octet >= 48 && octet <= 57),
    },
  ],
  [t.SINK, { lengthMin: 3 }],
  // Flags, which are zero, then protocol, algorithm and key.
  [t.RKEY, { lengthMin: 5, isWell: ([high, low]: Uint8Array) => high === 0 && low === 0 }],
  [t.HHIT, { lengthMin: 1 }],
  [t.BRID, { lengthMin: 1 }],
  // Enterprise, type and location, then a string with the media type.
  [t.DOA, { lengthMin: 10, isWell: (rdata) => rdata.length >= 10 + rdata[9]! }],
])

/** Returns the error in the octets of a type that has no text form here. */
export function objectionToOctets(type: number, rdata: Uint8Array): RdataError | undefined {
  const form = opaqueForms.get(type)
  if (!form) return undefined
  if (rdata.length < form.lengthMin)
    return new RdataError(
      'length',
      'octets',
      `${typeName(type)} has at least ${form.lengthMin} octets. Check that the data is complete.`,
    )
  if (form.isWell && !form.isWell(rdata))
    return new RdataError('meaning', 'octets', `not the form of ${typeName(type)}. Check the data.`)
  return undefined
}

/** Returns the fields of a type; undefined if it is unknown and handled as opaque octets (RFC 3597). */
export function findRdataType(type: number): RdataType | undefined {
  return table.get(type)
}
