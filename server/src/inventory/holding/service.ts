// The services that a team has bought: list and read. The platform file writes them.
import type { QueryOf } from '@pharos/contract/route'
import type { getServiceRoute, listServicesRoute, Service as Wire } from '@pharos/contract/inventory/service'
import type { Postgres } from '../../db/postgres.ts'
import { etagOf } from '../../operation/etag.ts'
import type { Actor, Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { listBgpSessions } from '../bgp/sessions.ts'
import { findService, listServiceRows, type ServiceRow } from './service.store.ts'

export type ServiceDeps = { readonly postgres: Postgres }

/** Returns a page of the services of the actor's team and the exact count, from one snapshot. */
export async function listServices(
  { postgres }: ServiceDeps,
  { actor }: { readonly actor: Pick<Actor, 'teamId' | 'limits'> },
  query: QueryOf<typeof listServicesRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listServiceRows(postgres, actor.teamId, query, actor.limits)
  return { results: page.map(present), count }
}

/** Returns one service of the actor's team with its ETag; throws `not_found` for any other. */
export async function getService(
  { postgres }: ServiceDeps,
  { actor }: Operation,
  id: number,
  { include }: QueryOf<typeof getServiceRoute>,
): Promise<{ body: Wire; etag: string }> {
  const row = await findService(postgres, actor.teamId, id)
  if (!row) throw notFound('service')
  const body = present(row)
  const included = include !== undefined && {
    bgp_sessions: await listBgpSessions(postgres, actor.teamId, row.port_ids),
  }
  return { body: { ...body, ...included }, etag: etagOf(body, included || undefined) }
}

/** The state of a service is set by hand: it has no messages. */
const present = (row: ServiceRow): Wire => ({ ...row, state_messages: [] })
