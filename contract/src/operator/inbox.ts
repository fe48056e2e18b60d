// The inbox of the provider's staff: everything that waits for a decision or a step of the provider, of all kinds.
import { Type, type Static } from 'typebox'
import { FormerRouter } from '../byoip/former-router.ts'
import { ReviewedLetter } from '../byoip/letter.ts'
import { AsnOfTeam } from '../inventory/asn.ts'
import { StaffCrossConnect } from '../inventory/cross-connect.ts'
import { approvalAreas } from '../reason/approval-reason.ts'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  TeamReference,
  Time,
} from '../scalar.ts'
import { Approval, type ApprovalItem } from './approval.ts'
import { StaffBill } from './bill.ts'
import { Restore } from './restore.ts'

/** A new state that waits for the provider is a new kind: the server and the portal do not compile without it. */
export const inboxKinds = [
  ...approvalAreas,
  'letter',
  'asn',
  'cross_connect',
  'bill',
  'former_router',
  'restore',
] as const
export type InboxKind = (typeof inboxKinds)[number]

/** The key of the entry of a paused change of a route: all changes that one person asked for in one team. */
export const routeRequestKey = ({ team, requested }: Pick<ApprovalItem, 'team' | 'requested'>): string =>
  `change-${team?.id ?? 'none'}-${requested?.by ?? 'nobody'}`

/** The key of the entry of paused changes of routes that are not listed. */
export const unlistedRequestKey = 'change-empty'

const Kind = Enumeration('InboxKind', inboxKinds)

export const InboxEntry = Component('InboxEntry', {
  kind: {
    ...Kind,
    description:
      '`routes`, `dns`, `shield`, `platform`: changes that need approval; `letter`: a letter of authorization to review; `asn`: a proof that ' +
      'only staff can accept; `cross_connect`: the provider has the next step; `bill`: closed bills of which too many samples are missing; `former_router`: it cannot ' +
      'be emptied; `restore`: the database was restored, and nothing is sent',
  },
  key: Type.String({ description: 'unique, and the same while it waits' }),
  since: { ...Time, description: 'since when it waits' },
  team: Nullable({ ...TeamReference, description: 'the customer; null: several, or none' }),
  approvals: Type.Array(Approval, {
    description:
      'the approvals, without their items: of `routes` one for each region, of `dns`, `shield` and `platform` one, otherwise none',
  }),
  letter: Optional({ ...ReviewedLetter, description: 'of `letter`' }),
  asn: Optional({ ...AsnOfTeam, description: 'of `asn`' }),
  cross_connect: Optional({ ...StaffCrossConnect, description: 'of `cross_connect`' }),
  bills: Optional(Type.Array(StaffBill, { description: 'of `bill`: all of the team, the oldest first' })),
  former_router: Optional({ ...FormerRouter, description: 'of `former_router`' }),
  restore: Optional({ ...Restore, description: 'of `restore`' }),
})
export type InboxEntry = Static<typeof InboxEntry>

export const listInboxRoute = route({
  name: 'listInbox',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/inbox',
  summary: 'List what waits for the provider',
  description:
    'Everything that waits for a decision or a step of the provider, the longest waiting first by default. Changes of routes are one entry for each ' +
    'person and team that asked for them, however many regions have paused them.',
  permission: staffReading('operator.see'),
  query: Strict({
    kind: Optional(Repeatable({ ...Kind, description: 'kind of the entry' })),
    team_id: Optional(Repeatable({ ...Id, description: 'id of the team' })),
    ordering: Ordering(['since'], 'since'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(InboxEntry),
  success: 200,
})

export const inboxRoutes = [listInboxRoute]
