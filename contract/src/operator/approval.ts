// Approvals: changes of routes, DNS, shield rules and inventory that wait for a decision of the provider's staff.
import { Type, type Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  Actor,
  Component,
  Enumeration,
  Id,
  Include,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  TeamReference,
  Time,
} from '../scalar.ts'
import { NewShieldRule, ShieldWhatIf } from '../shield/shield.ts'
import { Paragraphs } from '../text.ts'
import { approvalAreas, approvalReasons } from '../reason/approval-reason.ts'

/** `closed`: it was replaced by another, or what it was about is no longer planned. */
export const approvalStates = ['open', 'approved', 'rejected', 'closed'] as const
export type ApprovalState = (typeof approvalStates)[number]

/** The most items that an answer has of one approval. */
export const approvalItemsMax = 1000

export const approvalChanges = ['withdraw', 'replace', 'remove', 'apply'] as const
export type ApprovalChange = (typeof approvalChanges)[number]

const approvalSubjects = [
  'region',
  'zone',
  'catalog',
  'shield_list',
  'scrubber',
  'scrubbers',
  'import',
] as const

export const ApprovalItem = Component('ApprovalItem', {
  change: {
    ...Enumeration('ApprovalChange', approvalChanges),
    description:
      '`withdraw`: a route; `replace`: a route by one with another origin, next hop or communities; `remove`: a record set, a name, a ' +
      'zone, the rules of a prefix or an element of the inventory; `apply`: the rules of a prefix',
  },
  value: Type.String({
    description:
      'what would change: a prefix, a record set (`www.example.com. A`), a name, a zone or an element (`device sw1.ams`)',
  }),
  router: Nullable(
    Type.String({ description: 'name of the router or scrubber; null: all of them, or none' }),
  ),
  from: Nullable(
    Type.String({
      description:
        'of `replace`: origin, next hop and communities now, as `AS64496 via 192.0.2.1 with 64500:120`',
    }),
  ),
  to: Nullable(
    Type.String({ description: 'of `replace`: origin, next hop and communities as they would be' }),
  ),
  team: Nullable(TeamReference),
  announcement_id: Nullable({ ...Id, description: 'id of the announcement of a route' }),
  requested: Nullable(
    Component('ApprovalRequest', {
      action: Type.String({
        description:
          'last audited action on the desired state of the announcement, such as `announcement.update`',
      }),
      by: Actor,
      by_name: Nullable(Type.String({ description: 'e-mail address of the user or name of the token' })),
      by_staff: Type.Boolean({
        description: 'whether the provider asked for it: staff, the platform file or a command',
      }),
      at: { ...Time, description: 'time of the request' },
    }),
  ),
})
export type ApprovalItem = Static<typeof ApprovalItem>

/** The common part of answers and messages. */
export const approvalFields = {
  id: { ...Id, description: 'id of the approval' },
  area: { ...Enumeration('ApprovalArea', approvalAreas), description: 'what it is about' },
  subject: Component('ApprovalSubject', {
    type: {
      ...Enumeration('ApprovalSubjectType', approvalSubjects),
      description:
        '`catalog`: zones that would leave the name servers; `scrubbers`: all of them; `import`: of inventory',
    },
    id: Nullable({ ...Id, description: 'id of the region, zone or list' }),
    name: Type.String({
      description:
        'slug of the region, name of the zone or scrubber, prefix of the list, or source of the import',
    }),
  }),
  team: Nullable({ ...TeamReference, description: 'the only team that it concerns; null: several, or none' }),
  reason: {
    ...Enumeration('ApprovalReason', approvalReasons),
    description: 'code of the gravest reason',
  },
  reasons: Type.Array(
    Component('ApprovalFinding', {
      reason: { ...Enumeration('ApprovalReason', approvalReasons), description: 'code of the reason' },
      attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'attributes of the reason' }),
    }),
    { description: 'all reasons, the gravest first' },
  ),
  detail: Type.String({ description: 'the reasons as text' }),
  item_count: Type.Integer({ minimum: 0, description: 'number of changes that a decision covers' }),
  state: {
    ...Enumeration('ApprovalState', approvalStates),
    description: 'its state; `closed`: it was replaced, or its changes are no longer planned',
  },
  created: { ...Time, description: 'when it was opened' },
  decided: { ...NullableTime, description: 'when it was decided or closed; null before' },
  decided_by: Nullable(Actor),
  note: Nullable(Type.String({ description: 'note of the decision' })),
  valid_until: {
    ...NullableTime,
    description:
      'when the decision ends, so that the same changes wait again; null: no end, or no decision yet',
  },
  replaces: Nullable({ ...Id, description: 'id of the approval that this one has replaced' }),
}

const items = Type.Array(ApprovalItem, { description: `the changes, the first ${approvalItemsMax}` })

export const Approval = Component('Approval', {
  ...approvalFields,
  items: Optional({
    ...items,
    description: `with \`include=items\`: the changes, the first ${approvalItemsMax}`,
  }),
})
export type Approval = Static<typeof Approval>

export const ApprovalDetails = Component('ApprovalWithItems', {
  ...approvalFields,
  items,
  items_truncated: Type.Boolean({ description: 'whether there are more' }),
  details: Nullable(
    Component('ApprovalOfRules', {
      rules: Type.Array(NewShieldRule, { description: 'the rules of the list, in order' }),
      what_if: Nullable({
        ...ShieldWhatIf,
        description: 'what these rules would have done with the flows of the last hour; null: not known',
      }),
    }),
  ),
})
export type ApprovalDetails = Static<typeof ApprovalDetails>

const oneApproval = Strict({ approval_id: Id })

const approvalIncludes = ['items'] as const

export const listApprovalsRoute = route({
  name: 'listApprovals',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/approvals',
  summary: 'List approvals',
  description:
    'Changes that wait for a decision of staff, since they withdraw, remove or drop more than usual or no request explains them. Routers, ' +
    'name servers and scrubbers keep what they have meanwhile. Newest first by default.',
  permission: staffReading('operator.see'),
  query: Strict({
    area: Optional(
      Repeatable({ ...Enumeration('ApprovalArea', approvalAreas), description: 'what it is about' }),
    ),
    state: Optional(Repeatable(Enumeration('ApprovalState', approvalStates))),
    reason: Optional(
      Repeatable({
        ...Enumeration('ApprovalReason', approvalReasons),
        description: 'code of one of its reasons',
      }),
    ),
    region: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 255, description: 'slug of the region' })),
    ),
    zone: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 255, description: 'name of the zone' })),
    ),
    team_id: Optional(Repeatable({ ...Id, description: 'id of a team that it concerns' })),
    include: Optional(Include('ApprovalInclude', approvalIncludes)),
    ordering: Ordering(['id', 'created'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Approval),
  success: 200,
})

export const getApprovalRoute = route({
  name: 'getApproval',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/approvals/{approval_id}',
  summary: 'Get approval',
  description:
    'Returns one approval with its changes: of routes with the team and the request behind each, of the list of a scrubber with its rules ' +
    'and what they would have done in the last hour while it is open.',
  permission: staffReading('operator.see'),
  params: oneApproval,
  response: ApprovalDetails,
  success: 200,
  conditional: true,
})

const deciding = {
  group: 'Operator',
  method: 'POST',
  permission: staffChanging('requests.decide'),
  params: oneApproval,
  body: Strict({
    note: Optional(Paragraphs({ minLength: 1, maxLength: 1000, description: 'why, for other staff' })),
  }),
  bodyOptional: true,
  response: Approval,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
} as const

export const approveChangesRoute = route({
  ...deciding,
  name: 'approveChanges',
  path: '/v3/admin/approvals/{approval_id}/approve',
  summary: 'Approve changes',
  description:
    'Allows exactly the changes of the approval: routes for 15 minutes, deletions of an import for a day, all others without an end. An ' +
    'approval never changes: if the plan has grown, it is closed and another one replaces it, and approving it returns 409 `conflict`, as ' +
    'for reasons that are never approved (`apex_removed`, `plan_differs`). Approving twice changes nothing.',
})

export const rejectChangesRoute = route({
  ...deciding,
  name: 'rejectChanges',
  path: '/v3/admin/approvals/{approval_id}/reject',
  summary: 'Reject changes',
  description:
    'Keeps everything as it is, and does not ask about exactly these changes again: routes for a day, also after a restart of a router, ' +
    'unless they are enabled or disabled again; all others without an end. Rejecting twice changes nothing.',
})

export const approvalRoutes = [listApprovalsRoute, getApprovalRoute, approveChangesRoute, rejectChangesRoute]
