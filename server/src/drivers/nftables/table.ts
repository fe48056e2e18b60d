// The table as it is laid out. A list is a chain; a second chain for each prefix calls the chains of all lists that cover it, the most
// specific first, and a map from disjoint ranges of addresses selects that one. Chain `shield` is where packets enter. Pure.
import type { InstalledList, RuleHits, RuleId } from '../../shield/scrubber.ts'
import { familyOf } from '../../net/address.ts'
import { type Family, widthOf } from '../../net/bits.ts'
import { formatBits } from '../../net/bits-text.ts'
import { firstOf, lastOf, type Prefix, prefixBits } from '../../net/prefix.ts'
import { createPrefixMap } from '../../net/prefix-map.ts'

/** A table as it is installed. */
export type InstalledTable = {
  readonly lists: readonly InstalledChain[]
  /** Names of all chains and of all counters. */
  readonly chains: readonly string[]
  readonly counters: ReadonlyMap<RuleId, RuleHits>
  /** Whether packets enter chain `shield` at the hook of the settings, without other rules. */
  readonly isEntered: boolean
  /** A dormant table does not filter. */
  readonly isDormant: boolean
}

export type InstalledChain = InstalledList & { readonly ids: readonly RuleId[] }

export const hooks = ['forward', 'prerouting', 'input'] as const
export type Hook = (typeof hooks)[number]

/** Before the chains of the host's own firewall (priority 0), after connection tracking's defragmentation (-400). */
export const priority = -150

/** The chain where packets enter. */
export const entryChain = 'shield'

/** The lists that the packets of each address pass. */
export type ListLayout = {
  /** The prefix itself and its covering prefixes, the most specific first. */
  coveringFirst(prefix: Prefix): readonly Prefix[]
  /** Elements of an interval map must not overlap: the ranges between all first and last addresses, with the innermost prefix. */
  rangesOf(family: Family): readonly AddressRange[]
}

type AddressRange = { readonly first: bigint; readonly last: bigint; readonly prefix: Prefix }

export function listLayoutOf(prefixes: readonly Prefix[]): ListLayout {
  const map = createPrefixMap(prefixes.map((prefix) => [prefix, prefix]))
  return {
    coveringFirst: (prefix) => map.covering(prefix),
    rangesOf(family) {
      const own = prefixes.filter((prefix) => familyOf(prefix) === family)
      const borders = new Set(own.flatMap((prefix) => [firstOf(prefix), lastOf(prefix) + 1n]))
      const starts = [...borders].toSorted((a, b) => (a < b ? -1 : 1))
      return starts.slice(0, -1).flatMap((first, at) => {
        const [innermost] = map.covering(`${addressText(first, family)}/${widthOf(family)}` as Prefix)
        return innermost ? [{ first, last: starts[at + 1]! - 1n, prefix: innermost }] : []
      })
    },
  }
}

export function addressText(value: bigint, family: Family): string {
  const word = (shift: number): number => Number((value >> BigInt(shift)) & 0xffff_ffffn) | 0
  const words = family === 4 ? [word(0), 0, 0, 0] : [word(96), word(64), word(32), word(0)]
  const [w0, w1, w2, w3] = words as [number, number, number, number]
  return formatBits({ family, length: widthOf(family), w0, w1, w2, w3 })
}

export const counterName = (id: RuleId): string => `rule${id}`
export const listChain = (prefix: Prefix): string => `list${chainKey(prefix)}`
export const guardChain = (id: RuleId): string => `first${id}`
export const callChain = (prefix: Prefix): string => `call${chainKey(prefix)}`
export const prefixMap = (family: Family): string => `prefixes${family}`

/** Such as `4_cb007100_24`: names of chains have no dots and colons. */
function chainKey(prefix: Prefix): string {
  const { family, length, w0, w1, w2, w3 } = prefixBits(prefix)
  const words = family === 4 ? [w0] : [w0, w1, w2, w3]
  return `${family}_${words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')}_${length}`
}

/** Undefined for a chain of another purpose. */
export function prefixOfChain(name: string): Prefix | undefined {
  const parts = /^(?:list|call)([46])_([0-9a-f]{8}|[0-9a-f]{32})_(\d{1,3})$/.exec(name)
  if (!parts) return undefined
  const family = Number(parts[1]) as Family
  const words = parts[2]!.match(/.{8}/g)!.map((word) => Number.parseInt(word, 16) | 0)
  if (words.length !== (family === 4 ? 1 : 4)) return undefined
  const [w0, w1 = 0, w2 = 0, w3 = 0] = words as [number, ...number[]]
  return `${formatBits({ family, length: widthOf(family), w0, w1, w2, w3 })}/${parts[3]}` as Prefix
}

/** Undefined for a chain of another purpose. */
export function guardOfChain(name: string): RuleId | undefined {
  const id = /^first(\d+)$/.exec(name)?.[1]
  return id === undefined ? undefined : Number(id)
}
