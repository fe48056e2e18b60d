// How far a route of a region gets, for staff: shown by a router, its best path, or received by neighbors. Reads the last checks.
import type { RegionEvidence } from '@pharos/contract/byoip'
import type { RegionReason } from '@pharos/contract/region-reason'
import type { Db, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { RegionState } from '../status/announcement.ts'
import { hearingOf, type HeardBy } from './evidence.ts'
import { readAllRegionRows, type RouterRow } from './router.store.ts'

type RegionRoute = {
  readonly slug: string
  readonly prefix: Prefix
  readonly state: RegionState
  readonly reason: RegionReason | null
  /** The last changes of the desired state, oldest first. */
  readonly changes: readonly Date[]
}

export type EvidenceReader = (route: RegionRoute) => RegionEvidence | null

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

/** A drained router announces nothing, and one that was never read has no ASN. */
function hearingOfRow({ drained, asn, neighbors, checks }: RouterRow) {
  if (drained !== null || asn === null) return []
  return [hearingOf(neighbors, asn, checks)]
}
