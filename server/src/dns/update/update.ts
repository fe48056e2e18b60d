// DNS UPDATE (RFC 2136): decodes a message into prerequisites and changes, and applies them to stored sets. Pure.
import { isAtOrBelow, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { opcode, rcode, type Message } from '../../net/dns/message.ts'
import { canonicalRdata, RdataError, validateRdata } from '../../net/dns/rdata/rdata.ts'
import { sameRdata, uniqueRdata, type ResourceRecord, type Rrset } from '../../net/dns/record.ts'
import { isMetaType, isZoneType, recordClass, recordType, typeName } from '../../net/dns/type.ts'
import { compareOctets } from '../../net/dns/name.ts'
import { setId } from '../zone/zone-change.ts'

/** The request is refused with this RCODE and has no effect. */
export class UpdateError extends Error {
  readonly rcode: number

  constructor(rcode: number, message: string) {
    super(message)
    this.name = 'UpdateError'
    this.rcode = rcode
  }
}

export type Prerequisite =
  | { readonly kind: 'in_use' | 'not_in_use'; readonly name: DomainName }
  | { readonly kind: 'exists' | 'absent'; readonly name: DomainName; readonly type: number }
  | {
      readonly kind: 'equal'
      readonly name: DomainName
      readonly type: number
      readonly rdata: readonly Uint8Array[]
    }

export type UpdateOperation =
  | {
      readonly kind: 'add'
      readonly name: DomainName
      readonly type: number
      readonly ttl: number
      readonly rdata: Uint8Array
    }
  | { readonly kind: 'delete'; readonly name: DomainName; readonly type: number; readonly rdata: Uint8Array }
  | { readonly kind: 'delete_set'; readonly name: DomainName; readonly type: number }
  | { readonly kind: 'delete_name'; readonly name: DomainName }

export type DnsUpdate = {
  readonly zone: ZoneName
  readonly prerequisites: readonly Prerequisite[]
  readonly changes: readonly UpdateOperation[]
}

/** Decodes the sections of an UPDATE (RFC 2136 sections 3.1, 3.2 and 3.4.1). Throws UpdateError with FORMERR, NOTZONE, or REFUSED for obsolete types. */
export function decodeUpdate({ opcode: code, questions, answers, authorities }: Message): DnsUpdate {
  const [question] = questions
  if (code !== opcode.UPDATE || questions.length !== 1 || question!.type !== recordType.SOA)
    throw malformed('the zone section must have one SOA')
  if (question!.class !== recordClass.IN) throw new UpdateError(rcode.NOTAUTH, 'the class is not IN')
  const zone = question!.name as ZoneName
  for (const { name } of [...answers, ...authorities])
    if (!isAtOrBelow(name, zone)) throw new UpdateError(rcode.NOTZONE, `${name} is not in ${zone}`)
  return { zone, prerequisites: decodePrerequisites(answers), changes: authorities.map(decodeChange) }
}

const malformed = (message: string): UpdateError => new UpdateError(rcode.FORMERR, message)

function decodePrerequisites(records: readonly ResourceRecord[]): Prerequisite[] {
  const sets = new Map<string, { kind: 'equal'; name: DomainName; type: number; rdata: Uint8Array[] }>()
  const others = records.flatMap((record): Prerequisite[] => {
    const { name, type, class: recordsClass, ttl, rdata } = record
    if (ttl !== 0) throw malformed('a prerequisite has a TTL')
    if (recordsClass === recordClass.IN) {
      const set = sets.get(setId(record)) ?? { kind: 'equal' as const, name, type, rdata: [] }
      sets.set(setId(record), set)
      set.rdata.push(checked(type, rdata))
      return []
    }
    const isAny = recordsClass === recordClass.ANY
    if ((!isAny && recordsClass !== recordClass.NONE) || rdata.length > 0)
      throw malformed('a prerequisite has an unknown form')
    if (type === anyType) return [{ kind: isAny ? 'in_use' : 'not_in_use', name }]
    return [{ kind: isAny ? 'exists' : 'absent', name, type }]
  })
  return [...others, ...[...sets.values()].map((set) => ({ ...set, rdata: uniqueRdata(set.rdata) }))]
}

/** QTYPE ANY (RFC 1035 section 3.2.3). */
const anyType = 255

function decodeChange({ name, type, class: recordsClass, ttl, rdata }: ResourceRecord): UpdateOperation {
  const isMeta = type === 0 || isMetaType(type)
  if (recordsClass === recordClass.IN && !isMeta) {
    // Stored records of such a type can be deleted.
    if (!isZoneType(type))
      throw new UpdateError(rcode.REFUSED, `a zone cannot have ${typeName(type)} records`)
    return { kind: 'add', name, type, ttl, rdata: checked(type, rdata) }
  }
  if (ttl !== 0) throw malformed('a deletion has a TTL')
  if (recordsClass === recordClass.NONE && !isMeta)
    return { kind: 'delete', name, type, rdata: canonical(type, rdata) }
  if (recordsClass !== recordClass.ANY || rdata.length > 0) throw malformed('a change has an unknown form')
  if (type === anyType) return { kind: 'delete_name', name }
  if (isMeta) throw malformed('a change has a type of messages')
  return { kind: 'delete_set', name, type }
}

/** Returns data to add in canonical form. Throws UpdateError with FORMERR for data that the type cannot have. */
const checked = (type: number, rdata: Uint8Array): Uint8Array => canonical(type, rdata, validateRdata)

/** Like `checked`; stored data that precedes a rule can be deleted. */
function canonical(type: number, rdata: Uint8Array, validate: typeof validateRdata = () => {}): Uint8Array {
  try {
    validate(type, rdata)
    return canonicalRdata(type, rdata)
  } catch (error) {
    if (error instanceof RdataError) throw malformed(error.message)
    throw error
  }
}

/** The names whose stored sets decide on the update. */
export const namesOfUpdate = ({ prerequisites, changes }: DnsUpdate): Set<DomainName> =>
  new Set([...prerequisites, ...changes].map(({ name }) => name))

/** Throws UpdateError with the RCODE of the first prerequisite that is not met (RFC 2136 section 3.2). */
export function requirePrerequisites({ prerequisites }: DnsUpdate, stored: readonly Rrset[]): void {
  for (const one of prerequisites) {
    const sets = stored.filter(({ name }) => name === one.name)
    const failed = failureOf(one, sets)
    if (failed !== undefined)
      throw new UpdateError(failed, `${one.name}: prerequisite ${one.kind} is not met`)
  }
}

function failureOf(one: Prerequisite, sets: readonly Rrset[]): number | undefined {
  if (!('type' in one)) {
    const isInUse = sets.length > 0
    if (isInUse === (one.kind === 'in_use')) return undefined
    return isInUse ? rcode.YXDOMAIN : rcode.NXDOMAIN
  }
  const set = sets.find(({ type }) => type === one.type)
  if (one.kind === 'absent') return set ? rcode.YXRRSET : undefined
  if (!set) return rcode.NXRRSET
  return one.kind === 'equal' && !sameRdata(one.rdata, set.rdata) ? rcode.NXRRSET : undefined
}

/**
 * Applies the changes in order (RFC 2136 section 3.4.2) and returns the sets that differ; sets to delete have no data.
 * Never deletes the SOA record and the last NS record of the apex, ignores SOA records, and does not add a CNAME beside
 * other data.
 */
export function applyUpdate({ zone, changes }: DnsUpdate, stored: readonly Rrset[]): Rrset[] {
  const before = new Map(stored.map((set) => [setId(set), set]))
  const sets = new Map(before)
  const typesAt = (name: DomainName): number[] =>
    [...sets.values()].filter((set) => set.name === name && set.rdata.length > 0).map(({ type }) => type)
  const remove = (name: DomainName, type: number): void => {
    const isKept = name === zone && (type === recordType.SOA || type === recordType.NS)
    const set = sets.get(setId({ name, type }))
    if (set && !isKept) sets.set(setId(set), { ...set, rdata: [] })
  }
  for (const change of changes) {
    const { name } = change
    if (change.kind === 'delete_name') for (const type of typesAt(name)) remove(name, type)
    else if (change.kind === 'delete_set') remove(name, change.type)
    else if (change.type === recordType.SOA) continue
    else if (change.kind === 'delete') {
      const set = sets.get(setId(change))
      const rdata = set?.rdata.filter((one) => compareOctets(one, change.rdata) !== 0)
      const isLastNs = name === zone && change.type === recordType.NS && rdata?.length === 0
      if (set && rdata && !isLastNs) sets.set(setId(set), { ...set, rdata })
    } else {
      const { type, ttl, rdata } = change
      const isAlias = type === recordType.CNAME
      if (typesAt(name).some((other) => (other === recordType.CNAME) !== isAlias)) continue
      // Only one target: a second ALIAS record replaces the first, as a CNAME does.
      const isReplaced = isAlias || type === recordType.ALIAS
      const known = isReplaced ? [] : (sets.get(setId(change))?.rdata ?? [])
      sets.set(setId(change), { name, type, ttl, rdata: uniqueRdata([...known, rdata]) })
    }
  }
  return [...sets].filter(([id, set]) => isChanged(set, before.get(id))).map(([, set]) => set)
}

const isChanged = (after: Rrset, before: Rrset | undefined): boolean =>
  before ? after.ttl !== before.ttl || !sameRdata(after.rdata, before.rdata) : after.rdata.length > 0
