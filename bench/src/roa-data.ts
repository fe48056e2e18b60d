// VRPs and announcements distributed like the public RPKI: holders with an aggregate and more specific routes inside
// it, more IPv4 than IPv6, mostly /24 and /48. Generated from a seed, so that every run has the same data.
import { maskBits } from '../../server/src/net/bits.ts'
import type { Bits, Family } from '../../server/src/net/bits.ts'
import type { TableColumns } from '../../server/src/net/prefix-table.ts'
import { vrpPrefix } from '../../server/src/registry/objects/vrp.ts'
import type { VrpBits } from '../../server/src/registry/objects/vrp.ts'

/** A route and the ASN that originates it. */
export type Announced = Bits & { readonly asn: number }

export type RoaData = { readonly vrps: readonly VrpBits[]; readonly announced: readonly Announced[] }

/** 70 % of the VRPs and 80 % of the announcements are IPv4. No prefix is announced twice. */
export function generateRoaData(vrpCount: number, announcedCount: number): RoaData {
  const next = dice(788)
  const ipv4 = makeVrps(4, Math.round(vrpCount * 0.7), next)
  const ipv6 = makeVrps(6, vrpCount - ipv4.length, next)
  const announced = [
    ...announce(4, ipv4, Math.round(announcedCount * 0.8), next),
    ...announce(6, ipv6, announcedCount - Math.round(announcedCount * 0.8), next),
  ]
  return { vrps: [...ipv4, ...ipv6], announced }
}

type Dice = (below: number) => number

/** Returns the same numbers for the same seed. */
function dice(seed: number): Dice {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Lengths of an aggregate, and of a prefix inside one. The ROAs cover about half of the IPv4 space, as the public ones do. */
const lengths = {
  4: { outer: [16, 18, 19, 20, 21, 22, 22, 23, 24, 24, 24, 24], inner: [20, 22, 23, 24, 24, 24, 24, 24, 24] },
  6: { outer: [29, 29, 32, 32, 32, 36], inner: [36, 40, 44, 48, 48, 48, 48] },
} as const

function makeVrps(family: Family, count: number, next: Dice): VrpBits[] {
  const vrps = new Map<string, VrpBits>()
  const add = (vrp: VrpBits) =>
    vrps.size < count && vrps.set(`${vrpPrefix(vrp)}-${vrp.maxLength} ${vrp.asn}`, vrp)
  while (vrps.size < count) {
    const asn = 1 + next(70_000)
    const outer = prefixIn(family, pick(lengths[family].outer, next), next)
    add({ ...outer, asn, maxLength: next(2) === 0 ? outer.length : longest(family) })
    for (let more = next(6); more > 0; more--) {
      const inner = inside(outer, pick(lengths[family].inner, next), next)
      add({ ...inner, asn: next(8) === 0 ? 1 + next(70_000) : asn, maxLength: inner.length })
    }
  }
  return [...vrps.values()]
}

/** Per hundred: 55 as a VRP allows, 3 of another ASN, 3 too long, and the rest anywhere, mostly without a VRP. */
function announce(family: Family, vrps: readonly VrpBits[], count: number, next: Dice): Announced[] {
  const found = new Map<string, Announced>()
  while (found.size < count) {
    const { asn, maxLength, ...bits } = vrps[next(vrps.length)]!
    const kind = next(100)
    const length = Math.min(
      longest(family),
      kind < 58 ? bits.length + next(maxLength - bits.length + 1) : maxLength + 1,
    )
    const prefix =
      kind < 61
        ? inside(bits, Math.max(bits.length, length), next)
        : prefixIn(family, pick(lengths[family].inner, next), next)
    found.set(vrpPrefix(prefix), { ...prefix, asn: kind < 55 || kind >= 58 ? asn : asn + 1 })
  }
  return [...found.values()]
}

function longest(family: Family): number {
  return family === 4 ? 24 : 48
}

/** In unicast space, without 127/8, from which BIRD accepts no routes. */
function prefixIn(family: Family, length: number, next: Dice): Bits {
  const high =
    family === 4 ? (1 + next(126)) << 24 : [0x2001_0000, 0x2400_0000, 0x2600_0000, 0x2a00_0000][next(4)]!
  const w0 = high | next(2 ** 24) | 0
  return maskBits({ family, length, w0, w1: family === 4 ? 0 : word(next), w2: 0, w3: 0 })
}

function inside(outer: Bits, length: number, next: Dice): Bits {
  if (length <= outer.length) return outer
  const free = (start: number): number => {
    const kept = outer.length - start
    return kept >= 32 ? 0 : kept <= 0 ? word(next) : word(next) >>> kept
  }
  const w1 = outer.family === 4 ? 0 : outer.w1 | free(32)
  return maskBits({ ...outer, length, w0: outer.w0 | free(0), w1 })
}

function word(next: Dice): number {
  return next(2 ** 32) | 0
}

function pick<T>(values: readonly T[], next: Dice): T {
  return values[next(values.length)]!
}

export type AnnouncedColumns = { readonly prefixes: TableColumns<Uint32Array>; readonly asns: Uint32Array }

/** The announcements of one family, in the given order. */
export function columnsOf(announced: readonly Announced[], family: Family): AnnouncedColumns {
  const rows = announced.filter((one) => one.family === family)
  const column = (value: (row: Announced) => number): Uint32Array => Uint32Array.from(rows, value)
  const prefixes = {
    w0: column(({ w0 }) => w0),
    w1: column(({ w1 }) => w1),
    w2: column(({ w2 }) => w2),
    w3: column(({ w3 }) => w3),
    lengths: column(({ length }) => length),
  }
  return { prefixes, asns: column(({ asn }) => asn) }
}
