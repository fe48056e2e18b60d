// The prefixes that an ASN may originate according to ROAs. The table of ROAs is ordered by prefix, so each search visits all
// of it. One search at a time serves all callers that wait, so that their number does not add to the work.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { RoaTable } from './objects/roa-table.ts'
import { vrpPrefix } from './objects/vrp.ts'

/** VRPs visited in one turn of the event loop: 5 ms at most. */
const sliceSize = 5_000
/** Per ASN. */
const prefixesMax = 1_000

type Found = Map<Asn, Set<Prefix>>

/** Returns a search that resolves to the prefixes of an ASN in the table, at most 1,000, in any order. */
export function createOriginSearch(): (table: RoaTable, asn: Asn) => Promise<readonly Prefix[]> {
  let next: { readonly found: Found; readonly done: Promise<void> } | undefined
  let last: Promise<void> = Promise.resolve()
  return async (table, asn) => {
    if (!next) {
      const found: Found = new Map()
      const done = last.then(() => {
        next = undefined
        return search(table, found)
      })
      last = done.catch(() => {})
      next = { found, done }
    }
    const { found, done } = next
    const prefixes = found.get(asn) ?? new Set()
    found.set(asn, prefixes)
    await done
    return [...prefixes]
  }
}

async function search(table: RoaTable, found: Found): Promise<void> {
  for (let place = 0, first = true; first || place !== 0; first = false) {
    place = table.scan(place, sliceSize, (vrp) => {
      const prefixes = found.get(vrp.asn as Asn)
      if (prefixes && prefixes.size < prefixesMax) prefixes.add(vrpPrefix(vrp))
    })
    await nextTurn()
  }
}
