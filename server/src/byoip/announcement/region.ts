// The regions where teams may announce, as the API lists them. How a region's router is reached is not shown to anyone.
import type { Region as Wire } from '@pharos/contract/byoip'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../runtime/operation.ts'
import { parseOrdering } from '../../runtime/ordering.ts'
import { listOpenRegions, type RegionOrderingKey, type RegionRow } from './region.store.ts'

export type RegionQuery = { readonly ordering: string; readonly limit: number; readonly offset: number }

/** A page of the regions open to the actor's team, and the exact count, from one snapshot. */
export async function listRegions(
  { postgres }: { readonly postgres: Postgres },
  { actor }: Operation,
  query: RegionQuery,
): Promise<{ results: Wire[]; count: number }> {
  const order = parseOrdering<RegionOrderingKey>(query.ordering)
  const { page, count } = await listOpenRegions(postgres, actor.teamId, order, query)
  return { results: page.map(presentRegion), count }
}

function presentRegion(region: RegionRow): Wire {
  return { ...region, last_check: region.last_check?.toISOString() ?? null }
}
