// Which teams hold an address: the ownership as typed arrays, for hundreds of thousands of look-ups a second. It is built beside the
// old one when the ownership changes, and immutable. It must not depend on the database: it also runs in a thread.
import { coveringRow, createTable, endOf, lastRow, parentRow, rowStart } from '../net/prefix-table.ts'
import { prefixBits } from '../net/prefix.ts'
import type { PrefixTable } from '../net/prefix-table.ts'
import type { Holding } from '../inventory/holding/holding.ts'

/** Holdings as columns, which pass to a thread without objects. `prefixIds` has 0 for announcements. */
export type HoldingColumns = {
  readonly revision: number
  readonly families: Uint8Array
  /** Four for each holding. */
  readonly words: Uint32Array
  readonly lengths: Uint8Array
  readonly teamIds: Uint32Array
  readonly prefixIds: Uint32Array
}

/**
 * The owners of an address are list `find(...)`: entries `starts[list]` up to `starts[list + 1]` of `teamIds` and
 * `prefixIds`, one per team, the most specific prefix first. List 0 is empty.
 */
export type FlowOwners = {
  readonly revision: number
  readonly starts: Uint32Array
  readonly teamIds: Uint32Array
  /** The most specific prefix of the team that covers the address; 0 if the team only announces it. */
  readonly prefixIds: Uint32Array
  /** By list: its most specific prefix, which differs for each list, as four words, IPv4 as ::ffff:a.b.c.d. */
  readonly words: Uint32Array
  /** Its length: up to 32 for IPv4. */
  readonly lengths: Uint8Array
  /** The list of the next less specific prefix; 0 without one. */
  readonly parents: Uint32Array
  /** The list of an address of four words, IPv4 as ::ffff:a.b.c.d. */
  find(w0: number, w1: number, w2: number, w3: number): number
}

export function toHoldingColumns(
  revision: number,
  holdings: readonly Pick<Holding, 'prefix' | 'teamId' | 'resource' | 'id'>[],
): HoldingColumns {
  const size = holdings.length
  const columns = {
    revision,
    families: new Uint8Array(size),
    words: new Uint32Array(size * 4),
    lengths: new Uint8Array(size),
    teamIds: new Uint32Array(size),
    prefixIds: new Uint32Array(size),
  }
  holdings.forEach(({ prefix, teamId, resource, id }, at) => {
    const { family, length, w0, w1, w2, w3 } = prefixBits(prefix)
    columns.families[at] = family
    columns.words.set([w0, w1, w2, w3], at * 4)
    columns.lengths[at] = length
    columns.teamIds[at] = teamId
    columns.prefixIds[at] = resource === 'prefix' ? id : 0
  })
  return columns
}

export const noHoldings: HoldingColumns = toHoldingColumns(-1, [])

/** IPv4 networks of 24 bits: each is a list, or the complement of a page for its addresses. */
const networks24 = 2 ** 24

export function createFlowOwners(holdings: HoldingColumns): FlowOwners {
  const lists = createLists()
  const ipv4 = createSide(holdings, 4, lists)
  const ipv6 = createSide(holdings, 6, lists)
  // Pages that are never written to take no memory.
  const table = new Int32Array(networks24)
  const pages: Int32Array[] = []
  fillTable(ipv4, table, pages)
  const held16 = heldOf(ipv4)
  const key = { w0: 0, w1: 0, w2: 0, w3: 0, length: 128 }
  return {
    revision: holdings.revision,
    starts: Uint32Array.from(lists.starts),
    teamIds: Uint32Array.from(lists.teamIds),
    prefixIds: Uint32Array.from(lists.prefixIds),
    words: Uint32Array.from(lists.words),
    lengths: Uint8Array.from(lists.lengths),
    parents: Uint32Array.from(lists.parents),
    find(w0, w1, w2, w3) {
      if (w0 === 0 && w1 === 0 && w2 === 0xffff) {
        if (held16[w3 >>> 16] === 0) return 0
        const list = table[w3 >>> 8]!
        return list >= 0 ? list : pages[~list]![w3 & 255]!
      }
      if (ipv6.table.w0.length === 0) return 0
      key.w0 = w0
      key.w1 = w1
      key.w2 = w2
      key.w3 = w3
      const row = coveringRow(ipv6.table, lastRow(ipv6.table, key), key)
      return row < 0 ? 0 : ipv6.firstList + row
    },
  }
}

type Lists = {
  readonly starts: number[]
  readonly teamIds: number[]
  readonly prefixIds: number[]
  readonly words: number[]
  readonly lengths: number[]
  readonly parents: number[]
}

const createLists = (): Lists => ({
  starts: [0, 0],
  teamIds: [],
  prefixIds: [],
  words: [0, 0, 0, 0],
  lengths: [0],
  parents: [0],
})

/** The list of row r is `firstList + r`. */
type Side = { readonly table: PrefixTable; readonly lengths: Uint8Array; readonly firstList: number }

function createSide(
  { families, words, lengths, teamIds, prefixIds }: HoldingColumns,
  family: number,
  lists: Lists,
): Side {
  const places: number[] = []
  const columns = { w0: [], w1: [], w2: [], w3: [], lengths: [] } as Record<
    'w0' | 'w1' | 'w2' | 'w3' | 'lengths',
    number[]
  >
  for (let at = 0; at < families.length; at++) {
    if (families[at] !== family) continue
    places.push(at)
    columns.w0.push(words[at * 4]!)
    columns.w1.push(words[at * 4 + 1]!)
    columns.w2.push(words[at * 4 + 2]!)
    columns.w3.push(words[at * 4 + 3]!)
    columns.lengths.push(lengths[at]!)
  }
  const { table, order } = createTable(columns)
  const rows = table.w0.length
  const rowLengths = new Uint8Array(rows)
  const firstList = lists.starts.length - 1
  for (let row = 0; row < rows; row++) {
    const holders = new Map<number, number>()
    for (let above = row; above >= 0; above = parentRow(table, above)) {
      for (let i = rowStart(table, above); i < endOf(table, above); i++) {
        const place = places[order[i]!]!
        if (above === row) rowLengths[row] = lengths[place]!
        // The team stays where its most specific holding put it.
        if (!holders.get(teamIds[place]!)) holders.set(teamIds[place]!, prefixIds[place]!)
      }
    }
    for (const [teamId, prefixId] of holders) {
      lists.teamIds.push(teamId)
      lists.prefixIds.push(prefixId)
    }
    lists.starts.push(lists.teamIds.length)
    const [w0, w1, w2, w3] = [table.w0[row]!, table.w1[row]!, table.w2[row]!, table.w3[row]!]
    lists.words.push(...(family === 4 ? [0, 0, 0xff_ff, w0] : [w0, w1, w2, w3]))
    lists.lengths.push(rowLengths[row]!)
    const parent = parentRow(table, row)
    lists.parents.push(parent < 0 ? 0 : firstList + parent)
  }
  return { table, lengths: rowLengths, firstList }
}

/**
 * By the first 16 bits, whether a team has any prefix there. Most ends of flows are outside: this array stays in the
 * cache, the table of 64 MB does not.
 */
function heldOf({ table, lengths }: Side): Uint8Array {
  const held = new Uint8Array(2 ** 16)
  for (let row = 0; row < table.w0.length; row++) {
    const first = table.w0[row]! >>> 16
    held.fill(1, first, first + 2 ** Math.max(0, 16 - lengths[row]!))
  }
  return held
}

/** In row order a prefix comes after all that cover it, and so replaces their lists. */
function fillTable({ table, lengths, firstList }: Side, networks: Int32Array, pages: Int32Array[]): void {
  for (let row = 0; row < table.w0.length; row++) {
    const [start, length, list] = [table.w0[row]!, lengths[row]!, firstList + row]
    if (length <= 24) {
      networks.fill(list, start >>> 8, (start >>> 8) + 2 ** (24 - length))
      continue
    }
    const network = start >>> 8
    if (networks[network]! >= 0) {
      pages.push(new Int32Array(256).fill(networks[network]!))
      networks[network] = ~(pages.length - 1)
    }
    pages[~networks[network]!]!.fill(list, start & 255, (start & 255) + 2 ** (32 - length))
  }
}
