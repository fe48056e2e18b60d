// Holds of shield: changes at scrubbers that wait for a decision of the provider's staff.
import { counted } from './counted.ts'
import { Type, type Static } from 'typebox'
import { decidingHold, holdListQuery, holdStateFields, readingHold } from './hold.ts'
import { route, staffReading } from './route.ts'
import { NewShieldRule, ShieldWhatIf } from './shield.ts'
import {
  Component,
  Enumeration,
  Id,
  Nullable,
  Optional,
  Page,
  Repeatable,
  Strict,
  TeamReference,
} from './scalar.ts'

type Attrs = Readonly<Record<string, unknown>>
const n = (value: unknown): string => String(value)

/** Reasons why changes wait for staff: codes with the sentence shown for each. */
const reasonTexts = {
  whole_prefix: ({ prefix }) =>
    `The list of ${n(prefix)} has a rule that drops or limits everything that no rule before it allows.`,
  many_rules: ({ prefix, count, max }) =>
    `The team has ${n(count)} new rules within ten minutes, the list of ${n(prefix)} among them; more than ${n(max)} need approval.`,
  plan_differs: ({ prefix }) =>
    `The rules planned for ${n(prefix)} are not those of its newest version. They are never applied; this is a defect of Pharos.`,
  unexplained_removals: ({ count, rules }) =>
    `The scrubber holds lists of ${counted(count, 'prefix', 'prefixes')} with ${counted(rules, 'rule')} for which no version of a list says that they are empty.`,
  no_lists: ({ count, rules }) =>
    `The database has no list at all, and the scrubber holds lists of ${counted(count, 'prefix', 'prefixes')} with ${counted(rules, 'rule')}.`,
  former_holders: ({ count }) =>
    `The teams of ${n(count)} lists no longer hold their prefixes, more than usual at once. Their rules stay until this is approved.`,
} satisfies Record<string, (attrs: Attrs) => string>

export type ShieldHoldReason = keyof typeof reasonTexts
const reasonNames = Object.keys(reasonTexts) as [ShieldHoldReason, ...ShieldHoldReason[]]

/** Returns the text of a hold. */
export function shieldHoldDetail(reason: ShieldHoldReason, attrs: Attrs): string {
  const text: (attrs: Attrs) => string = reasonTexts[reason]
  return text(attrs)
}

export const ShieldHold = Component('ShieldHold', {
  id: { ...Id, description: 'id of the hold' },
  scrubber: Nullable(Type.String({ description: 'name of the scrubber; null: all scrubbers' })),
  list_id: Nullable({ ...Id, description: 'id of the list; null: about several lists' }),
  prefix: Nullable(Type.String({ description: 'prefix of the list' })),
  team: Nullable(TeamReference),
  reason: { ...Enumeration('ShieldHoldReason', reasonNames), description: 'code of the reason' },
  detail: Type.String({ description: 'the reason as text' }),
  prefixes: Type.Array(Type.String(), {
    description: 'prefixes whose rules would be removed, the first 1000; none for a hold of one list',
  }),
  ...holdStateFields,
})
export type ShieldHold = Static<typeof ShieldHold>

const ShieldHoldDetails = Component('ShieldHoldDetails', {
  ...ShieldHold.properties,
  rules: Type.Array(NewShieldRule, {
    description: 'while a hold of one list is open: the rules of the list, in order; otherwise empty',
  }),
  what_if: Nullable({
    ...ShieldWhatIf,
    description: 'what these rules would have done with the flows of the last hour; null without rules',
  }),
})
export type ShieldHoldDetails = Static<typeof ShieldHoldDetails>

export const listShieldHoldsRoute = route({
  name: 'listShieldHolds',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/shield-holds',
  summary: 'List shield holds',
  description:
    'Changes of shield rules that need approval, since they drop or remove more than usual. The scrubbers keep what they hold meanwhile. ' +
    'Newest first by default.',
  permission: staffReading,
  query: Strict({
    reason: Optional(
      Repeatable({ ...Enumeration('ShieldHoldReason', reasonNames), description: 'code of the reason' }),
    ),
    ...holdListQuery,
  }),
  response: Page(ShieldHold),
  success: 200,
})

export const getShieldHoldRoute = route({
  ...readingHold,
  name: 'getShieldHold',
  path: '/v3/admin/shield-holds/{hold_id}',
  summary: 'Get shield hold',
  description:
    'Returns one hold of shield, with the rules of its list and what they would have done in the last hour.',
  response: ShieldHoldDetails,
  conditional: true,
})

export const approveShieldHoldRoute = route({
  ...decidingHold,
  name: 'approveShieldHold',
  path: '/v3/admin/shield-holds/{hold_id}/approve',
  summary: 'Approve shield hold',
  description:
    'Allows exactly what the hold is about, at once. A hold whose plan has changed since is closed and replaced by another: approving it ' +
    'returns 409, and so does approving a plan that is not that of the list. Approving twice changes nothing.',
  response: ShieldHold,
})

export const rejectShieldHoldRoute = route({
  ...decidingHold,
  name: 'rejectShieldHold',
  path: '/v3/admin/shield-holds/{hold_id}/reject',
  summary: 'Reject shield hold',
  description:
    'Keeps the scrubbers as they are, and does not ask about exactly this plan again. Rejecting twice changes nothing.',
  response: ShieldHold,
})

export const shieldHoldRoutes = [
  listShieldHoldsRoute,
  getShieldHoldRoute,
  approveShieldHoldRoute,
  rejectShieldHoldRoute,
]
