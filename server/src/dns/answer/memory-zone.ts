// A served zone in memory: sets by name, the tree of names with empty non-terminals, and the chain of denial of
// existence. Answers are made from it, and deltas can be signed against it. It has one writer; readers never wait.
import { isBelow, parentOf, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { orderKey, SortedKeys } from '../sign/order.ts'
import { nsec3Owner } from '../sign/nsec3-hash.ts'
import type { ServedChange, ServedIndex } from '../sign/served-index.ts'

/** A name that exists: it has sets, or names below it have some (RFC 4592 section 2.2.2). */
export type ZoneNode = { readonly name: DomainName; readonly sets: readonly SignedRrset[] }

type Node = { readonly name: DomainName; sets: readonly SignedRrset[]; children: number }

type ChainRecords = { readonly keys: SortedKeys; readonly sets: Map<string, SignedRrset> }

const without = (sets: readonly SignedRrset[], type: number): readonly SignedRrset[] =>
  sets.filter((set) => set.type !== type)

/** Returns the set of a type at a node. A loop, because it runs several times for every answer. */
export function setAt(node: ZoneNode | undefined, type: number): SignedRrset | undefined {
  if (node) for (const set of node.sets) if (set.type === type) return set
  return undefined
}

/** The part of a zone that answers need. */
export type ReadableZone = Pick<
  MemoryZone,
  'name' | 'hasNsec3' | 'node' | 'find' | 'nsecFor' | 'nsec3For' | 'sets'
>

export class MemoryZone implements ServedIndex {
  readonly name: ZoneName
  readonly #nodes = new Map<DomainName, Node>()
  readonly #keys = new SortedKeys()
  readonly #nsec: ChainRecords = { keys: new SortedKeys(), sets: new Map() }
  /**
   * Owners of NSEC3 are not names of the zone: a question for such an owner is answered as if it did not exist (RFC
   * 5155 section 7.2.8).
   */
  readonly #nsec3: ChainRecords = { keys: new SortedKeys(), sets: new Map() }

  /** Sets in canonical order are added faster. */
  constructor(name: ZoneName, sets: Iterable<SignedRrset> = []) {
    this.name = name
    for (const set of sets) this.#add(set)
  }

  /** Whether the zone has an NSEC3 chain. */
  get hasNsec3(): boolean {
    return this.#nsec3.keys.size > 0
  }

  /** Returns the name if it exists in the zone. */
  node(name: DomainName): ZoneNode | undefined {
    return this.#nodes.get(name)
  }

  /** Returns the set of a name and type. */
  find(name: DomainName, type: number): SignedRrset | undefined {
    return type === recordType.NSEC3
      ? this.#nsec3.sets.get(orderKey(name))
      : setAt(this.#nodes.get(name), type)
  }

  /** Returns the NSEC record at the name, or the one that covers it. Undefined in a zone without NSEC. */
  nsecFor(name: DomainName): SignedRrset | undefined {
    return lastOf(this.#nsec, orderKey(name), true)
  }

  /** Returns the NSEC3 record that matches the name, or the one that covers it. Undefined in a zone without NSEC3. */
  nsec3For(name: DomainName): SignedRrset | undefined {
    return lastOf(this.#nsec3, orderKey(nsec3Owner(this.name, name)), true)
  }

  /** Returns all sets in canonical order of names; NSEC3 sets follow. */
  *sets(): Generator<SignedRrset> {
    const apex = this.#nodes.get(this.name)
    if (apex) yield* apex.sets
    for (const name of this.#namesBelow(this.name)) yield* this.#nodes.get(name)!.sets
    yield* this.#nsec3.sets.values()
  }

  /** Applies the differences of a publication. */
  apply(changes: Iterable<ServedChange>): void {
    for (const { before, after } of changes) {
      if (before && after && before.name === after.name && before.type === after.type) this.#add(after)
      else {
        if (before) this.#remove(before)
        if (after) this.#add(after)
      }
    }
  }

  at(names: readonly DomainName[]): Promise<ReadonlyMap<DomainName, readonly SignedRrset[]>> {
    const found = new Map<DomainName, readonly SignedRrset[]>()
    for (const name of names) {
      const nsec3 = this.#nsec3.sets.get(orderKey(name))
      const sets = [...(this.#nodes.get(name)?.sets ?? []), ...(nsec3 ? [nsec3] : [])]
      if (sets.length > 0) found.set(name, sets)
    }
    return Promise.resolve(found)
  }

  below(name: DomainName): Promise<readonly SignedRrset[]> {
    return Promise.resolve([...this.#namesBelow(name)].flatMap((below) => this.#nodes.get(below)!.sets))
  }

  withNamesBelow(
    names: readonly DomainName[],
    except: ReadonlySet<DomainName>,
  ): Promise<ReadonlySet<DomainName>> {
    const isOther = (name: DomainName): boolean => !except.has(name) && this.#nodes.get(name)!.sets.length > 0
    return Promise.resolve(new Set(names.filter((name) => this.#namesBelow(name).some(isOther))))
  }

  previousInChain(type: number, names: readonly DomainName[]): Promise<ReadonlyMap<DomainName, SignedRrset>> {
    const chain = type === recordType.NSEC ? this.#nsec : this.#nsec3
    return Promise.resolve(new Map(names.map((name) => [name, lastOf(chain, orderKey(name), false)!])))
  }

  *#namesBelow(name: DomainName): Generator<DomainName> {
    for (const key of this.#keys.startingWith(orderKey(name))) yield this.#names.get(key)!
  }

  readonly #names = new Map<string, DomainName>()

  #add(set: SignedRrset): void {
    if (set.type === recordType.NSEC3) return addTo(this.#nsec3, set)
    if (set.type === recordType.NSEC) addTo(this.#nsec, set)
    const node = this.#create(set.name)
    node.sets = [...without(node.sets, set.type), set]
  }

  #remove(set: SignedRrset): void {
    if (set.type === recordType.NSEC3) return removeFrom(this.#nsec3, set)
    if (set.type === recordType.NSEC) removeFrom(this.#nsec, set)
    const node = this.#nodes.get(set.name)
    if (!node) return
    node.sets = without(node.sets, set.type)
    this.#prune(node)
  }

  #create(name: DomainName): Node {
    const known = this.#nodes.get(name)
    if (known) return known
    if (name !== this.name && !isBelow(name, this.name)) throw new RangeError('the name is not in the zone')
    if (name !== this.name) this.#create(parentOf(name)!).children += 1
    const node: Node = { name, sets: [], children: 0 }
    const key = orderKey(name)
    this.#nodes.set(name, node)
    this.#keys.add(key)
    this.#names.set(key, name)
    return node
  }

  /** Removes the node if it has neither sets nor names below it, and then its parent in the same way. */
  #prune({ name, sets, children }: Node): void {
    if (sets.length > 0 || children > 0) return
    const key = orderKey(name)
    this.#nodes.delete(name)
    this.#keys.delete(key)
    this.#names.delete(key)
    if (name === this.name) return
    const parent = this.#nodes.get(parentOf(name)!)!
    parent.children -= 1
    this.#prune(parent)
  }
}

function addTo({ keys, sets }: ChainRecords, set: SignedRrset): void {
  const key = orderKey(set.name)
  keys.add(key)
  sets.set(key, set)
}

function removeFrom({ keys, sets }: ChainRecords, set: SignedRrset): void {
  const key = orderKey(set.name)
  keys.delete(key)
  sets.delete(key)
}

function lastOf({ keys, sets }: ChainRecords, key: string, inclusive: boolean): SignedRrset | undefined {
  const found = keys.before(key, inclusive)
  return found === undefined ? undefined : sets.get(found)
}
