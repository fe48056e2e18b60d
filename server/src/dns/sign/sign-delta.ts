// Signs a change of a zone by touching only dependent sets: the changed sets, the names whose occlusion changes, and
// their neighbours in the chain. The result equals the signed whole zone, apart from the times of signatures.
import { compareOctets, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { sameRdata, type Rrset, type SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import {
  ancestorsInZone,
  isAuthoritative,
  isGeneratedType,
  occludes,
  standingOf,
  withAncestors,
  type NameAuthority,
} from './authority.ts'
import { chainOf, negativeTtl, type Chain } from './chain.ts'
import { relinkChain, type ChainChange } from './relink-chain.ts'
import type { ServedChange, ServedIndex } from './served-index.ts'
import { isBy, keysFor, signRrset, type SignatureSettings } from './signature.ts'

/** The desired content of one set: undefined removes it. Applying a change twice is the same as applying it once. */
export type RrsetChange = {
  readonly name: DomainName
  readonly type: number
  readonly after: Rrset | undefined
}

/** The sets of names, without the records of the chain. */
type Sets<Set extends Rrset> = ReadonlyMap<DomainName, readonly Set[]>

/** A zone around a change: every changed name and its ancestors, before and after. */
type Surroundings = {
  readonly zone: ZoneName
  readonly before: Sets<SignedRrset>
  readonly after: Sets<Rrset>
  /** Names whose sets or standing may change. */
  readonly affected: ReadonlySet<DomainName>
  /** The records of the chain at these names; owners of NSEC3 are elsewhere. */
  readonly nsec: ReadonlyMap<DomainName, SignedRrset>
}

/**
 * Returns the differences between the served zone and the zone with the change, to be stored and transferred; an empty
 * list without a difference. Undefined if the whole zone must be signed: the served zone has signatures of other keys,
 * another chain, or another negative TTL. `change` has at most one entry for each name and type. Throws RangeError if
 * it removes the SOA.
 */
export async function signDelta(
  zone: ZoneName,
  index: ServedIndex,
  change: readonly RrsetChange[],
  signing: SignatureSettings | undefined,
): Promise<readonly ServedChange[] | undefined> {
  const surroundings = await readSurroundings(zone, index, change)
  if (!isSignedAs(surroundings, signing)) return undefined
  const data = changeData(surroundings, signing)
  return signing ? [...data, ...(await changeChain(surroundings, index, signing))] : data
}

async function readSurroundings(
  zone: ZoneName,
  index: ServedIndex,
  change: readonly RrsetChange[],
): Promise<Surroundings> {
  const wanted = change.filter(({ type }) => !isGeneratedType(type))
  const affected = new Set(wanted.map(({ name }) => name))
  const served = new Map(await index.at(withAncestors(zone, affected)))
  const has = (name: DomainName, type: number): boolean =>
    served.get(name)?.some((set) => set.type === type) ?? false
  const flipped = wanted.filter(
    ({ name, type, after }) => occludes(zone, name, type) && has(name, type) !== (after !== undefined),
  )
  for (const { name } of flipped) {
    const below = Map.groupBy(await index.below(name), (set) => set.name)
    for (const [name, sets] of below) {
      served.set(name, sets)
      affected.add(name)
    }
  }
  const before = mapValues(served, (sets) => sets.filter(({ type }) => !isChainType(type)))
  const after = new Map<DomainName, readonly Rrset[]>(before)
  for (const { name, type, after: set } of wanted) {
    const others = (after.get(name) ?? []).filter((other) => other.type !== type)
    after.set(name, set ? [...others, set] : others)
  }
  const nsec = [...served].flatMap(([name, sets]) =>
    sets.filter(({ type }) => type === recordType.NSEC).map((set) => [name, set] as const),
  )
  return { zone, before, after, affected, nsec: new Map(nsec) }
}

const isChainType = (type: number): boolean => type === recordType.NSEC || type === recordType.NSEC3

function mapValues<Key, A, B>(map: ReadonlyMap<Key, A>, of: (value: A) => B): Map<Key, B> {
  return new Map([...map].map(([key, value]) => [key, of(value)]))
}

const find = <Set extends Rrset>(sets: Sets<Set>, name: DomainName, type: number): Set | undefined =>
  sets.get(name)?.find((set) => set.type === type)

const standingIn = ({ zone }: Surroundings, sets: Sets<Rrset>, name: DomainName): NameAuthority =>
  standingOf(zone, name, (at, type) => find(sets, at, type) !== undefined)

/** Whether the served zone is signed as the delta will be. */
function isSignedAs(
  { zone, before, after, nsec }: Surroundings,
  signing: SignatureSettings | undefined,
): boolean {
  const [served, soa] = [find(before, zone, recordType.SOA), find(after, zone, recordType.SOA)]
  if (!soa) throw new RangeError('the zone has no SOA')
  if (!served) return false
  const kind = nsec.has(zone) ? 'nsec' : find(before, zone, recordType.NSEC3PARAM) ? 'nsec3' : undefined
  if (!signing) return kind === undefined && served.rrsig.length === 0
  const dnskey = find(before, zone, recordType.DNSKEY)
  if (kind !== signing.denial || !dnskey || negativeTtl(served) !== negativeTtl(soa)) return false
  return [served, dnskey].every((set) => {
    const keys = keysFor(signing, set)
    return (
      keys.length === set.rrsig.length && keys.every((key) => set.rrsig.some((rrsig) => isBy(rrsig, key)))
    )
  })
}

function changeData(surroundings: Surroundings, signing: SignatureSettings | undefined): ServedChange[] {
  const { before, after, affected } = surroundings
  return [...affected].flatMap((name) => {
    const standing = standingIn(surroundings, after, name)
    const desired = (after.get(name) ?? []).map((set): SignedRrset => {
      const isSigned = signing && isAuthoritative(standing, set.type)
      return isSigned ? signRrset(signing, set, find(before, name, set.type)) : { ...set, rrsig: [] }
    })
    const removed = (before.get(name) ?? []).filter(({ type }) => !find(after, name, type))
    return [
      ...removed.map((before) => ({ before })),
      ...desired.flatMap((set) => changeOf(find(before, name, set.type), set)),
    ]
  })
}

/** Returns the change of a set; an empty list if it stays the same. */
function changeOf(before: SignedRrset | undefined, after: SignedRrset): ServedChange[] {
  if (!before) return [{ after }]
  const isSame =
    before.ttl === after.ttl && sameRdata(before.rdata, after.rdata) && sameRdata(before.rrsig, after.rrsig)
  return isSame ? [] : [{ before, after }]
}

async function changeChain(
  surroundings: Surroundings,
  index: ServedIndex,
  signing: SignatureSettings,
): Promise<ServedChange[]> {
  const { zone, after } = surroundings
  const chain = chainOf(zone, signing.denial)
  const change = await planChain(surroundings, index, chain)
  const ttl = negativeTtl(find(after, zone, recordType.SOA)!)
  const links = await relinkChain(chain, index, change)
  return [
    ...[...change.removed.values()].map((before) => ({ before })),
    ...links.flatMap(({ owner, rdata, before }) =>
      changeOf(before, signRrset(signing, { name: owner, type: chain.type, ttl, rdata: [rdata] }, before)),
    ),
  ]
}

/** Returns which owners join and leave the chain, and which get another bitmap. */
async function planChain(surroundings: Surroundings, index: ServedIndex, chain: Chain): Promise<ChainChange> {
  const { zone, after, affected } = surroundings
  const names = chain.includesEmpty ? withAncestors(zone, affected) : [...affected]
  const records = await recordsOf(surroundings, index, chain, names)
  const proven = new Set(
    names.filter((name) => after.get(name)?.length && standingIn(surroundings, after, name) !== 'occluded'),
  )
  const empty = chain.includesEmpty ? await emptyNonTerminals(surroundings, index, names, proven) : new Set()
  const removed = new Map<DomainName, SignedRrset>()
  const added = new Map<DomainName, Uint8Array>()
  const changed = new Map<DomainName, { record: SignedRrset; bitmap: Uint8Array }>()
  for (const name of names) {
    const owner = chain.ownerOf(name)
    const record = records.get(owner)
    if (!proven.has(name) && !empty.has(name)) {
      if (record) removed.set(owner, record)
      continue
    }
    const types = (after.get(name) ?? []).map(({ type }) => type)
    const bitmap = chain.bitmapOf(standingIn(surroundings, after, name), types)
    if (!record) added.set(owner, bitmap)
    else if (compareOctets(chain.bitmapIn(record.rdata[0]!), bitmap) !== 0)
      changed.set(owner, { record, bitmap })
  }
  return { removed, added, changed }
}

/** Returns the served records of the chain by owner. */
async function recordsOf(
  { nsec }: Surroundings,
  index: ServedIndex,
  chain: Chain,
  names: readonly DomainName[],
): Promise<ReadonlyMap<DomainName, SignedRrset>> {
  if (chain.type === recordType.NSEC) return nsec
  const sets = [...(await index.at(names.map((name) => chain.ownerOf(name)))).values()].flat()
  return new Map(sets.filter(({ type }) => type === chain.type).map((set) => [set.name, set]))
}

/** Returns the names without sets that have a proven name below them. */
async function emptyNonTerminals(
  surroundings: Surroundings,
  index: ServedIndex,
  names: readonly DomainName[],
  proven: ReadonlySet<DomainName>,
): Promise<ReadonlySet<DomainName>> {
  const { zone, after, affected } = surroundings
  const candidates = names.filter(
    (name) => !after.get(name)?.length && standingIn(surroundings, after, name) !== 'occluded',
  )
  const ancestors = new Set([...proven].flatMap((name) => ancestorsInZone(zone, name)))
  const unknown = candidates.filter((name) => !ancestors.has(name))
  // Unaffected names below are not occluded: a name that occludes them is below as well.
  const withOthers = unknown.length > 0 ? await index.withNamesBelow(unknown, affected) : new Set()
  return new Set(candidates.filter((name) => ancestors.has(name) || withOthers.has(name)))
}
