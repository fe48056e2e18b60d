// Ports as a team sees them: those that belong to its services now. The platform file writes them.
import type { listPortsRoute, Port as Wire } from '@pharos/contract/port'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { findPort, listPortRows, type PortRow } from './port.store.ts'

export type PortDeps = { readonly postgres: Postgres }

/** Returns a page of the ports of the actor's team and the exact count, from one snapshot. */
export async function listPorts(
  { postgres }: PortDeps,
  { actor }: Operation,
  query: QueryOf<typeof listPortsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listPortRows(postgres, actor.teamId, query)
  return { results: page.map(present), count }
}

/** Returns one port of the actor's team with its ETag; throws `not_found` for any other. */
export async function getPort(
  { postgres }: PortDeps,
  { actor }: Operation,
  id: number,
): Promise<{ body: Wire; etag: string }> {
  const row = await findPort(postgres, actor.teamId, id)
  if (!row) throw notFound('port')
  const body = present(row)
  const { last_poll: _poll, ...steady } = body
  return { body, etag: etagOf(steady) }
}

const present = ({ seen, last_change, ...row }: PortRow): Wire => ({
  ...row,
  last_change: last_change && last_change.toISOString(),
  last_poll: seen && seen.toISOString(),
})
