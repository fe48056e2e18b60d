// Reads zones: one, or a page with filters.
import type { getZoneRoute, listZonesRoute, Zone as Wire } from '@pharos/contract/dns/zone'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { parseZoneRef } from './find-zone.ts'
import { needsAll, parseZoneInclude, presentZone, zoneEtag } from './present-zone.ts'
import { parseNameAt, parseZoneNameAt } from './zone-name.ts'
import { findShownZone, listZoneRows, readDefaultsInTeam } from './zone.store.ts'

export type ReadZoneDeps = { readonly postgres: Postgres }

/** Returns a page of the zones of the actor's team and the exact count, from one snapshot. */
export async function listZones(
  { postgres }: ReadZoneDeps,
  { actor }: Operation,
  query: QueryOf<typeof listZonesRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const include = parseZoneInclude(query.include)
  const names = query.name?.map((text) => parseZoneNameAt(['query', 'name'], text))
  const qname =
    query.owns_qname === undefined ? undefined : parseNameAt(['query', 'owns_qname'], query.owns_qname)
  const [{ page, count }, defaults] = await Promise.all([
    listZoneRows(postgres, actor.teamId, query, names, qname, needsAll(include), actor.limits),
    readDefaultsInTeam(postgres, actor.teamId),
  ])
  return { results: page.map((zone) => presentZone(zone, defaults, include)), count }
}

/** Returns one zone of the actor's team with its ETag; throws `not_found` for any other. */
export async function getZone(
  { postgres }: ReadZoneDeps,
  { actor }: Operation,
  text: string,
  { include: included, deleted = false }: Partial<QueryOf<typeof getZoneRoute>> = {},
): Promise<{ body: Wire; etag: string }> {
  const include = parseZoneInclude(included)
  const [zone, defaults] = await Promise.all([
    findShownZone(postgres, actor.teamId, parseZoneRef(text), deleted),
    readDefaultsInTeam(postgres, actor.teamId),
  ])
  if (!zone) throw notFound('zone')
  const body = presentZone(zone, defaults, include)
  return { body, etag: zoneEtag(zone, body) }
}
