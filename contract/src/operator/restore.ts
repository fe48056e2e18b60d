// Restores: the database went back in time, and what differs from the network waits for a decision of the provider's staff.
import { Type, type Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  Actor,
  Component,
  Enumeration,
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
  TeamReference,
  Time,
} from '../scalar.ts'

/** Reasons why a restore was opened, as codes with their sentences. */
export const restoreReasons = {
  head_missing: 'A process remembers entries of the audit log that the database does not have.',
  other_database: 'The database is in another place than before, and no process confirms its content.',
  by_hand: 'Staff opened it.',
} as const
export type RestoreReason = keyof typeof restoreReasons
const reasonNames = Object.keys(restoreReasons) as [RestoreReason, ...RestoreReason[]]

export const restoreAreas = ['routes', 'blackholes', 'shield', 'zones', 'mails', 'deliveries'] as const
export type RestoreArea = (typeof restoreAreas)[number]
/** Areas whose differences are found by comparing the network; the others are queues of the database. */
export const comparedAreas = ['routes', 'blackholes', 'shield', 'zones'] as const satisfies RestoreArea[]
export type ComparedArea = (typeof comparedAreas)[number]

export const restoreActions = ['apply', 'adopt', 'discard', 'send'] as const
export type RestoreAction = (typeof restoreActions)[number]

/** The actions of each area. */
export const actionsOfArea: Readonly<Record<RestoreArea, readonly RestoreAction[]>> = {
  routes: ['apply', 'adopt'],
  blackholes: ['apply', 'adopt'],
  shield: ['apply', 'adopt'],
  zones: ['apply', 'adopt'],
  mails: ['discard', 'send'],
  deliveries: ['discard', 'send'],
}

/** `add`: the database has it, the network does not; `remove`: the other way round. */
const differenceKinds = ['add', 'remove', 'change', 'queued'] as const
export type DifferenceKind = (typeof differenceKinds)[number]

const State = Enumeration('RestoreState', ['open', 'closed'])
const Area = Enumeration('RestoreArea', restoreAreas)
const Action = Enumeration('RestoreAction', restoreActions)

const RestoreSource = Component('RestoreSource', {
  area: { ...Area, description: 'what it holds' },
  name: Type.String({ description: 'name of the region, scrubber or name server' }),
  compared: { ...NullableTime, description: 'when it was last compared; null: not yet' },
  problem: Nullable(Type.String({ description: 'why it cannot be compared' })),
})

const count = (description: string) => Type.Integer({ minimum: 0, description })

const RestoreAreaCounts = Component('RestoreAreaCounts', {
  area: Area,
  items: count('number of differences'),
  undecided: count('differences without a decision'),
  adoptable: count('undecided differences that can be adopted'),
})

export const Restore = Component('Restore', {
  id: { ...Id, description: 'id of the restore' },
  state: { ...State, description: 'while it is open, nothing is sent' },
  reason: { ...Enumeration('RestoreReason', reasonNames), description: 'code of the reason' },
  detail: Type.String({ description: 'the reason as text' }),
  detected: { ...Time, description: 'when it was opened' },
  known_head: Nullable(
    Type.String({
      description: 'the newest audit entry that a process remembers, as `pharos audit head` prints it',
    }),
  ),
  found_head: Nullable(
    Type.String({ description: 'the newest audit entry of the database when it was opened' }),
  ),
  sessions_ended: count('sessions that were ended when it was opened'),
  closed: { ...NullableTime, description: 'when it was closed; null before' },
  closed_by: Nullable(Actor),
  areas: Type.Array(RestoreAreaCounts, { description: 'the differences by area' }),
  sources: Type.Array(RestoreSource, { description: 'the regions, scrubbers and name servers to compare' }),
})
export type Restore = Static<typeof Restore>

const Side = Nullable(
  Type.Object({}, { title: 'RestoreSide', additionalProperties: true, description: 'what it has, by area' }),
)

export const RestoreItem = Component('RestoreItem', {
  id: { ...Id, description: 'id of the difference' },
  area: Area,
  source: Type.String({ description: 'name of the region, scrubber or name server; empty for queues' }),
  subject: Type.String({ description: 'the prefix or the zone; what is queued' }),
  kind: {
    ...Enumeration('RestoreItemKind', differenceKinds),
    description:
      '`add`: only the database has it; `remove`: only the network has it; `change`: they differ; `queued`: it waits to be sent',
  },
  team: Nullable(TeamReference),
  database: { ...Side, description: 'what the database has' },
  network: { ...Side, description: 'what the network has' },
  adoptable: Type.Boolean({ description: 'whether `adopt` is possible' }),
  decision: Nullable(Action),
  decided_by: Nullable(Actor),
})
export type RestoreItem = Static<typeof RestoreItem>

/** A difference as the loop of an area finds it. */
export type Difference = {
  readonly subject: string
  readonly kind: Exclude<DifferenceKind, 'queued'>
  readonly teamId: number | null
  readonly database: object | null
  readonly network: object | null
  readonly adoptable: boolean
}

const oneRestore = Strict({ restore_id: Id })

export const listRestoresRoute = route({
  name: 'listRestores',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/restores',
  summary: 'List restores',
  description:
    'Every time the database went back, newest first by default. While one is open, nothing is sent to routers, scrubbers, name ' +
    'servers, mail recipients and webhooks, and changes of customers return 503 `restoring`.',
  permission: staffReading('operator.see'),
  query: Strict({
    state: Optional(Repeatable(State)),
    ordering: Ordering(['id'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Restore),
  success: 200,
})

export const getRestoreRoute = route({
  name: 'getRestore',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/restores/{restore_id}',
  summary: 'Get restore',
  description:
    'Returns one restore with the number of differences in each area, and what has not been compared yet.',
  permission: staffReading('operator.see'),
  params: oneRestore,
  response: Restore,
  success: 200,
  conditional: true,
})

export const listRestoreItemsRoute = route({
  name: 'listRestoreItems',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/restores/{restore_id}/items',
  summary: 'List differences of a restore',
  description: 'What the database and the network have of each difference, and the decision about it.',
  permission: staffReading('operator.see'),
  params: oneRestore,
  query: Strict({
    area: Optional(Repeatable({ ...Area, description: 'area of the difference' })),
    undecided: Optional(
      Type.Boolean({ description: 'only those without a decision, or only those with one' }),
    ),
    ordering: Ordering(['id', 'subject'], 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(RestoreItem),
  success: 200,
})

const decisionItemsMax = 1000

export const decideRestoreRoute = route({
  name: 'decideRestore',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/restores/{restore_id}/decide',
  summary: 'Decide differences of a restore',
  description:
    '`apply`: the database is right, and the network is changed when the restore is closed. `adopt`: the network is right, and ' +
    'the database is changed. `discard` and `send` are for mails and deliveries. Without `items`, the decision is about all ' +
    'differences of the area; those that cannot be adopted are left out. Nothing is sent before the restore is closed.',
  permission: staffChanging('platform.manage'),
  params: oneRestore,
  body: Strict({
    area: Area,
    action: Action,
    items: Optional(
      Type.Array({ ...Id, description: 'id of a difference' }, { minItems: 1, maxItems: decisionItemsMax }),
    ),
  }),
  response: Restore,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
})

export const closeRestoreRoute = route({
  name: 'closeRestore',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/restores/{restore_id}/close',
  summary: 'Close restore',
  description:
    'Applies the decisions and lets everything be sent again. Returns 409 `undecided` while a difference has no decision or a ' +
    'region, scrubber or name server was not compared. `accept_uncompared` gives up the comparison: the database is right there.',
  permission: staffChanging('platform.manage'),
  params: oneRestore,
  body: Strict({
    accept_uncompared: Optional(
      Type.Boolean({ description: 'whether what could not be compared is applied as the database has it' }),
    ),
  }),
  bodyOptional: true,
  response: Restore,
  success: 200,
  dryRun: true,
  errors: ['conflict', 'undecided'],
})

export const restoreRoutes = [
  listRestoresRoute,
  getRestoreRoute,
  listRestoreItemsRoute,
  decideRestoreRoute,
  closeRestoreRoute,
]
