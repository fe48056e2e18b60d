// For tests: a zone, its parent, and every possible validating resolver. A resolver may have fetched each record set at
// any time within its TTL, from the fastest or the slowest name server; the zone fails if any resolver would answer
// SERVFAIL.
import {
  disabled,
  nextState,
  parentRequestOf,
  type DnssecFacts,
  type Waits,
  type ZoneDnssec,
} from '../sign/key-state.ts'

export type World = {
  /** TTLs in seconds: of DS, DNSKEY, and data. */
  readonly ds: number
  readonly key: number
  readonly data: number
  /** Seconds by which the slowest name server is behind. */
  readonly propagation: number
  /** Seconds until the parent applies CDS. */
  readonly registrar: number
  /** Upper limit of the cache of resolvers, in seconds; by default the TTL. */
  readonly cache?: number
}

/** Ids of keys. Empty: no DS records, or an unsigned zone. */
type Ids = readonly number[]

export class Simulation {
  readonly world: World
  readonly #waits: Waits
  /** At each second: DS records at the parent, and keys published by the primary. Every published key signs. */
  readonly #ds: Ids[] = []
  readonly #keys: Ids[] = []
  #parentHas: Ids = []
  zone: ZoneDnssec = { status: 'disabled', isRemovalRequested: false, keys: [] }
  /** Seconds at which some resolver failed. */
  readonly failures: number[] = []
  #dsLastSeen: number | undefined

  constructor(world: World, waits: Waits) {
    this.world = world
    this.#waits = waits
  }

  get now(): number {
    return this.#ds.length
  }

  addKey(id: number): void {
    const key = {
      id,
      state: 'introduced',
      introduced: undefined,
      dsSeen: undefined,
      retired: undefined,
    } as const
    this.zone = { ...this.zone, keys: [...this.zone.keys, key] }
  }

  force(): void {
    this.zone = disabled(this.zone)
  }

  /** Lets seconds pass until the condition holds. Throws after a thousand. */
  runUntil(isDone: (zone: ZoneDnssec) => boolean): void {
    for (let second = 0; !isDone(this.zone); second++) {
      if (second > 1000) throw new Error(`still ${JSON.stringify(this.zone)}`)
      this.run(1)
    }
  }

  run(seconds: number): void {
    for (let second = 0; second < seconds; second++) this.#tick()
  }

  #tick(): void {
    const { now } = this
    const { registrar } = this.world
    this.#followRequest(registrar)
    this.#ds.push(this.#parentHas)
    if (this.#parentHas.length > 0) this.#dsLastSeen = now
    this.#keys.push(this.zone.keys.filter(({ state }) => state !== 'removed').map(({ id }) => id))
    if (this.#fails(now)) this.failures.push(now)
    const { reason: _reason, due: _due, ...zone } = nextState(this.zone, this.#facts(now), now, this.#waits)
    this.zone = zone
  }

  #requestedFor = 0
  #requested = ''

  #followRequest(delay: number): void {
    const request = parentRequestOf(this.zone)
    const text = JSON.stringify(request)
    this.#requestedFor = text === this.#requested ? this.#requestedFor + 1 : 0
    this.#requested = text
    if (this.#requestedFor < delay) return
    if (request.request === 'keys') this.#parentHas = request.ids
    if (request.request === 'delete') this.#parentHas = []
  }

  #facts(now: number): DnssecFacts {
    const { ds, key, data, propagation } = this.world
    const recent = this.#ds.slice(-3)
    const current = recent.at(-1) ?? []
    return {
      isServed: this.#keysAt(now - propagation) === this.#keysText(now),
      canSign: true,
      isValid: true,
      zoneTtl: data,
      keyTtl: key,
      propagation,
      parent: {
        checked: now,
        isSettled: recent.every((ids) => String(ids) === String(current)),
        hasDs: current.length > 0,
        dsAnywhere: current,
        dsEverywhere: current,
        dsTtl: ds,
        dsLastSeen: this.#dsLastSeen,
      },
    }
  }

  #keysText(second: number): string {
    return String(this.#keys[second] ?? [])
  }

  #keysAt(second: number): string {
    return this.#keysText(Math.max(0, second))
  }

  /** Whether any combination of cached data that is possible at this second is bogus. */
  #fails(now: number): boolean {
    const { propagation, cache = Infinity } = this.world
    const [ds, key, data] = [this.world.ds, this.world.key, this.world.data].map((ttl) =>
      Math.min(ttl, cache),
    ) as [number, number, number]
    // Data fetched at a second from a server is that which the primary had then, or as much earlier as the server is behind.
    const distinct = <Value>(list: readonly Value[]): Value[] => [
      ...new Map(list.map((v) => [String(v), v])).values(),
    ]
    const signers = distinct(this.#keys.slice(Math.max(0, now - data + 1 - propagation), now + 1))
    for (let fetched = Math.max(0, now - key + 1); fetched <= now; fetched++) {
      const keySets = distinct(this.#keys.slice(Math.max(0, fetched - propagation), fetched + 1))
      const dsSets = distinct(this.#ds.slice(Math.max(0, fetched - ds + 1), fetched + 1))
      for (const trusted of dsSets.filter((ids) => ids.length > 0)) {
        for (const keys of keySets) {
          if (!keys.some((id) => trusted.includes(id))) return true
          if (signers.some((ids) => !ids.some((id) => keys.includes(id)))) return true
        }
      }
    }
    return false
  }
}
