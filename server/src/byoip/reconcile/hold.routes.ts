// The HTTP side of holds: one line per operation.
import { approveHoldRoute, getHoldRoute, listHoldsRoute, rejectHoldRoute } from '@pharos/contract/hold'
import { handle, type Mounted } from '../../http/mount.ts'
import { decide, getHold, listHolds, type HoldDeps } from './hold.ts'

export function holdRoutes(deps: HoldDeps): Mounted[] {
  return [
    handle(listHoldsRoute, async (_operation, { query }) => {
      const body = await listHolds(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getHoldRoute, async (_operation, { params }) => ({ body: await getHold(deps, params.hold_id) })),
    handle(approveHoldRoute, async (operation, { params }) => {
      return { body: await decide(deps, operation, params.hold_id, 'approved') }
    }),
    handle(rejectHoldRoute, async (operation, { params }) => {
      return { body: await decide(deps, operation, params.hold_id, 'rejected') }
    }),
  ]
}
