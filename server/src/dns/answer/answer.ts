// Answers a question from one zone (RFC 1034 section 4.3.2, RFC 2308, RFC 4035 section 3.1, RFC 4592, RFC 6672). Pure;
// respond.ts selects the zone and encodes the answer.
import {
  isAtOrBelow,
  nameFromWire,
  nameLengthMax,
  nameToWire,
  parentOf,
  root,
  type DomainName,
} from '../../net/dns/name.ts'
import { rcode } from '../../net/dns/message.ts'
import { targetOf } from '../../net/dns/rdata/rdata.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { negativeTtl } from '../sign/chain.ts'
import { setAt, type ReadableZone, type ZoneNode } from './memory-zone.ts'
import { DnsReply } from './reply.ts'

/** A chain of aliases ends here; resolvers stop earlier. */
const aliasesMax = 16

/** Returns the answer of the zone, which contains `name`. `isDnssec`: with signatures and proofs. */
export function answerFrom(zone: ReadableZone, name: DomainName, type: number, isDnssec: boolean): DnsReply {
  const reply = new DnsReply(isDnssec)
  const followed = new Set<DomainName>()
  let at: DomainName | undefined = name
  while (at !== undefined && !followed.has(at) && followed.size <= aliasesMax) {
    followed.add(at)
    at = step(reply, zone, at, type)
    if (at !== undefined && !isAtOrBelow(at, zone.name)) at = undefined
  }
  return reply
}

/** Adds the zone's records for one name. Returns the target of an alias, which the caller follows. */
function step(reply: DnsReply, zone: ReadableZone, name: DomainName, type: number): DomainName | undefined {
  const found = locate(zone, name, type)
  switch (found.kind) {
    case 'referral':
      return refer(reply, zone, found.node)
    case 'dname':
      return redirect(reply, name, type, found.set)
    case 'node':
      return answerNode(reply, zone, found.node, name, type)
    case 'missing':
      return answerMissing(reply, zone, found.missing, type)
  }
}

type Located =
  | { readonly kind: 'node'; readonly node: ZoneNode }
  | { readonly kind: 'referral'; readonly node: ZoneNode }
  | { readonly kind: 'dname'; readonly set: SignedRrset }
  | { readonly kind: 'missing'; readonly missing: Missing }

/** Walks from the apex towards the name, until a delegation or DNAME occludes it or a label is missing. */
function locate(zone: ReadableZone, name: DomainName, type: number): Located {
  const path: DomainName[] = []
  for (let at = name; at !== zone.name; at = parentOf(at)!) path.push(at)
  let node = zone.node(zone.name)!
  for (let i = path.length; ; i--) {
    if (i < path.length) {
      const next = zone.node(path[i]!)
      if (!next) return { kind: 'missing', missing: { name, encloser: node.name, nextCloser: path[i]! } }
      node = next
      // DS at a delegation belongs to the parent (RFC 4035 section 3.1.4.1).
      const isOwn = i === 0 && type === recordType.DS
      if (!isOwn && setAt(node, recordType.NS)) return { kind: 'referral', node }
    }
    if (i === 0) return { kind: 'node', node }
    const dname = setAt(node, recordType.DNAME)
    if (dname) return { kind: 'dname', set: dname }
  }
}

/** `owner` is the name in the question, which differs from the node's for a wildcard. */
function answerNode(
  reply: DnsReply,
  zone: ReadableZone,
  node: ZoneNode,
  owner: DomainName,
  type: number,
): DomainName | undefined {
  const set = findAnswer(node, type)
  if (set) {
    if (type === recordType.RRSIG) addSignatures(reply, set, owner)
    else reply.answer(set, owner)
    addTargets(reply, zone, set)
    return undefined
  }
  const alias = setAt(node, recordType.CNAME)
  if (alias) {
    reply.answer(alias, owner)
    return nameFromWire(alias.rdata[0]!)
  }
  addSoa(reply, zone)
  proveTypes(reply, zone, node.name)
  return undefined
}

/** ANY and RRSIG are answered with one set (RFC 8482 sections 4.1 and 7). */
function findAnswer(node: ZoneNode, type: number): SignedRrset | undefined {
  if (type === recordType.ANY) return node.sets.find((set) => set.type !== recordType.NSEC) ?? node.sets[0]
  if (type === recordType.RRSIG) return node.sets.find(({ rrsig }) => rrsig.length > 0)
  return setAt(node, type)
}

function addSignatures(reply: DnsReply, { rrsig, ttl }: SignedRrset, name: DomainName): void {
  reply.answer({ name, type: recordType.RRSIG, ttl, rdata: rrsig, rrsig: [] })
}

function answerMissing(
  reply: DnsReply,
  zone: ReadableZone,
  missing: Missing,
  type: number,
): DomainName | undefined {
  const wildcard = below('*', missing.encloser)
  const node = zone.node(wildcard)
  const hasAnswer = node && (findAnswer(node, type) ?? setAt(node, recordType.CNAME))
  if (hasAnswer) {
    const target = answerNode(reply, zone, node, missing.name, type)
    proveExpansion(reply, zone, missing)
    return target
  }
  if (!node) reply.rcode = rcode.NXDOMAIN
  addSoa(reply, zone)
  proveMissing(reply, zone, missing, wildcard)
  return undefined
}

const below = (label: string, name: DomainName): DomainName =>
  (name === root ? `${label}.` : `${label}.${name}`) as DomainName

/** The SOA in a negative answer has the negative TTL (RFC 2308 section 3). */
function addSoa(reply: DnsReply, zone: ReadableZone): void {
  const soa = zone.find(zone.name, recordType.SOA)!
  reply.authority(soa, negativeTtl(soa))
}

/** RFC 6672 section 3: the DNAME, and a CNAME made from it. Returns its target. */
function redirect(
  reply: DnsReply,
  name: DomainName,
  type: number,
  dname: SignedRrset,
): DomainName | undefined {
  reply.answer(dname)
  const target = nameFromWire(dname.rdata[0]!)
  const prefix = name.slice(0, dname.name === root ? name.length : name.length - dname.name.length)
  const length = nameToWire(name).length - nameToWire(dname.name).length + nameToWire(target).length
  if (length > nameLengthMax) {
    reply.rcode = rcode.YXDOMAIN
    return undefined
  }
  const alias = (target === root ? prefix : `${prefix}${target}`) as DomainName
  const rdata = [nameToWire(alias)]
  reply.answer({ name, type: recordType.CNAME, ttl: dname.ttl, rdata, rrsig: [] })
  return type === recordType.CNAME ? undefined : alias
}

/** Adds a referral: NS, DS or the proof of its absence, and glue. */
function refer(reply: DnsReply, zone: ReadableZone, node: ZoneNode): undefined {
  if (reply.answers.length === 0) reply.aa = false
  const ns = setAt(node, recordType.NS)!
  reply.authority(ns)
  const ds = setAt(node, recordType.DS)
  // In an unsigned zone neither is of use.
  if (!ds) proveTypes(reply, zone, node.name)
  else if (reply.isDnssec && ds.rrsig.length > 0) reply.authority(ds)
  const targets = ns.rdata.map((rdata) => nameFromWire(rdata))
  const isGlue = (name: DomainName): boolean => isAtOrBelow(name, node.name)
  for (const target of targets) if (isGlue(target)) addAddresses(reply, zone, target)
  reply.glue = reply.additionals.length
  for (const target of targets) if (!isGlue(target)) addAddresses(reply, zone, target)
}

/** The types whose targets' addresses save the client a question (RFC 1035 section 3.3, RFC 2782, RFC 9460 section 4.1). */
const typesWithTarget: ReadonlySet<number> = new Set([
  recordType.NS,
  recordType.MX,
  recordType.SRV,
  recordType.SVCB,
  recordType.HTTPS,
])

function addTargets(reply: DnsReply, zone: ReadableZone, { type, rdata }: SignedRrset): void {
  if (!typesWithTarget.has(type)) return
  for (const data of rdata) {
    const target = targetOf(type, data)
    if (target !== undefined) addAddresses(reply, zone, target)
  }
}

function addAddresses(reply: DnsReply, zone: ReadableZone, name: DomainName): void {
  const node = zone.node(name)
  for (const type of [recordType.A, recordType.AAAA]) {
    const set = setAt(node, type)
    if (set) reply.additional(set)
  }
}

// Proofs of denial of existence (RFC 4035 section 3.1.3, RFC 5155 section 7.2), all in the authority section: after the answer they would
// make every wildcard bogus.

/** A name that does not exist: its closest existing ancestor, and the name one label below that. */
type Missing = {
  readonly name: DomainName
  readonly encloser: DomainName
  readonly nextCloser: DomainName
}

/** Proves the types of a name that exists, or that it is an empty non-terminal. */
function proveTypes(reply: DnsReply, zone: ReadableZone, name: DomainName): void {
  add(reply, zone, name, name)
}

/** Proves that the name does not exist, so that a wildcard was right to answer for it. */
function proveExpansion(reply: DnsReply, zone: ReadableZone, { name, nextCloser }: Missing): void {
  add(reply, zone, name, nextCloser)
}

/** Proves that neither the name nor the wildcard exists; or of a wildcard that exists, its types. */
function proveMissing(reply: DnsReply, zone: ReadableZone, missing: Missing, wildcard: DomainName): void {
  const { name, encloser, nextCloser } = missing
  add(reply, zone, name, encloser)
  add(reply, zone, wildcard, nextCloser)
  if (zone.hasNsec3) add(reply, zone, wildcard, wildcard)
}

/** Adds the record that matches or covers a name: with NSEC of the first, with NSEC3 of the second. */
function add(reply: DnsReply, zone: ReadableZone, nsecName: DomainName, nsec3Name: DomainName): void {
  if (!reply.isDnssec) return
  const record = zone.hasNsec3 ? zone.nsec3For(nsec3Name) : zone.nsecFor(nsecName)
  if (record) reply.authority(record)
}
