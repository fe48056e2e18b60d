// Which prefixes an ASN may originate, as ROAs say. The table of ROAs is kept by prefix, so the answer is a walk through
// all of it: 60 ms for 700,000, in pieces. One walk at a time answers everybody who asks meanwhile, so that however many
// ask, the process has time for others.
import { setImmediate as breathe } from 'node:timers/promises'
import type { CurrentVrps } from './rpki.ts'
import type { OriginSource } from '../inventory/asn-proof-sources.ts'
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import { vrpPrefix, type RoaTable } from './data/roa-table.ts'

/** Prefixes visited without yielding: 5 ms at most. */
const pieceSize = 5_000
/** Of one ASN. More are never named. */
const prefixesMax = 1_000

type Asked = Map<Asn, Set<Prefix>>

/** `current` gives the ROAs to go by, or undefined while there are none. */
export function createOriginSource(current: () => CurrentVrps | undefined): OriginSource {
  let next: { readonly asked: Asked; readonly done: Promise<void> } | undefined
  let last: Promise<void> = Promise.resolve()

  const ask = (asn: Asn, table: RoaTable) => {
    if (!next) {
      const asked: Asked = new Map()
      const done = last.then(() => {
        next = undefined
        return walk(table, asked)
      })
      last = done.catch(() => {})
      next = { asked, done }
    }
    const { asked, done } = next
    const found = asked.get(asn) ?? new Set()
    asked.set(asn, found)
    return done.then(() => [...found])
  }

  return {
    async originsOf(asn) {
      const vrps = current()
      if (!vrps) return { state: 'unavailable', reason: 'no RPKI source is current' }
      return { state: 'found', prefixes: await ask(asn, vrps.table) }
    },
  }
}

async function walk(table: RoaTable, asked: Asked): Promise<void> {
  for (let place = 0, first = true; first || place !== 0; first = false) {
    place = table.scan(place, pieceSize, (vrp) => {
      const found = asked.get(vrp.asn as Asn)
      if (found && found.size < prefixesMax) found.add(vrpPrefix(vrp))
    })
    await breathe()
  }
}
