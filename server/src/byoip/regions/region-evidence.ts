// How far a route of a region gets, for staff: shown by a router, its best path, or received by neighbors. Reads the last checks.
import type { Db, Trx } from '../../db/postgres.ts'
import type { EvidenceReader } from '../announcement/present-announcement.ts'
import { hearingOf, type HeardBy } from './evidence.ts'
import { readAllRegionRows, type RouterRow } from './router.store.ts'

/** Returns the evidence of routes from one reading of all regions; null for a route that no router is known to show. */
export async function readEvidence(db: Db | Trx): Promise<EvidenceReader> {
  const rows = await readAllRegionRows(db)
  const regions = new Map(rows.map(({ slug, routers }) => [slug, routers.flatMap(hearingOfRow)]))
  return ({ slug, prefix, state, reason, changes }) => {
    if (reason === 'not_best') return { level: 'rib', ...none }
    if (state !== 'announced' && reason !== 'not_advertised') return null
    const sinceMs = changes.at(-1)?.getTime() ?? null
    const all = (regions.get(slug) ?? []).map(({ heardBy }) => heardBy(prefix, sinceMs))
    const sum = all.reduce(add, none)
    return { level: sum.heard > 0 ? 'advertised' : 'best', ...sum }
  }
}

const none: HeardBy = { heard: 0, neighbors: 0, unchecked: 0 }

const add = (a: HeardBy, b: HeardBy): HeardBy => ({
  heard: a.heard + b.heard,
  neighbors: a.neighbors + b.neighbors,
  unchecked: a.unchecked + b.unchecked,
})

/** A drained router has no announcements, and a router that was never read has no ASN. */
function hearingOfRow({ drained, asn, neighbors, checks }: RouterRow) {
  if (drained !== null || asn === null) return []
  return [hearingOf(neighbors, asn, checks)]
}
