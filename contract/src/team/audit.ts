// The audit log: changes and refused calls. The API reads it; entries are immutable.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route, staffReading } from '../route.ts'
import {
  Actor,
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
  Component,
} from '../scalar.ts'

export const AuditEntry = Component('AuditEntry', {
  id: { ...Id, description: 'id of the entry' },
  at: { ...Time, description: 'time of the change' },
  actor: Actor,
  actor_name: Nullable(
    Type.String({ description: 'e-mail address of the user or name of the token; null if no longer known' }),
  ),
  credential: Nullable(
    Type.String({
      description:
        '`session:<id>`, `token:<id>`, or `staff_access:<id>` of an employee of the provider in the team',
    }),
  ),
  action: Type.String({ description: 'noun and verb, such as `announcement.update`' }),
  target: Type.String({ description: 'noun and id, such as `announcement:42`; for refusals the operation' }),
  before: Type.Unknown({
    description:
      'the changed fields before the change; null if there is none. An address or name of a deleted account is null',
  }),
  after: Type.Unknown({
    description: 'the changed fields after the change, as `before`; null if there is none',
  }),
  request_id: Nullable(
    Type.String({ description: 'the `X-Request-Id` of the request; null if it was no request' }),
  ),
  address: Nullable(Type.String({ description: 'IP address of the caller' })),
  sealed: Type.Boolean({ description: 'whether the entry is sealed, usually a second after it was written' }),
  sequence: Nullable(Type.Integer({ minimum: 1, description: 'position in the chain of all teams' })),
})
export type AuditEntry = Static<typeof AuditEntry>

const permission = { credential: 'any', scope: 'audit:read', grant: 'audit.see' } as const

const Text = Type.String({ minLength: 1, maxLength: 300 })

const filters = {
  actor: Optional(Repeatable({ ...Text, description: 'such as `user:31`, `token:k7m2q4x5w3zt` or `staff`' })),
  action: Optional(
    Repeatable(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'such as `announcement.update`, or `announcement.*` for a group',
        pattern: '^[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?$',
        expects: 'an action such as announcement.update, or a group such as announcement.*',
      }),
    ),
  ),
  target: Optional(Repeatable({ ...Text, description: 'such as `announcement:4211`' })),
  request_id: Optional(Repeatable({ ...Text, description: 'the `X-Request-Id` of an answer' })),
  address: Optional(
    Repeatable(
      Type.String({ minLength: 1, maxLength: 50, description: 'IP address of the caller, or a network' }),
    ),
  ),
  start: Optional(Time),
  end: Optional(Time),
}

export const listAuditEntriesRoute = route({
  name: 'listAuditEntries',
  group: 'Audit',
  method: 'GET',
  path: '/v3/audit',
  summary: 'List audit entries',
  description:
    'Changes in the team, with actor and address, newest first by default; for admins. Also refused calls: ' +
    '`authorization.refuse`, `session.refuse`, `token.refuse`, each at most once a minute with its `count`. ' +
    'Employees of the provider are shown as `staff`, without their address; `staff.access` has their reason, and entries during ' +
    'that access have its credential. `action` takes `announcement.*` ' +
    'for all actions with that prefix; `address` takes an address or a network; `start` is inclusive, `end` ' +
    'is exclusive.',
  permission,
  query: Strict({
    ...filters,
    ordering: Ordering(['at', 'id'], '-at'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(AuditEntry),
  success: 200,
})

export const getAuditEntryRoute = route({
  name: 'getAuditEntry',
  group: 'Audit',
  method: 'GET',
  path: '/v3/audit/{audit_id}',
  summary: 'Get audit entry',
  description: 'Returns one entry of the team.',
  permission,
  params: Strict({ audit_id: Id }),
  response: AuditEntry,
  success: 200,
  errors: ['not_found'],
  conditional: true,
})

export const StaffAuditEntry = Component('StaffAuditEntry', {
  ...AuditEntry.properties,
  team: Nullable({ ...TeamReference, description: 'the team; null: an entry of the provider' }),
})
export type StaffAuditEntry = Static<typeof StaffAuditEntry>

/** Days of the audit log of all teams that are listed without `start`. */
export const staffAuditDays = 7

export const listStaffAuditEntriesRoute = route({
  name: 'listAuditEntriesOfAll',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/audit',
  summary: 'List audit entries of all teams',
  description:
    'Changes of all teams and of the provider, the newest first, with the filters of the audit log of a team. Without `start`, the last ' +
    `${staffAuditDays} days before \`end\` or now. Staff are named.`,
  permission: staffReading('operator.see'),
  query: Strict({
    team_id: Optional(Repeatable({ ...Id, description: 'id of the team' })),
    ...filters,
    ordering: Ordering(['id'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(StaffAuditEntry),
  success: 200,
})

export const auditRoutes = [listAuditEntriesRoute, getAuditEntryRoute, listStaffAuditEntriesRoute]
