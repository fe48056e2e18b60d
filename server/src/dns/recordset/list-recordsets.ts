// Reads record sets: one, or a page with filters. Changes nothing.
import type { listRecordSetsRoute, RecordSet as Wire } from '@pharos/contract/dns-recordset'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { NameError, parseName, type DomainName } from '../../net/dns/name.ts'
import { findType } from '../../net/dns/type.ts'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import { getZoneOf } from '../zone/find-zone.ts'
import { presentSet, type IncludeQuery } from '../zone/present-zone.ts'
import { parseNameAt } from '../zone/zone-name.ts'
import type { Zone } from '../zone/zone.ts'
import { findSet, listSetRows } from './recordset.store.ts'

export type ReadDeps = { readonly postgres: Postgres }

/** Returns a page of the record sets of a zone and the exact count, from one snapshot. */
export async function listRecordSets(
  { postgres }: ReadDeps,
  { actor }: Operation,
  text: string,
  query: QueryOf<typeof listRecordSetsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const names = query.name?.map((name) => parseNameAt(['query', 'name'], name, zone.name))
  const types = query.type?.map(requireType)
  const { page, count } = await listSetRows(postgres, actor.teamId, zone, query, names, types)
  const withSource = query.include !== undefined
  return { results: page.map((set) => presentSet(zone, set, withSource)), count }
}

function requireType(text: string): number {
  const type = findType(text)
  if (type === undefined) throw invalid(['query', 'type'], 'recordType')
  return type
}

/** Returns one record set with its ETag; throws `not_found`. */
export async function getRecordSet(
  { postgres }: ReadDeps,
  { actor }: Operation,
  text: string,
  nameText: string,
  typeText: string,
  query: IncludeQuery = {},
): Promise<{ body: Wire; etag: string }> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const { name, type } = findSetId(zone, nameText, typeText)
  const set = await findSet(postgres, actor.teamId, zone, name, type)
  if (!set) throw notFound('record set')
  const body = presentSet(zone, set, query.include !== undefined)
  return { body, etag: setEtag(body) }
}

/** Parses name and type of a path. Throws `not_found` for those that no record set can have. */
export function findSetId(
  zone: Zone,
  nameText: string,
  typeText: string,
): { readonly name: DomainName; readonly type: number } {
  const type = findType(typeText)
  if (type === undefined) throw notFound('record set')
  try {
    return { name: parseName(nameText, zone.name), type }
  } catch (error) {
    if (error instanceof NameError) throw notFound('record set')
    throw error
  }
}

/** The fields that callers can change, in its canonical form. */
export const setEtag = ({ ttl, records, comment }: Wire): string => etagOf([ttl, records, comment])
