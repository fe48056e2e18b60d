// Holds: withdrawals and changed routes that wait for a decision of the operator's staff.
import { counted } from './counted.ts'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route, staffChanging, staffReading } from './route.ts'
import {
  Actor,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
  Component,
  Enumeration,
  TeamReference,
} from './scalar.ts'

export const holdStates = ['open', 'approved', 'rejected', 'closed'] as const
export type HoldState = (typeof holdStates)[number]

type Attrs = Readonly<Record<string, unknown>>

/** Reasons why changes of a region wait for staff: codes with the sentence shown for each. */
const reasonTexts = {
  too_many_withdrawals: ({ max, team_max, minutes, recent }) =>
    `More withdrawals than allowed: at most ${n(max)} prefixes of the region and ${n(team_max)} of one team in ` +
    `${n(minutes)} minutes; ${counted(recent, 'was', 'were')} withdrawn before.`,
  too_many_changes: ({ max }) =>
    `The origin, next hop or communities of more than ${n(max)} routes would change at once.`,
  reserved_communities: ({ communities }) =>
    `Routes would get reserved communities, with which neighbors may keep, filter or discard them: ` +
    `${(communities as readonly string[]).join(', ')}.`,
  unexplained_routes: ({ routes }) => `The database has no row for ${counted(routes, 'route')}.`,
  invalid_rows: ({ invalid, total, announcement_id, cidr }) =>
    `${n(invalid)} of ${counted(total, 'stored row')} ${invalid === 1 ? 'is' : 'are'} not valid, for example ${announcement_id === null ? `the black hole of ${n(cidr)}` : `announcement ${n(announcement_id)} (${n(cidr)})`}.`,
  restored: ({ routes }) =>
    `The database was restored, and ${counted(routes, 'route differs', 'routes differ')} from it.`,
  no_rows: ({ routes }) =>
    `The database has no row for the region, but its routers hold ${counted(routes, 'route')}.`,
} satisfies Record<string, (attrs: Attrs) => string>

const n = (value: unknown): string => String(value)

export type HoldReason = keyof typeof reasonTexts
export const holdReasons = Object.keys(reasonTexts) as [HoldReason, ...HoldReason[]]
export type HoldFinding = { readonly reason: HoldReason; readonly attrs: Attrs }

/** Returns the text of a hold's findings. */
export function holdDetail(findings: readonly HoldFinding[]): string {
  return findings
    .map(({ reason, attrs }) => {
      const text: (attrs: Attrs) => string = reasonTexts[reason]
      return text(attrs)
    })
    .join(' ')
}

/** The state of a hold of any area. */
export const holdStateFields = {
  state: { ...Enumeration('HoldState', holdStates), description: 'state of the hold' },
  created: { ...Time, description: 'when it was opened' },
  decided: { ...NullableTime, description: 'when it was decided; null before' },
  decided_by: Nullable(Actor),
}

/** The parameters of every list of holds. */
export const holdListQuery = {
  state: Optional(Repeatable(Enumeration('HoldState', holdStates))),
  ordering: Ordering(['id', 'created'], '-id'),
  limit: Limit,
  offset: Offset,
}

const oneHold = Strict({ hold_id: Id })

/** The common part of the operations that read one hold of any area, and of those that decide about it. */
export const readingHold = {
  group: 'Operator',
  method: 'GET',
  permission: staffReading,
  params: oneHold,
  success: 200,
} as const
export const decidingHold = {
  group: 'Operator',
  method: 'POST',
  permission: staffChanging,
  params: oneHold,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
} as const

const HeldChange = Component('HeldChange', {
  router: Type.String({ description: 'name of the router' }),
  cidr: Type.String({ description: 'the prefix' }),
  from: Type.String({
    description: 'origin, next hop and communities now, as `AS64496 via 192.0.2.1 with 64500:120`',
  }),
  to: Type.String({ description: 'origin, next hop and communities as they would be' }),
})

export const Hold = Component('Hold', {
  id: { ...Id, description: 'id of the hold' },
  region: Type.String({ description: 'slug of the region' }),
  reason: { ...Enumeration('HoldReason', holdReasons), description: 'code of the reason' },
  detail: Type.String({ description: 'the reasons as text' }),
  withdrawals: Type.Array(Type.String(), { description: 'prefixes that would be withdrawn, as CIDR' }),
  changes: Type.Array(HeldChange, {
    description: 'routes whose origin, next hop or communities would change',
  }),
  ...holdStateFields,
})
export type Hold = Static<typeof Hold>

/** The most items that one answer or message lists. */
export const holdItemsMax = 1000

export const HoldItem = Component('HoldItem', {
  cidr: Type.String({ description: 'the prefix' }),
  team: Nullable(TeamReference),
  announcement_id: Nullable({ ...Id, description: 'id of the announcement' }),
  action: Nullable(
    Type.String({
      description:
        'last audited action on the desired state of the announcement, such as `announcement.update`; null if ' +
        'there is none',
    }),
  ),
  requested_by: Nullable(Actor),
  requested_by_name: Nullable(
    Type.String({ description: 'e-mail address of the user or name of the token' }),
  ),
  requested_by_staff: Nullable(
    Type.Boolean({
      description:
        'whether the provider asked for it: staff, the platform file or a command; null if nobody did',
    }),
  ),
  requested_at: { ...NullableTime, description: 'time of the request' },
})
export type HoldItem = Static<typeof HoldItem>

export const HoldDetails = Component('HoldDetails', {
  ...Hold.properties,
  items: Type.Array(HoldItem, {
    description: `the withdrawals with their teams and who asked for them; the first ${holdItemsMax}`,
  }),
  items_truncated: Type.Boolean({ description: 'whether there are more' }),
  change_items: Type.Array(HoldItem, {
    description:
      'the prefixes of the changes, each once, with their teams and who asked for them; the first ' +
      String(holdItemsMax),
  }),
  change_items_truncated: Type.Boolean({ description: 'whether there are more' }),
})
export type HoldDetails = Static<typeof HoldDetails>

export const listHoldsRoute = route({
  name: 'listHolds',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/holds',
  summary: 'List holds',
  description:
    'Withdrawals and changes of origin, next hop or communities that need approval: too many at once, routes ' +
    'without a row, or reserved communities. Newest first by default.',
  permission: staffReading,
  query: Strict({
    region: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 255, description: 'slug of the region' })),
    ),
    ...holdListQuery,
  }),
  response: Page(Hold),
  success: 200,
})

export const getHoldRoute = route({
  ...readingHold,
  name: 'getHold',
  path: '/v3/admin/holds/{hold_id}',
  summary: 'Get hold',
  description: 'Returns one hold, with the team of each prefix and the actor who requested the withdrawal.',
  response: HoldDetails,
  conditional: true,
})

export const approveHoldRoute = route({
  ...decidingHold,
  name: 'approveHold',
  path: '/v3/admin/holds/{hold_id}/approve',
  summary: 'Approve hold',
  description:
    'Allows the listed withdrawals and changes, and no others, for 15 minutes. A hold never changes: one whose list has grown is ' +
    'closed and replaced by another: approving it returns 409. Approving twice changes nothing.',
  response: Hold,
})

export const rejectHoldRoute = route({
  ...decidingHold,
  name: 'rejectHold',
  path: '/v3/admin/holds/{hold_id}/reject',
  summary: 'Reject hold',
  description:
    'Keeps the listed routes announced as they are, also after a restart of the router, and does not ask about them ' +
    'again for a day, unless they are enabled or disabled again. Rejecting twice changes nothing.',
  response: Hold,
})

export const holdRoutes = [listHoldsRoute, getHoldRoute, approveHoldRoute, rejectHoldRoute]
