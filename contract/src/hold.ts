// Holds: withdrawals that wait for a decision of the operator's staff.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  OneOf,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from './scalar.ts'

export const holdStates = ['open', 'approved', 'rejected', 'closed'] as const
export type HoldState = (typeof holdStates)[number]

export const Hold = Strict({
  id: Id,
  region: Type.String({ description: 'region slug' }),
  reason: Type.String(),
  detail: Type.String(),
  withdrawals: Type.Array(Type.String(), { description: 'what would be withdrawn, as CIDR' }),
  state: OneOf(...holdStates),
  created: Time,
  decided: NullableTime,
  decided_by: Nullable(Id),
})
export type Hold = Static<typeof Hold>

const staff = { credential: 'web', role: 'staff' } as const

export const listHolds = route({
  name: 'listHolds',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/holds',
  summary: 'List holds',
  description:
    'Withdrawals that the reconciler does not send without a human: too many at once, or routes without a row that ' +
    'says "not here". Newest first unless ordered otherwise.',
  permission: staff,
  query: Strict({
    region: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 255 }))),
    state: Optional(Repeatable(OneOf(...holdStates))),
    ordering: Ordering(['id', 'created'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Hold),
  success: 200,
})

export const getHold = route({
  name: 'getHold',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/holds/{hold_id}',
  summary: 'Get hold',
  description: 'One hold.',
  permission: staff,
  params: Strict({ hold_id: Id }),
  response: Hold,
  success: 200,
})

export const approveHold = route({
  name: 'approveHold',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/holds/{hold_id}/approve',
  summary: 'Approve hold',
  description:
    'Lets the named withdrawals go out, and no others, for a bounded time. A hold whose list has changed since is ' +
    'closed and replaced by another: approving it is a 409. Approving twice changes nothing.',
  permission: staff,
  params: Strict({ hold_id: Id }),
  response: Hold,
  success: 200,
  errors: ['conflict'],
})

export const rejectHold = route({
  name: 'rejectHold',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/holds/{hold_id}/reject',
  summary: 'Reject hold',
  description:
    'Keeps the named routes announced, and does not ask about them again for a day, unless they are switched anew. ' +
    'Rejecting twice changes nothing.',
  permission: staff,
  params: Strict({ hold_id: Id }),
  response: Hold,
  success: 200,
  errors: ['conflict'],
})

export const holdRoutes = [listHolds, getHold, approveHold, rejectHold]
