// Changes of record sets as clients of PowerDNS send them: REPLACE and DELETE of whole sets, EXTEND and PRUNE of single records. Pure.
import type { ProblemError } from '@pharos/contract/problem'
import { canonicalRdata, parseRdata, RdataError } from '../../net/dns/rdata/rdata.ts'
import { sameRdata, uniqueRdata } from '../../net/dns/record.ts'
import { findType, recordType } from '../../net/dns/type.ts'
import { compareOctets, type ZoneName } from '../../net/dns/name.ts'
import { errorAt, Failure, failWith } from '../../runtime/error.ts'
import {
  parseSetName,
  parseSetType,
  readRecordSets,
  type ReadSet,
  type RecordSetContext,
} from '../zone/recordset.ts'
import { dsOf } from '../sign/dnskey.ts'
import { setId, type StoredSet } from '../zone/zone-change.ts'
import { rdataWithSerial } from '../zone/zone.ts'

export type PowerDnsRrset = {
  readonly name: string
  readonly type: string
  readonly ttl?: number | undefined
  readonly records?:
    | readonly { readonly content: string; readonly disabled?: boolean | undefined }[]
    | undefined
  readonly comments?: readonly { readonly content: string }[] | undefined
}
export type PowerDnsRrsetChange = PowerDnsRrset & {
  readonly changetype: 'REPLACE' | 'DELETE' | 'EXTEND' | 'PRUNE'
}

/** A change with its record data. */
export type ReadChange = { readonly set: ReadSet; readonly changetype: PowerDnsRrsetChange['changetype'] }

type Loc = ProblemError['loc']

/** A change with its place in the request. */
export type PlacedChange = { readonly rrset: PowerDnsRrsetChange; readonly loc: Loc }

/** The sets at the name of a zone that Pharos writes: SOA and NS as stored, and the rdata of its published keys. */
export type ManagedApex = { readonly stored: readonly StoredSet[]; readonly keys: readonly Uint8Array[] }

/**
 * Returns whether the change replaces a managed set at the apex by its current content: clients send whole zones.
 * Ignores serials, and the TTL of key records.
 */
export function isUnchangedApex(
  { changetype, name, type: typeText, ttl, records = [] }: PowerDnsRrsetChange,
  { stored, keys }: ManagedApex,
  { zone }: RecordSetContext,
): boolean {
  const type = findType(typeText)
  if (changetype !== 'REPLACE' || type === undefined || name.toLowerCase() !== zone) return false
  const set = stored.find((one) => one.source === 'system' && one.type === type)
  try {
    const given = records.map(({ content }) => parseRdata(type, content))
    if (!set) return isOfKeys(type, given, keys, zone)
    const comparable = (rdata: Uint8Array): Uint8Array =>
      canonicalRdata(type, type === recordType.SOA ? rdataWithSerial(rdata, 0) : rdata)
    return (ttl ?? set.ttl) === set.ttl && sameRdata(given.map(comparable), set.rdata.map(comparable))
  } catch (error) {
    // It is refused as a change.
    if (error instanceof RdataError) return false
    throw error
  }
}

/**
 * Returns whether the records are published by Pharos for the keys: every DNSKEY, or CDS and CDNSKEY records of some
 * keys.
 */
function isOfKeys(
  type: number,
  given: readonly Uint8Array[],
  keys: readonly Uint8Array[],
  zone: ZoneName,
): boolean {
  if (given.length === 0 || keys.length === 0) return false
  if (type === recordType.DNSKEY) return sameRdata(given, keys)
  const derived =
    type === recordType.CDNSKEY
      ? keys
      : type === recordType.CDS
        ? keys.flatMap((key) => ([2, 4] as const).map((digest) => dsOf(zone, key, digest)))
        : []
  return without(given, derived).length === 0
}

/** Reads the changes. Throws `invalid` with all errors of all changes, or `managed`. */
export function readChanges(placed: readonly PlacedChange[], context: RecordSetContext): ReadChange[] {
  const errors: ProblemError[] = []
  const changes = placed.flatMap(({ rrset, loc }) => {
    try {
      return [readChange(rrset, loc, context)]
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'invalid') throw error
      errors.push(...error.errors!)
      return []
    }
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return changes
}

function readChange(rrset: PowerDnsRrsetChange, loc: Loc, context: RecordSetContext): ReadChange {
  const { changetype } = rrset
  if (changetype !== 'DELETE') {
    const [set] = readRecordSets([{ item: itemOf(rrset, loc, context.settings.minimum_ttl), loc }], context)
    return { changetype, set: set! }
  }
  requireAbsolute(rrset.name, loc)
  const name = parseSetName([...loc, 'name'], rrset.name, context.zone)
  const type = parseSetType([...loc, 'type'], rrset.type, name, context)
  return { changetype, set: { name, type, ttl: null, rdata: [], source: 'user', loc, withPtr: false } }
}

/** Returns the set as the operations of Pharos take it. Throws `invalid` for a disabled record, which would be lost. */
export function itemOf(
  { name, type, ttl, records = [], comments }: PowerDnsRrset,
  loc: Loc,
  lowestTtl: number,
) {
  requireAbsolute(name, loc)
  const errors = records.flatMap(({ disabled = false }, at) =>
    disabled ? [errorAt([...loc, 'records', at, 'disabled'], 'disabledRecord')] : [],
  )
  if (errors.length > 0) throw failWith('invalid', errors)
  return {
    name,
    type,
    // Clients have their own TTLs, such as 120 s in ACME clients, and PowerDNS has no lowest TTL.
    ...(ttl === undefined ? {} : { ttl: Math.max(ttl, lowestTtl) }),
    records: records.map(({ content }) => content),
    ...(comments ? { comment: comments.map(({ content }) => content).join('; ') } : {}),
  }
}

function requireAbsolute(name: string, loc: Loc): void {
  if (!name.endsWith('.'))
    throw failWith('invalid', [errorAt([...loc, 'name'], 'trailingDot', { suggestion: `${name}.` })])
}

/** Returns the sets after the changes are applied in order to the stored sets. */
export function applyChanges(stored: readonly StoredSet[], changes: readonly ReadChange[]): ReadSet[] {
  const before = new Map(stored.map((set) => [setId(set), set]))
  const desired = new Map<string, ReadSet>()
  for (const { set, changetype } of changes) {
    const id = setId(set)
    const current = desired.get(id) ?? before.get(id)
    const given = set.rdata.map((one) => canonicalRdata(set.type, one))
    if (changetype === 'EXTEND')
      desired.set(id, { ...set, rdata: uniqueRdata([...(current?.rdata ?? []), ...given]) })
    else if (changetype === 'PRUNE')
      desired.set(id, { ...set, ttl: current?.ttl ?? null, rdata: without(current?.rdata ?? [], given) })
    else desired.set(id, set)
  }
  return [...desired.values()]
}

const without = (rdata: readonly Uint8Array[], removed: readonly Uint8Array[]): Uint8Array[] =>
  rdata.filter((one) => !removed.some((other) => compareOctets(one, other) === 0))
