// Checks what record sets of one zone mean together: CNAME and DNAME beside other data, data below a delegation, targets that are aliases. Pure: the import
// passes the whole zone, the API the sets that a change touches with their neighbours.
import { isAtOrBelow, parentOf } from '../../net/dns/name.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { canonicalRdata, targetOf } from '../../net/dns/rdata/rdata.ts'
import { ttlMax, uniqueRdata } from '../../net/dns/record.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType as t, typeName } from '../../net/dns/type.ts'

export type ZoneErrorCode =
  | 'out_of_zone'
  | 'cname_and_other'
  | 'several_in_set'
  | 'soa_below_apex'
  | 'below_dname'
  | 'ds_at_apex'
  | 'set_too_large'

export type ZoneWarningCode = 'duplicate' | 'ttl_differs' | 'occluded' | 'ds_without_ns' | 'target_is_alias'

/** A finding about a set. A zone with an error must not be stored. */
export type ZoneFinding = {
  readonly code: ZoneErrorCode | ZoneWarningCode
  readonly isError: boolean
  readonly name: DomainName
  readonly type: number
  /** The set that it conflicts with, where there is one. */
  readonly other?: { readonly name: DomainName; readonly type: number }
  /** Of the zone file, from 1. */
  readonly line?: number
  /** What is wrong, then what to do. */
  readonly message: string
}

type Sets = ReadonlyMap<DomainName, ReadonlyMap<number, PlacedSet>>
/** A set with the line of its first record, if it is from a zone file. */
export type PlacedSet = Rrset & { readonly line?: number }

/** Types that may be beside CNAME (RFC 4034 section 2.5, RFC 2181 section 10.1). */
const besideCname = new Set<number>([t.CNAME, t.RRSIG, t.NSEC])
const singletons = new Set<number>([t.CNAME, t.DNAME, t.SOA])
/** Types that a delegation has at its cut; everything else there is occluded. */
const atCut = new Set<number>([t.NS, t.DS, t.NSEC, t.RRSIG])
const addressTypes = new Set<number>([t.A, t.AAAA])
/** Types whose target must not be an alias (RFC 2181 section 10.3, RFC 2782). */
const withTarget = new Set<number>([t.NS, t.MX, t.SRV])

/** Octets of the largest set: it must fit into one message of a transfer or an answer over TCP. */
const setLengthMax = 64_000

type Placed = {
  readonly name: DomainName
  readonly type: number
  readonly ttl: number
  readonly rdata: Uint8Array
  readonly line?: number
}

/**
 * Collects records into sets. Records that are equal in the canonical form are taken once; the TTL of a set is the smallest of its records
 * (RFC 2181 section 5.2). Both are reported.
 */
export function collectSets(records: Iterable<Placed>): {
  readonly sets: readonly PlacedSet[]
  readonly findings: readonly ZoneFinding[]
} {
  const collected = new Map<
    string,
    { set: PlacedSet & { rdata: Uint8Array[] }; lines: (number | undefined)[]; ttls: number[] }
  >()
  for (const { name, type, ttl, rdata, line } of records) {
    const key = `${type} ${name}`
    let entry = collected.get(key)
    if (!entry) {
      entry = {
        set: { name, type, ttl, rdata: [], ...(line !== undefined && { line }) },
        lines: [],
        ttls: [],
      }
      collected.set(key, entry)
    }
    entry.set.rdata.push(rdata)
    entry.lines.push(line)
    entry.ttls.push(ttl)
  }
  const findings: ZoneFinding[] = []
  const sets = Array.from(collected.values(), (entry) => {
    const { set, lines, ttls } = entry
    const ttl = Math.min(ttlMax, ...ttls)
    const differs = ttls.findIndex((other) => other !== ttls[0])
    if (differs >= 0) {
      findings.push(
        finding(
          set,
          'ttl_differs',
          `The TTLs of a record set differ. ${ttl} is used for all of its records.`,
          lines[differs],
        ),
      )
    }
    return { ...set, ttl, rdata: withoutDuplicates(set, lines, findings) }
  })
  return { sets, findings }
}

function withoutDuplicates(
  set: PlacedSet,
  lines: readonly (number | undefined)[],
  findings: ZoneFinding[],
): Uint8Array[] {
  if (set.rdata.length === 1) return [...set.rdata]
  const canonical = set.rdata.map((rdata) => canonicalRdata(set.type, rdata))
  const unique = new Set(uniqueRdata(canonical))
  return set.rdata.filter((_, at) => {
    if (unique.has(canonical[at]!)) return true
    findings.push(
      finding(set, 'duplicate', 'The record is a duplicate of an earlier one and is ignored.', lines[at]),
    )
    return false
  })
}

/**
 * Returns the findings about the sets of a zone, in their order. A part of a zone is judged rightly if it has, for each set in question, all sets of the
 * same name, the NS and DNAME sets of its ancestors, the sets below it if it is NS or DNAME, and those of its targets.
 */
export function checkZone(zone: ZoneName, sets: Iterable<PlacedSet>): ZoneFinding[] {
  const byName = indexSets(sets)
  const cuts = new Map<DomainName, PlacedSet | undefined>()
  return Array.from(byName.values())
    .flatMap((types) => Array.from(types.values()))
    .flatMap((set) => checkSet(zone, set, byName, cuts))
}

function indexSets(sets: Iterable<PlacedSet>): Sets {
  const byName = new Map<DomainName, Map<number, PlacedSet>>()
  for (const set of sets) {
    let types = byName.get(set.name)
    if (!types) byName.set(set.name, (types = new Map()))
    types.set(set.type, set)
  }
  return byName
}

type Cuts = Map<DomainName, PlacedSet | undefined>

function checkSet(zone: ZoneName, set: PlacedSet, sets: Sets, cuts: Cuts): ZoneFinding[] {
  const { name, type } = set
  if (!isAtOrBelow(name, zone))
    return [finding(set, 'out_of_zone', `The name is not in the zone ${zone} Remove the record.`)]
  return [
    ...checkSize(set),
    ...(type === t.CNAME ? checkCname(zone, set, sets) : []),
    ...(type === t.SOA && name !== zone
      ? [finding(set, 'soa_below_apex', 'SOA is only at the apex of the zone. Remove the record.')]
      : []),
    ...(type === t.DS ? checkDs(zone, set, sets) : []),
    ...checkCut(zone, set, sets, cuts),
    ...(withTarget.has(type) ? checkTargets(set, sets) : []),
  ]
}

function checkSize(set: PlacedSet): ZoneFinding[] {
  const mnemonic = typeName(set.type)
  if (singletons.has(set.type) && set.rdata.length > 1)
    return [finding(set, 'several_in_set', `A name has one ${mnemonic} record. Remove the others.`)]
  const octets = set.rdata.reduce((length, rdata) => length + rdata.length + 12, 0)
  return octets > setLengthMax
    ? [finding(set, 'set_too_large', `The record set has more than ${setLengthMax} octets. Remove records.`)]
    : []
}

function checkCname(zone: ZoneName, set: PlacedSet, sets: Sets): ZoneFinding[] {
  const message = 'A name with CNAME has no other data. Remove one of them.'
  // The apex has SOA and NS, also if the caller did not pass them.
  if (set.name === zone)
    return [finding(set, 'cname_and_other', message, set.line, { name: zone, type: t.SOA })]
  const other = [...sets.get(set.name)!.keys()].find((type) => !besideCname.has(type))
  return other === undefined
    ? []
    : [finding(set, 'cname_and_other', message, set.line, { name: set.name, type: other })]
}

function checkDs(zone: ZoneName, set: PlacedSet, sets: Sets): ZoneFinding[] {
  if (set.name === zone)
    return [finding(set, 'ds_at_apex', 'DS belongs into the parent zone. Remove it here.')]
  return sets.get(set.name)!.has(t.NS)
    ? []
    : [finding(set, 'ds_without_ns', 'DS has no effect without NS at the same name.')]
}

/** Data below DNAME or a delegation is not answered (RFC 6672 section 2.4, RFC 2181 section 6), except addresses of name servers. */
function checkCut(zone: ZoneName, set: PlacedSet, sets: Sets, cuts: Cuts): ZoneFinding[] {
  const { name, type } = set
  const cut = findCut(zone, parentOf(name), sets, cuts)
  if (cut?.type === t.DNAME)
    return [
      finding(
        set,
        'below_dname',
        'No names exist below a DNAME. Remove the record or the DNAME.',
        set.line,
        cut,
      ),
    ]
  if (cut) return addressTypes.has(type) ? [] : [occluded(set, cut)]
  const delegation = name === zone ? undefined : sets.get(name)!.get(t.NS)
  return delegation && !atCut.has(type) && !addressTypes.has(type) ? [occluded(set, delegation)] : []
}

function occluded(set: PlacedSet, cut: PlacedSet): ZoneFinding {
  return finding(
    set,
    'occluded',
    'The record is at or below a delegation and is not answered.',
    set.line,
    cut,
  )
}

/** Returns the DNAME or delegation nearest to the apex at the name or above it. Remembers the answer for each name. */
function findCut(
  zone: ZoneName,
  name: DomainName | undefined,
  sets: Sets,
  cuts: Cuts,
): PlacedSet | undefined {
  if (name === undefined || !isAtOrBelow(name, zone)) return undefined
  if (cuts.has(name)) return cuts.get(name)
  const types = sets.get(name)
  const cut =
    findCut(zone, parentOf(name), sets, cuts) ??
    types?.get(t.DNAME) ??
    (name === zone ? undefined : types?.get(t.NS))
  cuts.set(name, cut)
  return cut
}

function checkTargets(set: PlacedSet, sets: Sets): ZoneFinding[] {
  const alias = set.rdata
    .map((rdata) => sets.get(targetOf(set.type, rdata)!)?.get(t.CNAME))
    .find((cname) => cname !== undefined)
  const message = `The target of ${typeName(set.type)} is a CNAME, which some clients refuse. Use the name that it points at.`
  return alias ? [finding(set, 'target_is_alias', message, set.line, alias)] : []
}

const warnings = new Set<string>([
  'duplicate',
  'ttl_differs',
  'occluded',
  'ds_without_ns',
  'target_is_alias',
] satisfies ZoneWarningCode[])

function finding(
  set: PlacedSet,
  code: ZoneFinding['code'],
  message: string,
  line: number | undefined = set.line,
  other?: { readonly name: DomainName; readonly type: number },
): ZoneFinding {
  const { name, type } = set
  return {
    code,
    isError: !warnings.has(code),
    name,
    type,
    ...(other && { other: { name: other.name, type: other.type } }),
    ...(line !== undefined && { line }),
    message,
  }
}
