// The platform document over HTTP: plan and apply. The sections of the document are described in
// docs/platform-file.md; the server checks them.
import { Type, type Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  FieldChange,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
} from '../scalar.ts'
import { Line } from '../text.ts'

const changeKinds = ['create', 'update', 'delete'] as const

const Evidence = Type.String({ minLength: 1, maxLength: 64 })

const PlatformChange = Component('PlatformChange', {
  action: { ...Enumeration('PlatformAction', changeKinds), description: 'what is done' },
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

const approvedDeletions = {
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
}

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
    ...approvedDeletions,
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

const platformFieldTypes = [
  'text',
  'integer',
  'number',
  'boolean',
  'choice',
  'choices',
  'texts',
  'secret',
  'image',
  'object',
  'objects',
  'json',
] as const

const PlatformPart = Component('PlatformPart', {
  name: Type.String({ description: 'place in the object, such as `next_hop.ipv4`' }),
  of: Nullable(
    Type.String({ description: 'value of the field `parts_by` for which it exists; null: for all' }),
  ),
  type: { ...Enumeration('PlatformFieldType', platformFieldTypes), description: 'as of a field' },
  required: Type.Boolean({ description: 'whether each object has it' }),
  hint: Type.String({ description: 'what the value must be; may be empty' }),
  choices: Type.Array(Type.String(), { description: 'the accepted values of a choice; empty for others' }),
})
export type PlatformPart = Static<typeof PlatformPart>

const PlatformField = Component('PlatformField', {
  name: Type.String({ description: 'name of the field in the element' }),
  type: {
    ...Enumeration('PlatformFieldType', platformFieldTypes),
    description:
      '`choice` and `choices`: of `choices`; `texts`: a list; `secret`: a text that no answer contains; `image`: the text of an SVG image, not contained either; `object`: of `parts`; `objects`: a list of them; `json`: a value of any form, which `hint` describes',
  },
  required: Type.Boolean({ description: 'whether each element has it' }),
  is_identity: Type.Boolean({ description: 'whether it is a part of the key, which never changes' }),
  nullable: Type.Boolean({
    description:
      'whether null is accepted: it ends what leaving the field out would keep, such as the service of a port',
  }),
  hint: Type.String({ description: 'what the value must be; may be empty' }),
  choices: Type.Array(Type.String(), { description: 'the accepted values of a choice; empty for others' }),
  refers_to: Nullable(
    Type.String({ description: 'section of the elements whose key it names; null for other fields' }),
  ),
  parts: Type.Array(PlatformPart, {
    description: 'of an object; names of files are left out; empty for other types',
  }),
  parts_by: Nullable(
    Type.String({
      description:
        'what decides which parts an object has: its part `kind`, or another field of the element; null: nothing',
    }),
  ),
  initial: Type.Unknown({ description: 'the value if the element leaves it out; null if there is none' }),
})
export type PlatformField = Static<typeof PlatformField>

const PlatformKind = Component('PlatformKind', {
  section: Type.String({ description: 'section of the platform document, such as `devices`' }),
  kind: Type.String({ description: 'kind of its elements, such as `device`' }),
  is_single: Type.Boolean({ description: 'whether it has one element only' }),
  identity: Type.Array(Type.String(), { description: 'the fields of the key' }),
  fields: Type.Array(PlatformField, { description: 'in the order of the documentation' }),
})
export type PlatformKind = Static<typeof PlatformKind>

export const listPlatformKindsRoute = route({
  name: 'listPlatformKinds',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/platform',
  summary: 'List kinds of platform elements',
  description:
    'The kinds that can be changed by `changePlatform`, with their fields: the sections of the platform file without `users` and ' +
    '`announcements`, and without names of files.',
  permission: staffReading('operator.see'),
  response: Component('PlatformKinds', {
    kinds: Type.Array(PlatformKind, { description: 'each after the kinds that it refers to' }),
  }),
  success: 200,
})

export const platformManagers = ['file', 'portal', 'netbox', 'team'] as const

const PlatformManager = {
  ...Enumeration('PlatformManager', platformManagers),
  description:
    '`file`: a platform file or document, which alone changes it; `portal`: `changePlatform`; `netbox`: the import; `team`: the team made it itself',
}

const PlatformValues = Type.Record(Type.String(), Type.Unknown(), {
  title: 'PlatformValues',
  description:
    'the fields of the element as in the platform file; without secrets, and without fields that have their default',
})

const PlatformElement = Component('PlatformElement', {
  key: Type.String({ description: 'key of the element, unique in its section' }),
  managed_by: PlatformManager,
  file: Nullable(
    Type.String({
      description: 'the platform file that named it last; null if unknown, and for documents over HTTP',
    }),
  ),
  values: PlatformValues,
  secrets: Type.Array(Type.String(), { description: 'names of the secrets that are stored' }),
  etag: Type.String({
    description: 'changes with the element, its secrets and its manager; for `if_match` of a change',
  }),
})
export type PlatformElement = Static<typeof PlatformElement>

const Section = Type.String({
  pattern: '^[a-z][a-z_]{0,40}$',
  description: 'section of the platform document',
  expects: 'a section of `listPlatformKinds`, such as devices',
})

export const listPlatformElementsRoute = route({
  name: 'listPlatformElements',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/platform/{section}',
  summary: 'List platform elements',
  description: 'The elements of a section with who manages each. Secrets are write-only.',
  permission: staffReading('operator.see'),
  params: Strict({ section: Section }),
  query: Strict({
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'contained in the key or in a text of the element, case-insensitive',
      }),
    ),
    key: Optional(Type.String({ minLength: 1, maxLength: 400, description: 'the key' })),
    team: Optional(
      Type.String({ minLength: 1, maxLength: 63, description: 'slug of the team of the element' }),
    ),
    managed_by: Optional(PlatformManager),
    ordering: Ordering(['key', 'managed_by'], 'key'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(PlatformElement),
  success: 200,
})

const ElementChange = Component('PlatformElementChange', {
  action: { ...Enumeration('PlatformAction', changeKinds), description: 'what is done' },
  section: Section,
  key: Optional(
    Line({ minLength: 1, maxLength: 400, description: 'key of the element; required to delete' }),
  ),
  values: Optional(PlatformValues),
  if_match: Optional(
    Line({
      minLength: 1,
      maxLength: 200,
      description: 'the `etag` of the element that was read: 412 if it has changed since',
    }),
  ),
})

export const changePlatformRoute = route({
  name: 'changePlatform',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/platform/changes',
  summary: 'Change platform elements',
  description:
    'Creates, updates and deletes elements that the portal manages, with the checks, the plan and the audit log of `pharos apply`: all changes ' +
    'or none. `values` is the whole element: a field that it leaves out gets its default, but a secret stays. An element that a file or NetBox ' +
    'manages is changed there: 422. With `if_match`, an element that has changed since it was read is 412, and nothing is changed. An element in use is not deleted; announcements of a region and the service of a port end first, which is ' +
    'the plan of the first request. Names of files are not accepted. 409 if the deletions need `deletions` and `evidence`, which a dry run reports.',
  permission: staffChanging('platform.manage'),
  query: Strict(approvedDeletions),
  body: Strict({
    changes: Type.Array(ElementChange, {
      minItems: 1,
      maxItems: 1000,
      description: 'the changes; each element at most once',
    }),
  }),
  response: PlatformPlan,
  success: 200,
  dryRun: true,
  keyless: 'password',
  errors: ['conflict', 'precondition_failed'],
})

export const platformRoutes = [
  applyPlatformRoute,
  listPlatformKindsRoute,
  listPlatformElementsRoute,
  changePlatformRoute,
]
