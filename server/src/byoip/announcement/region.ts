// The regions where teams may announce, as the API lists them. The settings of their routers are never shown.
import type { listRegionsRoute, Region as Wire } from '@pharos/contract/byoip/announcement'
import { invalid } from '../../runtime/error.ts'
import { nearestName } from '../../text/did-you-mean.ts'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { listOpenRegions, type RegionRow } from './region.store.ts'

/** Returns a page of the regions open to the actor's team, and the exact count, from one snapshot. */
export async function listRegions(
  { postgres }: { readonly postgres: Postgres },
  { actor }: Operation,
  query: QueryOf<typeof listRegionsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listOpenRegions(postgres, actor.teamId, query)
  return { results: page.map(presentRegion), count }
}

function presentRegion(region: RegionRow): Wire {
  return { ...region, last_check: region.last_check?.toISOString() ?? null }
}

/** Returns the attributes of the error for an unknown slug: the valid slugs, and the most similar one. */
export function unknownRegion(slug: string, valid: readonly string[]) {
  const suggestion = nearestName(slug, valid)
  return { valid, ...(suggestion === undefined ? {} : { suggestion }) }
}

/** Throws 422 with the known slugs if a filter has an unknown one. */
export function requireRegions(slugs: readonly string[], valid: readonly string[]): void {
  const unknown = slugs.find((slug) => !valid.includes(slug))
  if (unknown !== undefined) throw invalid(['query', 'region'], 'region', unknownRegion(unknown, valid))
}
