// Cross connects of all teams for staff: list, and move to another state.
import {
  crossConnectStates,
  type CrossConnectStatus,
  type listStaffCrossConnectsRoute,
  type StaffCrossConnect as Wire,
} from '@pharos/contract/inventory/cross-connect'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { actorName, type StaffOperation } from '../../operation/operation.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { fail, notFound } from '../../runtime/error.ts'
import type { AttachmentDeps } from '../attachment/attachment.ts'
import { presentCrossConnect } from './cross-connect.ts'
import {
  listAllCrossConnectRows,
  lockCrossConnect,
  readCrossConnect,
  saveMove,
  saveProviderRef,
  type CrossConnectRow,
} from './cross-connect.store.ts'

export async function listStaffCrossConnects(
  deps: AttachmentDeps,
  _operation: unknown,
  query: QueryOf<typeof listStaffCrossConnectsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listAllCrossConnectRows(deps.db, query)
  return { results: page.map((row) => presentForStaff(deps, row)), count }
}

type Wanted = { readonly status: CrossConnectStatus; readonly note?: string; readonly provider_ref?: string }

/** Throws `conflict` for a state that does not follow the current one. Repeating a move has no effect. */
export function moveCrossConnect(
  deps: AttachmentDeps,
  operation: StaffOperation,
  id: number,
  { status, note = '', provider_ref: providerRef }: Wanted,
): Promise<ChangeAnswer<Wire>> {
  return runOwnerChange(deps.db, operation, async (trx) => {
    await lockCrossConnect(trx, id)
    const before = await readCrossConnect(trx, id)
    if (!before) throw notFound('cross connect')
    const { next } = crossConnectStates[before.status]
    const isMoved = status !== before.status
    if (isMoved && !next.includes(status))
      throw fail('conflict', 'crossConnectMove', { status: before.status, states: next })
    if (providerRef !== undefined) await saveProviderRef(trx, id, providerRef)
    if (isMoved) {
      const move = { id, teamId: before.team_id, before: before.status, after: status, note }
      await saveMove(trx, { ...move, actor: actorName(operation.actor) })
      const { name, circuit_id, service_id } = before
      const data = {
        cross_connect_id: id,
        name,
        circuit_id,
        service_id,
        before: before.status,
        after: status,
        note,
      }
      await writeMessages(trx, [
        {
          teamId: before.team_id,
          type: 'cross_connect.status_changed',
          data: { ...data, at: deps.now().toISOString() },
        },
      ])
    }
    if (isMoved || (providerRef !== undefined && providerRef !== before.provider_ref))
      await writeAudit(trx, {
        ...auditOf(operation),
        teamId: before.team_id,
        action: 'cross_connect.move',
        target: `cross_connect:${id}`,
        before: { status: before.status, provider_ref: before.provider_ref },
        after: { status, provider_ref: providerRef ?? before.provider_ref, ...(note === '' ? {} : { note }) },
      })
    return { body: presentForStaff(deps, (await readCrossConnect(trx, id))!) }
  })
}

const presentForStaff = (deps: AttachmentDeps, row: CrossConnectRow): Wire => ({
  ...presentCrossConnect(deps, row),
  team: { id: row.team_id, name: row.team_name },
  waiting_since: row.waits_for === 'nobody' ? null : row.waiting_since.toISOString(),
  next: [...crossConnectStates[row.status].next],
})
