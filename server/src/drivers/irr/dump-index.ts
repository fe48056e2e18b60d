// The queryable index of a registry dump: built from its objects one by one, then immutable. It does not read files.
import { setImmediate } from 'node:timers/promises'
import type { AsSetMembers, AutNumObject, RouteObject } from '../../registry/irr-source.ts'
import type { Asn } from '../../net/asn.ts'
import { createPrefixMap, type PrefixMap } from '../../net/prefix-map.ts'
import { prefixBits } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import {
  asSetOf,
  autNumOf,
  isMemberByReference,
  membershipOf,
  routeObjectOf,
} from '../../registry/objects/rpsl-objects.ts'
import { isRegional } from '../../registry/objects/regional-registries.ts'
import { rpslSource } from '../../registry/objects/rpsl-objects.ts'
import type { RpslAsSet, RpslMembership } from '../../registry/objects/rpsl-objects.ts'
import type { RpslObject } from '../../registry/objects/rpsl.ts'

export type DumpIndex = {
  /** The number of objects it was built from. */
  readonly size: number
  /** Returns the routes of exactly this prefix and of all less specific ones. */
  covering(prefix: Prefix): RouteObject[]
  autNum(asn: Asn): AutNumObject | undefined
  asSetMembers(name: string): AsSetMembers | undefined
}

export type DumpIndexBuilder = {
  /** Throws RpslError on an invalid object; the index is unchanged then. */
  add(object: RpslObject): void
  /** Takes about a second for a million routes, in steps that yield to the event loop. */
  build(): Promise<DumpIndex>
}

type Ranked<T> = { readonly rank: number; readonly value: T }
type Reference = {
  readonly member: Asn | string
  readonly source: string
  readonly membership: RpslMembership
}

/** `sources` are the registries to use, in order of preference; an empty list means all, in the order of the dump. */
export function createDumpIndexBuilder(sources: readonly string[]): DumpIndexBuilder {
  const routes = createRouteShards()
  const autNums = new Map<Asn, Ranked<AutNumObject>>()
  const asSets = new Map<string, Ranked<RpslAsSet>>()
  const references: Reference[] = []
  const words = new Map<string, string>()
  let size = 0
  const rankOf = (source: string): number => (sources.length === 0 ? 0 : sources.indexOf(source))

  const addRoute = (object: RpslObject): void => {
    const { prefix, origin, source } = routeObjectOf(object)
    const copy = copyOf(prefix) as Prefix
    routes.add({ prefix: copy, origin, source: wordOf(words, source) })
  }
  const addAutNum = (object: RpslObject): void => {
    const { asn, source, text } = autNumOf(object)
    addReference(object, asn, source)
    const rank = rankOf(source) - (isRegional(source) ? sources.length + 1 : 0)
    put(autNums, asn, { rank, value: { source: wordOf(words, source), text: copyOf(text) } })
  }
  const addAsSet = (object: RpslObject): void => {
    const set = asSetOf(object)
    const { name, source } = set
    const copy = { ...set, name: copyOf(name), sets: set.sets.map((name) => wordOf(words, name)) }
    addReference(object, copy.name, source)
    put(asSets, copy.name, { rank: rankOf(source), value: copy })
  }
  const addReference = (object: RpslObject, member: Asn | string, source: string): void => {
    const membership = membershipOf(object)
    if (membership.memberOf.length > 0) references.push({ member, source, membership })
  }
  const adders: Record<string, (object: RpslObject) => void> = {
    route: addRoute,
    route6: addRoute,
    'aut-num': addAutNum,
    'as-set': addAsSet,
  }
  return {
    add(object) {
      const adder = Object.hasOwn(adders, object.class) ? adders[object.class] : undefined
      if (!adder || rankOf(rpslSource(object)) < 0) return
      adder(object)
      size++
    },
    async build() {
      const members = allMembers(asSets, references)
      return {
        size,
        covering: await routes.build(),
        autNum: (asn) => autNums.get(asn)?.value,
        asSetMembers: (name) => members.get(name),
      }
    },
  }
}

/**
 * Routes in many small maps, keyed by their first bits: each map is built synchronously, and a single map of all routes of a
 * large registry would block the event loop for up to a second. Routes shorter than that are in a separate map.
 */
function createRouteShards() {
  const shards = new Map<number, [Prefix, RouteObject][]>()
  return {
    add(route: RouteObject): void {
      const key = shardOf(route.prefix)
      const shard = shards.get(key)
      if (shard) shard.push([route.prefix, route])
      else shards.set(key, [[route.prefix, route]])
    },
    async build(): Promise<DumpIndex['covering']> {
      const maps = new Map<number, PrefixMap<RouteObject>>()
      for (const [key, entries] of shards) {
        maps.set(key, createPrefixMap(entries))
        await setImmediate()
      }
      const short = maps.get(shortShard)
      return (prefix) => {
        const own = shardOf(prefix)
        const long = own === shortShard ? [] : (maps.get(own)?.covering(prefix) ?? [])
        return short ? [...long, ...short.covering(prefix)] : long
      }
    },
  }
}

const shortShard = -1

/** By the first 8 bits of an IPv4 address, or the first 24 bits of an IPv6 address. */
function shardOf(prefix: Prefix): number {
  const { family, length, w0 } = prefixBits(prefix)
  if (family === 4) return length < 8 ? shortShard : w0 >>> 24
  return length < 24 ? shortShard : 256 + (w0 >>> 8)
}

/** Among several with the best rank, the first one stays. */
function put<K, T>(into: Map<K, Ranked<T>>, key: K, next: Ranked<T>): void {
  const before = into.get(key)
  if (!before || next.rank < before.rank) into.set(key, next)
}

/** Direct members and members by reference; the latter must be confirmed by both the set and the member, in one registry. */
function allMembers(
  asSets: ReadonlyMap<string, Ranked<RpslAsSet>>,
  references: readonly Reference[],
): Map<string, AsSetMembers> {
  const members = new Map<string, { asns: Asn[]; sets: string[] }>()
  for (const [name, { value }] of asSets) members.set(name, { asns: [...value.asns], sets: [...value.sets] })
  for (const { member, source, membership } of references) {
    for (const name of membership.memberOf) {
      const set = asSets.get(name)?.value
      if (!set || set.source !== source || !isMemberByReference(set, membership)) continue
      if (typeof member === 'string') members.get(name)!.sets.push(member)
      else members.get(name)!.asns.push(member)
    }
  }
  // Like a whois server, a set without members is treated as absent.
  for (const [name, { asns, sets }] of members) if (asns.length + sets.length === 0) members.delete(name)
  return members
}

/** Copies a text: a substring keeps its parent in memory, here a whole chunk of the file. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

/** Returns the same string for all equal ones. */
function wordOf(words: Map<string, string>, text: string): string {
  const known = words.get(text)
  if (known !== undefined) return known
  const copy = copyOf(text)
  words.set(copy, copy)
  return copy
}
