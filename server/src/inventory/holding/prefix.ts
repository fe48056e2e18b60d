// The prefixes that the provider has assigned to a team: list and read.
import type { listPrefixesRoute, Prefix as Wire } from '@pharos/contract/inventory/prefix'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { parsePrefix, prefixParts } from '../../net/prefix.ts'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound, parsePrefixAt } from '../../runtime/error.ts'
import { findPrefix, listPrefixRows, type PrefixRow } from './prefix.store.ts'

export type PrefixDeps = { readonly postgres: Postgres }

/** Returns a page of the prefixes of the actor's team and the exact count, from one snapshot. */
export async function listPrefixes(
  { postgres }: PrefixDeps,
  { actor }: Operation,
  query: QueryOf<typeof listPrefixesRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const overlapped = query.cidr?.map((text) => parsePrefixAt(['query', 'cidr'], text))
  const { page, count } = await listPrefixRows(postgres, actor.teamId, query, overlapped, actor.limits)
  return { results: page.map(present), count }
}

/** Returns one prefix of the actor's team with its ETag; throws `not_found` for any other. */
export async function getPrefix(
  { postgres }: PrefixDeps,
  { actor }: Operation,
  id: number,
): Promise<{ body: Wire; etag: string }> {
  const row = await findPrefix(postgres, actor.teamId, id)
  if (!row) throw notFound('prefix')
  const body = present(row)
  return { body, etag: etagOf(body) }
}

function present({ id, prefix, name, location, created }: PrefixRow): Wire {
  // PostgreSQL formats some IPv6 prefixes differently from RFC 5952.
  const cidr = parsePrefix(prefix)
  const { address, length } = prefixParts(cidr)
  return { id, cidr, prefix: address, prefixlen: length, name, location, created: created.toISOString() }
}
