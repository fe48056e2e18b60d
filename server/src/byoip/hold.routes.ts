// The HTTP side of holds: one line per operation.
import { approveHold, getHold as getRoute, listHolds as listRoute, rejectHold } from '@pharos/contract/byoip'
import { handle, type Mounted } from '../http/mount.ts'
import { decide, getHold, listHolds, type HoldDeps, type HoldQuery } from './hold.ts'

export function holdRoutes(deps: HoldDeps): Mounted[] {
  return [
    handle(listRoute, async (_operation, { query }) => {
      // The contract checks the words of closed lists; its type for them is only string.
      const body = await listHolds(deps, query as HoldQuery)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getRoute, async (_operation, { params }) => ({ body: await getHold(deps, params.hold_id) })),
    handle(approveHold, async (operation, { params }) => {
      return { body: await decide(deps, operation, params.hold_id, 'approved') }
    }),
    handle(rejectHold, async (operation, { params }) => {
      return { body: await decide(deps, operation, params.hold_id, 'rejected') }
    }),
  ]
}
