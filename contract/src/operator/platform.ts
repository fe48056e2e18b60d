// The platform document over HTTP: plan and apply. The sections of the document are described in
// docs/platform-file.md; the server checks them.
import { Type, type Static } from 'typebox'
import { route, staffChanging } from '../route.ts'
import { Component, Enumeration, FieldChange, Nullable, Optional, Strict } from '../scalar.ts'

const Evidence = Type.String({ minLength: 1, maxLength: 64 })

const PlatformChange = Component('PlatformChange', {
  action: { ...Enumeration('PlatformAction', ['create', 'update', 'delete']), description: 'what is done' },
  kind: Type.String({ description: 'kind of the element, such as `device`' }),
  key: Type.String({ description: 'key of the element, such as its name' }),
  fields: Type.Array(FieldChange, { description: 'fields that are set; empty for a deletion' }),
})

const HeldDeletions = Component('HeldDeletions', {
  kind: Type.String({ description: 'kind of the elements' }),
  deletions: Type.Integer({ minimum: 0, description: 'elements that the document would delete' }),
  limit: Type.Integer({ minimum: 0, description: 'deletions of this kind without approval' }),
})

export const PlatformPlan = Component('PlatformPlan', {
  applied: Type.Boolean({ description: 'false for a dry run' }),
  changes: Type.Array(PlatformChange, { description: 'the changes, in the order in which they are made' }),
  unchanged: Type.Integer({ minimum: 0, description: 'elements of the document that exist as they should' }),
  notices: Type.Array(Type.String(), { description: 'what was kept although the document differs, and why' }),
  held: Type.Array(HeldDeletions, {
    description: 'deletions that need the parameters `deletions` and `evidence`; empty if none do',
  }),
  evidence: Nullable({
    ...Evidence,
    description:
      'changes with the elements that `held` counts: an approval names what was shown; null if none are held',
  }),
})
export type PlatformPlan = Static<typeof PlatformPlan>

export const applyPlatformRoute = route({
  name: 'applyPlatform',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/apply',
  summary: 'Apply platform document',
  description:
    'Makes the database agree with a platform document, as `pharos apply` does with a platform file: the same sections, as JSON. ' +
    'It is applied as a whole or not at all; 422 lists all problems with their places. The document must not contain `users`, ' +
    'secrets or names of files (`*_file`): the operator applies those with `pharos apply`. With `prune=true`, elements that its sections ' +
    'do not name are deleted. 409 if more than 3 and more than 5 % of the elements of a kind would be deleted: repeat with `deletions` and ' +
    '`evidence`, which a dry run reports. 409 too if these elements are others by then.',
  permission: staffChanging('platform.manage'),
  query: Strict({
    prune: Optional(
      Type.Boolean({ description: 'delete elements that the sections of the document do not name' }),
    ),
    deletions: Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'sum of `deletions` in `held` that is approved; needs `evidence`',
      }),
    ),
    evidence: Optional({
      ...Evidence,
      description: '`evidence` of the dry run whose deletions are approved',
    }),
  }),
  body: Type.Record(Type.String(), Type.Unknown(), {
    title: 'PlatformDocument',
    description: 'sections of the platform file, each a list of elements, such as `devices` and `ports`',
  }),
  bodyBytesMax: 16_777_216,
  response: PlatformPlan,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
})

export const platformRoutes = [applyPlatformRoute]
