// A zone in octets, as a snapshot has it: answers are made from it without decoding the rest, so that a million records are served as soon as they are
// read. It does not change: a zone that does is decoded first (memory-zone.ts).
import { compareOctets, nameFromWire, nameKey, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { nsec3Owner } from '../sign/nsec3-hash.ts'
import { decodeSignedRrsets } from '../sign/rrset-list.ts'
import { setAt, type ReadableZone, type ZoneNode } from './memory-zone.ts'

/**
 * Sets by name in canonical order, encoded one after the other, and the offset of each name (four octets,
 * little-endian).
 */
export type EncodedNames = { readonly sets: Buffer; readonly starts: Buffer }

export class EncodedZone implements ReadableZone {
  readonly name: ZoneName
  readonly #names: NameIndex
  /** Owners of NSEC3 are not names of the zone. */
  readonly #nsec3: NameIndex

  constructor(name: ZoneName, names: EncodedNames, nsec3: EncodedNames) {
    this.name = name
    this.#names = new NameIndex(names)
    this.#nsec3 = new NameIndex(nsec3)
  }

  get hasNsec3(): boolean {
    return this.#nsec3.size > 0
  }

  node(name: DomainName): ZoneNode | undefined {
    const key = nameKey(name)
    const at = this.#names.positionOf(key)
    if (at === this.#names.size) return undefined
    const found = this.#names.keyAt(at)
    if (compareOctets(found, key) === 0) return { name, sets: this.#names.setsAt(at) }
    // Keys of names below begin with that of the name, which then exists without sets.
    return compareOctets(found.subarray(0, key.length), key) === 0 ? { name, sets: [] } : undefined
  }

  find(name: DomainName, type: number): SignedRrset | undefined {
    if (type !== recordType.NSEC3) return setAt(this.node(name), type)
    const at = this.#nsec3.positionOf(nameKey(name))
    const isFound = at < this.#nsec3.size && compareOctets(this.#nsec3.keyAt(at), nameKey(name)) === 0
    return isFound ? this.#nsec3.setsAt(at)[0] : undefined
  }

  nsecFor(name: DomainName): SignedRrset | undefined {
    // The apex is part of every chain.
    const isChained = this.find(this.name, recordType.NSEC) !== undefined
    return isChained ? this.#names.lastUntil(nameKey(name), recordType.NSEC) : undefined
  }

  nsec3For(name: DomainName): SignedRrset | undefined {
    return this.#nsec3.lastUntil(nameKey(nsec3Owner(this.name, name)), recordType.NSEC3)
  }

  *sets(): Generator<SignedRrset> {
    yield* this.#names.sets()
    yield* this.#nsec3.sets()
  }
}

class NameIndex {
  readonly #octets: EncodedNames
  readonly size: number

  constructor(octets: EncodedNames) {
    this.#octets = octets
    this.size = octets.starts.length / 4
  }

  #startOf(at: number): number {
    return at === this.size ? this.#octets.sets.length : this.#octets.starts.readUInt32LE(4 * at)
  }

  keyAt(at: number): Uint8Array {
    return nameKey(nameFromWire(this.#octets.sets, this.#startOf(at)))
  }

  setsAt(at: number): SignedRrset[] {
    return decodeSignedRrsets(this.#octets.sets.subarray(this.#startOf(at), this.#startOf(at + 1)))
  }

  /** Returns the position of the first name that is not before the key. */
  positionOf(key: Uint8Array): number {
    let [low, high] = [0, this.size]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareOctets(this.keyAt(middle), key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Returns the set of the type at the key or at the last name before it that has one; otherwise the last set of the
   * type.
   */
  lastUntil(key: Uint8Array, type: number): SignedRrset | undefined {
    const at = this.positionOf(key)
    const isAt = at < this.size && compareOctets(this.keyAt(at), key) === 0
    const from = isAt ? at : at - 1
    return this.#lastBefore(from, type) ?? this.#lastBefore(this.size - 1, type)
  }

  /** Names without the type are addresses below delegations: few follow each other. */
  #lastBefore(from: number, type: number): SignedRrset | undefined {
    for (let at = from; at >= 0; at--) {
      const found = this.setsAt(at).find((set) => set.type === type)
      if (found) return found
    }
    return undefined
  }

  *sets(): Generator<SignedRrset> {
    for (let at = 0; at < this.size; at++) yield* this.setsAt(at)
  }
}
