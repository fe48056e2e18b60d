// The objects of the lab's registry, searched linearly: the results of IRRd, in the simplest way.
import type { Asn } from '../../server/src/net/asn.ts'
import { covers } from '../../server/src/net/prefix.ts'
import type { Prefix } from '../../server/src/net/prefix.ts'
import {
  asSetOf,
  autNumOf,
  isMemberByReference,
  membershipOf,
  routeObjectOf,
  rpslSource,
} from '../../server/src/registry/objects/rpsl-objects.ts'
import { type RpslObject, RpslError } from '../../server/src/registry/objects/rpsl.ts'

export type Registry = {
  readonly serial: number
  /** The configured sources, then the sources of the objects, in order of the file. */
  readonly sources: readonly string[]
  /** The objects of the sources, in the order of the sources, then of the file. */
  of(sources: readonly string[]): RpslObject[]
}

export function createRegistry(
  sources: readonly string[],
  all: readonly RpslObject[],
  serial: number,
): Registry {
  const objects = all.filter((object) => isValid(object))
  return {
    serial,
    sources: [...new Set([...sources, ...objects.map(rpslSource)])],
    of: (sources) => sources.flatMap((source) => objects.filter((object) => rpslSource(object) === source)),
  }
}

function isValid(object: RpslObject): boolean {
  try {
    rpslSource(object)
    if (isRoute(object)) routeObjectOf(object)
    if (object.class === 'as-set') asSetOf(object)
    if (object.class === 'aut-num') autNumOf(object)
    return true
  } catch (error) {
    if (error instanceof RpslError) return false
    throw error
  }
}

export function isRoute(object: RpslObject): boolean {
  return object.class === 'route' || object.class === 'route6'
}

export function routesOf(
  objects: readonly RpslObject[],
  fits: (prefix: Prefix, origin: Asn) => boolean,
): RpslObject[] {
  return objects.filter((object) => {
    if (!isRoute(object)) return false
    const { prefix, origin } = routeObjectOf(object)
    return fits(prefix, origin)
  })
}

/**
 * By the option of `!r`: exact without an option, `L` exact and all less specific, `l` the next less specific, `M`
 * inside.
 */
export function searchRoutes(objects: readonly RpslObject[], prefix: Prefix, option: string): RpslObject[] {
  if (option === 'L') return routesOf(objects, (found) => covers(found, prefix))
  if (option === 'M') return routesOf(objects, (found) => found !== prefix && covers(prefix, found))
  if (option === 'l') {
    const shorter = routesOf(objects, (found) => found !== prefix && covers(found, prefix))
    const lengths = shorter.map((object) => Number(object.key.split('/')[1]))
    return shorter.filter((_, at) => lengths[at] === Math.max(...lengths))
  }
  return routesOf(objects, (found) => found === prefix)
}

/** The direct members of the first set of that name, with ASNs expanded; members by reference too. */
export function membersOf(objects: readonly RpslObject[], name: string): string[] {
  const sets = objects.filter((object) => object.class === 'as-set').map(asSetOf)
  const set = sets.find((one) => one.name === name)
  if (!set) return []
  const byReference = objects.filter((object) => {
    if (object.class !== 'aut-num' && object.class !== 'as-set') return false
    const membership = membershipOf(object)
    return (
      rpslSource(object) === set.source &&
      membership.memberOf.includes(name) &&
      isMemberByReference(set, membership)
    )
  })
  const members = [...set.asns.map((asn) => `AS${asn}`), ...set.sets]
  return [...new Set([...members, ...byReference.map(({ key }) => key.toUpperCase())])]
}

/** All ASNs of a set, including those of nested sets. */
export function asnsOf(objects: readonly RpslObject[], name: string): string[] {
  const names = new Set([name])
  const asns = new Set<string>()
  for (const set of names) {
    for (const member of membersOf(objects, set)) {
      if (/^AS\d+$/.test(member)) asns.add(member)
      else names.add(member)
    }
  }
  return [...asns]
}
