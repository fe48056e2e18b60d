// Checks the record sets of one zone together: CNAME and DNAME beside other data, data below a delegation, targets that are aliases. Pure: the import
// passes the whole zone, the API the sets that a change touches with their neighbours.
import { isAtOrBelow, isWildcard, nameToWire, parentOf } from '../../net/dns/name.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { canonicalRdata, RdataError, targetOf, validateRdata } from '../../net/dns/rdata/rdata.ts'
import { uniqueRdata } from '../../net/dns/record.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { isZoneType, recordType as t, typeName } from '../../net/dns/type.ts'

export type ZoneErrorCode =
  | 'out_of_zone'
  | 'cname_and_other'
  | 'cname_loop'
  | 'alias_and_address'
  | 'several_in_set'
  | 'soa_below_apex'
  | 'below_dname'
  | 'ds_at_apex'
  | 'set_too_large'
  | 'data_refused'

export type ZoneWarningCode = 'duplicate' | 'ttl_differs' | 'occluded' | 'ds_without_ns' | 'target_is_alias'

/** A finding about a set. A zone with an error must not be stored. */
export type ZoneFinding = {
  readonly code: ZoneErrorCode | ZoneWarningCode
  readonly isError: boolean
  readonly name: DomainName
  readonly type: number
  /** The set that it conflicts with, where there is one. */
  readonly other?: { readonly name: DomainName; readonly type: number }
  /** Line of the zone file, from 1. */
  readonly line?: number
  /** The error, then the fix. */
  readonly message: string
}

/** A set with the line of its first record, if it is from a zone file. */
export type PlacedSet = Rrset & { readonly line?: number }

/** Types that may be beside CNAME (RFC 4034 section 2.5, RFC 2181 section 10.1). */
const besideCname = new Set<number>([t.CNAME, t.RRSIG, t.NSEC])
const singletons = new Set<number>([t.CNAME, t.ALIAS, t.DNAME, t.SOA])
/** Types that a delegation has at its cut; everything else there is occluded. */
const atCut = new Set<number>([t.NS, t.DS, t.NSEC, t.RRSIG])
const addressTypes = new Set<number>([t.A, t.AAAA])
/** Types whose target must not be an alias (RFC 2181 section 10.3, RFC 2782). */
const withTarget = new Set<number>([t.NS, t.MX, t.SRV])

/** Octets of the largest set: it must fit into one message of a transfer or an answer over TCP. */
const setLengthMax = 64_000
/**
 * Octets of the largest set in canonical form, with the whole owner name in each record (RFC 4034 section 3.1.8.1): validators have a buffer of 65,535
 * for it and the beginning of its RRSIG, which has a name of at most 255 octets.
 */
const canonicalLengthMax = 65_535 - 18 - 255

type Placed = {
  readonly name: DomainName
  readonly type: number
  readonly ttl: number
  readonly rdata: Uint8Array
  readonly line?: number
}

/**
 * Collects records into sets, in the order of their first record. Records that are equal in the canonical form are taken once; the TTL of a set is
 * the smallest of its records (RFC 2181 section 5.2). Both are reported.
 */
export function collectSets(records: Iterable<Placed>): {
  readonly sets: readonly PlacedSet[]
  readonly findings: readonly ZoneFinding[]
} {
  const sets: OpenSet[] = []
  const ids = new Map<DomainName, number>()
  const byNameAndType = new Map<number, OpenSet>()
  const linesOfLarger = new Map<OpenSet, (number | undefined)[]>()
  const differing = new Map<OpenSet, number | undefined>()
  for (const { name, type, ttl, rdata, line } of records) {
    let id = ids.get(name)
    if (id === undefined) ids.set(name, (id = ids.size))
    const key = id * 65_536 + type
    const set = byNameAndType.get(key)
    if (!set) {
      const added = { name, type, ttl, rdata: [rdata], ...(line !== undefined && { line }) }
      byNameAndType.set(key, added)
      sets.push(added)
      continue
    }
    set.rdata.push(rdata)
    const lines = linesOfLarger.get(set)
    if (lines) lines.push(line)
    else linesOfLarger.set(set, [set.line, line])
    if (ttl === set.ttl) continue
    if (!differing.has(set)) differing.set(set, line)
    set.ttl = Math.min(set.ttl, ttl)
  }
  const findings: ZoneFinding[] = []
  for (const [set, line] of differing) {
    const message = `The TTLs of a record set differ. ${set.ttl} is used for all of its records.`
    findings.push(finding(set, 'ttl_differs', message, line))
  }
  for (const [set, lines] of linesOfLarger) set.rdata = withoutDuplicates(set, lines, findings)
  return { sets, findings }
}

type OpenSet = { name: DomainName; type: number; ttl: number; rdata: Uint8Array[]; line?: number }

function withoutDuplicates(
  set: PlacedSet,
  lines: readonly (number | undefined)[],
  findings: ZoneFinding[],
): Uint8Array[] {
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
 * Returns the findings about the sets of a zone. A part of a zone gives the right findings if it has, for each set in
 * question, all sets of the same name, the NS and DNAME sets of its ancestors, the sets below it if it is NS or DNAME,
 * and the sets of its targets.
 */
export function checkZone(zone: ZoneName, sets: Iterable<PlacedSet>): ZoneFinding[] {
  const check: Check = {
    zone,
    byName: new Map(),
    servers: new Set(),
    cuts: new Map(),
    followed: new Set(),
    findings: [],
  }
  for (const set of sets) {
    if (set.type === t.NS) for (const rdata of set.rdata) check.servers.add(targetOf(t.NS, rdata)!)
    const types = check.byName.get(set.name)
    if (types) types.push(set)
    else check.byName.set(set.name, [set])
  }
  for (const [name, types] of check.byName) checkName(check, name, types)
  return check.findings
}

type Check = {
  readonly zone: ZoneName
  readonly byName: Map<DomainName, PlacedSet[]>
  /** Names of the servers of the zone and of its delegations. */
  readonly servers: Set<DomainName>
  /** The cut at or above a name, if already known. */
  readonly cuts: Map<DomainName, PlacedSet | undefined>
  /** Aliases whose chain was followed to its end. */
  readonly followed: Set<DomainName>
  readonly findings: ZoneFinding[]
}

function checkName(check: Check, name: DomainName, types: readonly PlacedSet[]): void {
  const { zone, findings } = check
  if (!isAtOrBelow(name, zone)) {
    const message = `The name is not in the zone ${zone} Remove the record.`
    for (const set of types) findings.push(finding(set, 'out_of_zone', message))
    return
  }
  const cut = findCut(check, parentOf(name))
  const delegation = name === zone ? undefined : ofType(types, t.NS)
  for (const set of types) {
    checkSize(check, set)
    checkData(check, set, delegation !== undefined)
    if (set.type === t.CNAME) checkCname(check, set, types)
    if (set.type === t.ALIAS) checkAlias(check, set, types)
    if (isAlias(set)) checkLoop(check, set)
    if (set.type === t.DS) checkDs(check, set, types)
    if (set.type === t.SOA && name !== zone)
      findings.push(finding(set, 'soa_below_apex', 'SOA is only at the apex of the zone. Remove the record.'))
    if (withTarget.has(set.type)) checkTargets(check, set)
    checkCut(check, set, cut, delegation)
  }
}

function ofType(types: readonly PlacedSet[] | undefined, type: number): PlacedSet | undefined {
  return types?.find((set) => set.type === type)
}

function checkSize({ findings }: Check, set: PlacedSet): void {
  const { rdata, type } = set
  if (rdata.length > 1 && singletons.has(type))
    findings.push(
      finding(set, 'several_in_set', `A name has one ${typeName(type)} record. Remove the others.`),
    )
  let length = 0
  for (const octets of rdata) length += octets.length + 12
  if (length > setLengthMax)
    findings.push(
      finding(set, 'set_too_large', `The record set has more than ${setLengthMax} octets. Remove records.`),
    )
  else if (length + (nameToWire(set.name).length - 2) * rdata.length > canonicalLengthMax)
    findings.push(
      finding(
        set,
        'set_too_large',
        `The record set has more than ${canonicalLengthMax} octets with its name in each record, so that resolvers cannot validate it. Remove records.`,
      ),
    )
}

function checkData({ findings }: Check, set: PlacedSet, isDelegation: boolean): void {
  const objection = isZoneType(set.type)
    ? findRefusal(set, isDelegation)
    : 'The type is obsolete, or exists only in messages. Remove the record.'
  if (objection !== undefined) findings.push(finding(set, 'data_refused', objection))
}

/**
 * Returns why a name server would refuse the whole zone at a transfer and serve the former copy; undefined if every
 * server accepts the set. `isDelegation`: the name has NS records, and is not the apex.
 */
export function findRefusal(
  { name, type, rdata }: Pick<Rrset, 'name' | 'type' | 'rdata'>,
  isDelegation: boolean,
): string | undefined {
  // BIND: "invalid NS owner name (wildcard)".
  if (type === t.NS && isWildcard(name)) return 'A wildcard cannot delegate. Delegate each name.'
  // Knot; RFC 6672 section 2.3 has both at the apex only.
  if (type === t.DNAME && isDelegation)
    return 'A name with NS records below the apex has no DNAME. Remove one of them.'
  try {
    for (const one of rdata) validateRdata(type, one)
    return undefined
  } catch (error) {
    if (error instanceof RdataError) return error.message
    throw error
  }
}

function checkCname({ zone, findings }: Check, set: PlacedSet, types: readonly PlacedSet[]): void {
  // The apex has SOA and NS, also if the caller did not pass them.
  const other =
    set.name === zone ? { name: zone, type: t.SOA } : types.find(({ type }) => !besideCname.has(type))
  const message =
    set.name === zone
      ? 'The zone itself has SOA and NS records, and a name with CNAME has no other data. Use A and AAAA, or HTTPS records.'
      : 'A name with CNAME has no other data. Remove one of them.'
  if (other) findings.push(finding(set, 'cname_and_other', message, set.line, other))
}

/** The addresses of the target are published at the name. */
function checkAlias({ findings }: Check, set: PlacedSet, types: readonly PlacedSet[]): void {
  const other = types.find(({ type }) => addressTypes.has(type))
  const message =
    'A name with ALIAS has the addresses of its target. Remove the ALIAS, or the A and AAAA records.'
  if (other) findings.push(finding(set, 'alias_and_address', message, set.line, other))
}

const isAlias = ({ type }: Rrset): boolean => type === t.CNAME || type === t.ALIAS

/** Each alias is followed once. Names that lead into a loop of others are not part of it. */
function checkLoop({ byName, followed, findings }: Check, start: PlacedSet): void {
  const chain: PlacedSet[] = []
  for (let set: PlacedSet | undefined = start; set && !followed.has(set.name);) {
    followed.add(set.name)
    chain.push(set)
    const target: DomainName = targetOf(set.type, set.rdata[0]!)!
    const first = chain.findIndex(({ name }) => name === target)
    if (first >= 0) {
      const loop = chain.slice(first)
      const names = [...loop.slice(0, 4).map(({ name }) => name), ...(loop.length > 4 ? ['...'] : []), target]
      const message = `The ${typeName(start.type)} leads back to itself: ${names.join(' -> ')} Change a target.`
      for (const one of loop) findings.push(finding(one, 'cname_loop', message))
    }
    set = byName.get(target)?.find(isAlias)
  }
}

function checkDs({ zone, findings }: Check, set: PlacedSet, types: readonly PlacedSet[]): void {
  if (set.name === zone)
    findings.push(finding(set, 'ds_at_apex', 'DS belongs into the parent zone. Remove it here.'))
  else if (!ofType(types, t.NS))
    findings.push(finding(set, 'ds_without_ns', 'DS has no effect without NS at the same name.'))
}

/** Data below DNAME or a delegation is not answered (RFC 6672 section 2.4, RFC 2181 section 6), except addresses of name servers. */
function checkCut(
  { findings, servers }: Check,
  set: PlacedSet,
  cut: PlacedSet | undefined,
  delegation: PlacedSet | undefined,
): void {
  if (cut?.type === t.DNAME) {
    const message = 'No names exist below a DNAME. Remove the record or the DNAME.'
    findings.push(finding(set, 'below_dname', message, set.line, cut))
    return
  }
  const above = cut ?? (delegation && !atCut.has(set.type) ? delegation : undefined)
  if (!above || (addressTypes.has(set.type) && servers.has(set.name))) return
  const message = `The record is at or below the delegation of ${above.name} and is not answered from this zone. Remove the record or the delegation.`
  findings.push(finding(set, 'occluded', message, set.line, above))
}

/** Returns the DNAME or delegation nearest to the apex at the name or above it. */
function findCut(check: Check, name: DomainName | undefined): PlacedSet | undefined {
  const { zone, byName, cuts } = check
  if (name === undefined || !isAtOrBelow(name, zone)) return undefined
  if (cuts.has(name)) return cuts.get(name)
  const types = byName.get(name)
  const here = ofType(types, t.DNAME) ?? (name === zone ? undefined : ofType(types, t.NS))
  const cut = findCut(check, parentOf(name)) ?? here
  cuts.set(name, cut)
  return cut
}

function checkTargets({ byName, findings }: Check, set: PlacedSet): void {
  for (const rdata of set.rdata) {
    const alias = ofType(byName.get(targetOf(set.type, rdata)!), t.CNAME)
    if (!alias) continue
    const message = `The target of ${typeName(set.type)} is a CNAME, which some clients refuse. Use the name that it points at.`
    findings.push(finding(set, 'target_is_alias', message, set.line, alias))
    return
  }
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
