// Ports of a team: the ports of its services now. The platform file writes them.
import type { getPortRoute, listPortsRoute, PortInfo, Port as Wire } from '@pharos/contract/inventory/port'
import type { QueryOf } from '@pharos/contract/route'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import type { AttachmentDeps } from '../attachment/attachment.ts'
import { listBgpSessions } from '../bgp/sessions.ts'
import { listCrossConnects } from '../cross-connect/cross-connect.ts'
import { presentWarnings } from '../optics/lane-warnings.ts'
import { presentReading, presentTransceiver } from '../optics/present-transceiver.ts'
import { listTransceiverRows, type TransceiverRow } from '../optics/transceiver.store.ts'
import { getPortUsage } from '../usage/usage.ts'
import { listPortLog } from './port-log.store.ts'
import { findPort, listPortRows, type PortRow } from './port.store.ts'

export type PortDeps = AttachmentDeps

/** All parts that `include` adds; a port has few. */
const whole = { ordering: 'name', limit: 1000, offset: 0 } as const

/** Returns a page of the ports of the actor's team and the exact count, from one snapshot. */
export async function listPorts(
  { postgres }: PortDeps,
  { actor }: Operation,
  query: QueryOf<typeof listPortsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { include, ...filters } = query
  const { page, count } = await listPortRows(postgres, actor.teamId, filters, actor.limits)
  if (include === undefined) return { results: page.map(present), count }
  const ids = page.map(({ id }) => id)
  const modules = await listTransceiverRows(postgres, actor.teamId, ids)
  return { results: page.map((row) => ({ ...present(row), ...presentOptics(modules.get(row.id)) })), count }
}

/** Returns one port of the actor's team with its ETag; throws `not_found` for any other. */
export async function getPort(
  deps: PortDeps,
  operation: Operation,
  id: number,
  { include }: QueryOf<typeof getPortRoute>,
): Promise<{ body: PortInfo; etag: string }> {
  const { postgres } = deps
  const { teamId } = operation.actor
  const row = await findPort(postgres, teamId, id)
  if (!row) throw notFound('port')
  const wanted = new Set(include?.split(','))
  const { transceiver, optics } = presentOptics((await listTransceiverRows(postgres, teamId, [id])).get(id))
  const body: PortInfo = { ...present(row), transceiver }
  const { last_poll: _poll, in_bps: _in, out_bps: _out, ...steady } = body
  const included = {
    ...(wanted.has('optics') && { optics }),
    ...(wanted.has('usage') && { usage: await getPortUsage(deps, operation, id, {}) }),
    ...(wanted.has('cross_connects') && {
      cross_connects: (await listCrossConnects(deps, operation, { port_id: [id], ...whole })).results,
    }),
    ...(wanted.has('bgp_sessions') && { bgp_sessions: await listBgpSessions(postgres, teamId, [id]) }),
    ...(wanted.has('log') && {
      log: (await listPortLog(postgres, teamId, id)).map(({ at, ...change }) => ({
        at: at.toISOString(),
        ...change,
      })),
    }),
  }
  return { body: { ...body, ...included }, etag: etagOf(steady, include && included) }
}

const presentOptics = (
  module: TransceiverRow | undefined,
): Required<Pick<Wire, 'transceiver' | 'optics'>> => ({
  transceiver: module ? presentTransceiver(module) : null,
  optics: module
    ? { latest: presentReading(module.gauges), warnings: presentWarnings(module.warnings) }
    : null,
})

const present = ({ seen, last_change, rates, ...row }: PortRow): Wire => ({
  ...row,
  ...rates,
  last_change: last_change && last_change.toISOString(),
  last_poll: seen && seen.toISOString(),
})
