// Reads record sets: one, or a page with filters.
import type { listRecordSetsRoute, RecordSet as Wire } from '@pharos/contract/dns/recordset'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { NameError, parseName, type DomainName } from '../../net/dns/name.ts'
import { findType, recordType } from '../../net/dns/type.ts'
import { admitsSet } from '../../limit/zone-limit.ts'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import { readAliasStates } from '../alias/alias.store.ts'
import { presentAlias } from '../alias/present-alias.ts'
import { getZoneOf } from '../zone/find-zone.ts'
import { zoneLimitOf } from '../zone/limit.ts'
import { presentSet, type ZoneIncludeQuery } from '../zone/present-zone.ts'
import { parseNameAt } from '../zone/zone-name.ts'
import type { StoredSet } from '../zone/zone-change.ts'
import type { Zone } from '../zone/zone.ts'
import { findSet, listSetRows } from './recordset.store.ts'

export type ReadRecordSetDeps = { readonly postgres: Postgres }

/** Returns a page of the record sets of a zone and the exact count, from one snapshot. */
export async function listRecordSets(
  { postgres }: ReadRecordSetDeps,
  { actor }: Operation,
  text: string,
  query: QueryOf<typeof listRecordSetsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const names = query.name?.map((name) => parseNameAt(['query', 'name'], name, zone.name))
  const types = query.type?.map(requireType)
  const { page, count } = await listSetRows(
    postgres,
    actor.teamId,
    zone,
    query,
    names,
    types,
    zoneLimitOf(actor.limits, zone),
  )
  const present = await presenter(postgres, actor.teamId, zone, page, query)
  return { results: page.map(present), count }
}

/** Returns how the sets are presented, with the parts of `include`. */
async function presenter(
  postgres: Postgres,
  teamId: number,
  zone: Zone,
  sets: readonly StoredSet[],
  { include = '' }: ZoneIncludeQuery,
): Promise<(set: StoredSet) => Wire> {
  const names = include.split(',')
  const withSource = names.includes('source')
  const isAlias = ({ type }: StoredSet): boolean => type === recordType.ALIAS
  const aliases = names.includes('alias') ? sets.filter(isAlias).map(({ name }) => name) : []
  if (aliases.length === 0) return (set) => presentSet(zone, set, withSource)
  const states = await readAliasStates(postgres, teamId, zone.id, aliases)
  return (set) => ({
    ...presentSet(zone, set, withSource),
    ...(isAlias(set) ? { alias: presentAlias(states.get(set.name)) } : {}),
  })
}

function requireType(text: string): number {
  const type = findType(text)
  if (type === undefined) throw invalid(['query', 'type'], 'recordType')
  return type
}

/** Returns one record set with its ETag; throws `not_found`. */
export async function getRecordSet(
  { postgres }: ReadRecordSetDeps,
  { actor }: Operation,
  text: string,
  nameText: string,
  typeText: string,
  query: ZoneIncludeQuery = {},
): Promise<{ body: Wire; etag: string }> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const limit = zoneLimitOf(actor.limits, zone)
  const { name, type } = findSetId(zone, nameText, typeText)
  if (limit && !admitsSet(limit, { name, type })) throw notFound('record set')
  const set = await findSet(postgres, actor.teamId, zone, name, type)
  if (!set) throw notFound('record set')
  const body = (await presenter(postgres, actor.teamId, zone, [set], query))(set)
  return { body, etag: setEtag(body) }
}

/** Parses name and type of a path. Throws `not_found` if no record set can have them. */
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
