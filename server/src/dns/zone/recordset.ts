// Record sets of a request: name, type, TTL and records, checked one by one. Pure. zone/change-content.ts checks the
// sets of a zone together.
import type { NewRecordSet } from '@pharos/contract/dns/recordset'
import type { ZoneSettings } from '@pharos/contract/dns/settings'
import type { ProblemError } from '@pharos/contract/problem'
import { isAtOrBelow, relativeName, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { hasTextForm } from '../../net/dns/rdata/rdata.ts'
import { findType, isMetaType, isZoneType, recordType, typeName } from '../../net/dns/type.ts'
import { didYouMean } from '../../text/did-you-mean.ts'
import { errorAt, fail, Failure, failWith } from '../../runtime/error.ts'
import type { PlacedDesired } from './change-content.ts'
import { parseNameAt, shownZoneName } from './zone-name.ts'
import { isRecordError, parseRecord } from './record-text.ts'

type Loc = ProblemError['loc']

/** The zone in which a request is read. */
export type RecordSetContext = { readonly zone: ZoneName; readonly settings: ZoneSettings }

/** A set of a request; without records to delete the set. */
export type RequestedSet = Omit<NewRecordSet, 'ptr'> & { readonly ptr?: boolean | undefined }

/** A desired set, and whether its PTR records are written too: on request, or by the settings of the zone. */
export type ReadSet = PlacedDesired & { readonly withPtr: 'asked' | 'automatic' | false }

/** Records of DNSSEC that Pharos writes when it signs. */
const signed = new Set<number>([
  recordType.RRSIG,
  recordType.NSEC,
  recordType.NSEC3,
  recordType.NSEC3PARAM,
  recordType.ZONEMD,
])
/** With several signers, the other signers' keys are part of the zone (RFC 8901). */
const ofSigners = new Set<number>([recordType.DNSKEY, recordType.CDS, recordType.CDNSKEY])

/**
 * Parses the name of a record set: relative to the zone, `@`, or absolute with the trailing dot. Throws `invalid`, also for a name that
 * repeats the zone without a trailing dot.
 */
export function parseSetName(loc: Loc, text: string, zone: ZoneName): DomainName {
  const name = parseNameAt(loc, text, zone)
  if (!isAtOrBelow(name, zone))
    throw failWith('invalid', [errorAt(loc, 'outOfZone', { zone: shownZoneName(zone) })])
  const shown = shownZoneName(zone)
  if (!text.endsWith('.') && (text.toLowerCase() === shown || text.toLowerCase().endsWith(`.${shown}`)))
    throw failWith('invalid', [errorAt(loc, 'trailingDot', { suggestion: `${text}.` })])
  return name
}

/** Parses a type that a zone may have. Throws `invalid`, and `managed` for a type that Pharos writes. */
export function parseSetType(
  loc: Loc,
  text: string,
  name: DomainName,
  { zone, settings }: RecordSetContext,
): number {
  const type = findType(text)
  if (type === undefined) throw failWith('invalid', [typeError(loc, text)])
  if (isMetaType(type) || !isZoneType(type))
    throw failWith('invalid', [
      errorAt(loc, 'unsupportedType', { reason: 'it is obsolete, or exists only in messages' }),
    ])
  const refusal = managedType(type, name, zone, settings)
  if (refusal) throw refusal
  return type
}

function typeError(loc: Loc, text: string): ProblemError {
  const hint = didYouMean(text.toUpperCase(), Object.keys(recordType))
  const error = errorAt(loc, 'recordType')
  return hint ? { ...error, msg: `${error.msg}${hint}` } : error
}

/** Returns why the team may not write the type at the name; undefined if it may. */
export function managedType(
  type: number,
  name: DomainName,
  zone: ZoneName,
  settings: Pick<ZoneSettings, 'apex_ns_editable' | 'multi_signer'>,
): Failure | undefined {
  if (type === recordType.SOA) return fail('managed', 'soa')
  if (type === recordType.NS && name === zone && !settings.apex_ns_editable) return fail('managed', 'apexNs')
  if (signed.has(type) || (ofSigners.has(type) && !settings.multi_signer))
    return fail('managed', 'dnssec', { type: typeName(type) })
  return undefined
}

/** A set of a request with its place; name and type are elsewhere if they are in the path. */
export type PlacedItem = { readonly item: RequestedSet; readonly loc: Loc; readonly idLoc?: Loc }

/** Reads the sets of a request. Throws `invalid` with all errors of all sets, or `managed`. */
export function readRecordSets(items: readonly PlacedItem[], context: RecordSetContext): ReadSet[] {
  const errors: ProblemError[] = []
  const seen = new Set<string>()
  const sets = items.flatMap((placed) => {
    try {
      const { loc } = placed
      const set = readRecordSet(placed, context)
      const id = `${set.type} ${set.name}`
      if (seen.has(id)) {
        errors.push(errorAt([...loc, 'name'], 'repeatedRecordSet', { id: idOf(set, context.zone) }))
        return []
      }
      seen.add(id)
      return [set]
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'invalid') throw error
      errors.push(...error.errors!)
      return []
    }
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return sets
}

function readRecordSet({ item, loc, idLoc = loc }: PlacedItem, context: RecordSetContext): ReadSet {
  const { zone, settings } = context
  const name = parseSetName([...idLoc, 'name'], item.name, zone)
  const type = parseSetType([...idLoc, 'type'], item.type, name, context)
  const errors: ProblemError[] = []
  const withPtr = readPtr(item, loc, type, name, settings, errors)
  const rdata = readRecords(type, item.records, [...loc, 'records'], zone, errors)
  if (errors.length > 0) throw failWith('invalid', errors)
  return {
    name,
    type,
    ttl: item.ttl ?? null,
    rdata,
    source: 'user',
    comment: item.comment,
    loc,
    idLoc,
    withPtr,
  }
}

const isAddressType = (type: number): boolean => type === recordType.A || type === recordType.AAAA

function readPtr(
  { ptr }: RequestedSet,
  loc: Loc,
  type: number,
  name: DomainName,
  settings: ZoneSettings,
  errors: ProblemError[],
): ReadSet['withPtr'] {
  if (ptr && !isAddressType(type)) errors.push(errorAt([...loc, 'ptr'], 'ptrType'))
  if (ptr && name.startsWith('*.')) errors.push(errorAt([...loc, 'ptr'], 'ptrWildcard'))
  return (
    isAddressType(type) &&
    !name.startsWith('*.') &&
    (ptr ? 'asked' : ptr === undefined && automaticPtr(settings))
  )
}

/** The default for a set of addresses without the field in the request. */
export const automaticPtr = ({ auto_ptr: isOn }: Pick<ZoneSettings, 'auto_ptr'>): ReadSet['withPtr'] =>
  isOn && 'automatic'

/** Parses records; every error is added with its place. */
export function readRecords(
  type: number,
  records: readonly string[],
  loc: Loc,
  zone: ZoneName,
  errors: ProblemError[],
): Uint8Array[] {
  return records.flatMap((text, at) => {
    const place = [...loc, at]
    if (!hasTextForm(type) && !text.trim().startsWith('\\#')) {
      errors.push(errorAt(place, 'genericForm', { type: typeName(type) }))
      return []
    }
    const parsed = parseRecord(type, text, zone)
    if (!isRecordError(parsed)) return [parsed]
    errors.push({ loc: place, ...parsed })
    return []
  })
}

/** `www/A`; the name as a path segment is encoded by the client. */
export const idOf = (
  { name, type }: { readonly name: DomainName; readonly type: number },
  zone: ZoneName,
): string => `${relativeName(name, zone)}/${typeName(type)}`
