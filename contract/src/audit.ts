// The audit: who did what to what, and who was refused what. It is read, never written; entries are kept as they were made.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import { Id, Limit, Nullable, Offset, Optional, Ordering, Page, Repeatable, Strict, Time } from './scalar.ts'

export const AuditEntry = Strict({
  id: Id,
  at: Time,
  actor: Type.String({
    description: '`user:<id>`, `token:<id>`, `staff` (a person of the provider), `operator` or `pharos`',
  }),
  actor_name: Nullable(
    Type.String({ description: 'e-mail address or name of the token; null where it is not known any more' }),
  ),
  credential: Nullable(Type.String({ description: '`session:<id>` or `token:<id>`' })),
  action: Type.String({ description: 'noun and verb, such as `announcement.update`' }),
  target: Type.String({ description: 'noun and id, such as `announcement:42`; of a refusal the operation' }),
  before: Nullable(Type.Unknown()),
  after: Nullable(Type.Unknown()),
  request_id: Nullable(Type.String()),
  address: Nullable(Type.String({ description: 'where it was done from' })),
  sealed: Type.Boolean({ description: 'it has its place in the chain, usually a second after it was made' }),
  sequence: Nullable(Type.Integer({ minimum: 1, description: 'its place in the chain of all teams' })),
})
export type AuditEntry = Static<typeof AuditEntry>

const permission = { credential: 'any', scope: 'audit:read', role: 'admin' } as const

const Text = Type.String({ minLength: 1, maxLength: 300 })

export const listAuditEntriesRoute = route({
  name: 'listAuditEntries',
  group: 'Audit',
  method: 'GET',
  path: '/v3/audit',
  summary: 'List audit entries',
  description:
    'What was done in the team, by whom and from where, newest first unless ordered otherwise; for its admins. Also who was ' +
    'refused what: `authorization.refuse`, `session.refuse`, `token.refuse`, each at most once a minute with the `count` that ' +
    'it stands for. People of the provider are shown as `staff`, without their address. `action` takes `announcement.*` for ' +
    'everything that begins so; `address` an address or a network; `start` is inclusive, `end` is not.',
  permission,
  query: Strict({
    actor: Optional(Repeatable(Text)),
    action: Optional(
      Repeatable(
        Type.String({
          minLength: 1,
          maxLength: 100,
          pattern: '^[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?$',
          expects: 'an action such as announcement.update, or a group such as announcement.*',
        }),
      ),
    ),
    target: Optional(Repeatable(Text)),
    request_id: Optional(Repeatable(Text)),
    address: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 50 }))),
    start: Optional(Time),
    end: Optional(Time),
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
  description: 'One entry of the team.',
  permission,
  params: Strict({ audit_id: Id }),
  response: AuditEntry,
  success: 200,
  errors: ['not_found'],
  conditional: true,
})

export const auditRoutes = [listAuditEntriesRoute, getAuditEntryRoute]
