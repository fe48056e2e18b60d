// Resources of SCIM as they are answered (RFC 7643): users, groups, lists, and the discovery documents. Pure.
import { usersPerRequest } from './limits.ts'
import type { GroupWithMembers, UserRow } from './scim.store.ts'
import { versionOf } from './users.ts'

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const message = (name: string) => `urn:ietf:params:scim:api:messages:2.0:${name}`
const core = (name: string) => `urn:ietf:params:scim:schemas:core:2.0:${name}`

export type Resource = Readonly<Record<string, unknown>>

type Dated = { readonly id: string; readonly created: Date; readonly updated: Date; readonly version: number }

const metaOf = (base: string, resourceType: 'User' | 'Group', { id, created, updated, version }: Dated) => ({
  resourceType,
  created: created.toISOString(),
  lastModified: updated.toISOString(),
  location: `${base}/${resourceType}s/${id}`,
  version: versionOf(version),
})

const externalIdOf = (externalId: string | null) => (externalId === null ? {} : { externalId })

export function presentUser(base: string, row: UserRow): Resource {
  const { given_name: givenName, family_name: familyName, display_name: displayName } = row
  const formatted = [givenName, familyName].filter(Boolean).join(' ') || displayName
  return {
    schemas: [userSchema],
    id: row.id,
    ...externalIdOf(row.external_id),
    userName: row.user_name,
    displayName,
    name: { givenName, familyName, formatted },
    emails: [{ value: row.email, type: 'work', primary: true }],
    active: row.active,
    meta: metaOf(base, 'User', row),
  }
}

export const presentGroup = (base: string, row: GroupWithMembers): Resource => ({
  schemas: [groupSchema],
  id: row.id,
  ...externalIdOf(row.external_id),
  displayName: row.display_name,
  ...(row.members === null
    ? {}
    : { members: row.members.map((one) => ({ ...one, $ref: `${base}/Users/${one.value}` })) }),
  meta: metaOf(base, 'Group', row),
})

export const presentPage = (resources: readonly Resource[], count: number, startIndex: number): Resource => ({
  schemas: [message('ListResponse')],
  totalResults: count,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})

/** Names of `attributes` and `excludedAttributes`, in lower case; null: not given. */
export type Projection = {
  readonly attributes: ReadonlySet<string> | null
  readonly excluded: ReadonlySet<string>
}

/** `id` and `schemas` are always returned (RFC 7644, 3.9). A sub-attribute selects its attribute. */
export function project(resource: Resource, { attributes, excluded }: Projection): Resource {
  if (attributes === null && excluded.size === 0) return resource
  const isReturned = (name: string) => {
    const lower = name.toLowerCase()
    if (lower === 'id' || lower === 'schemas') return true
    return attributes === null ? !excluded.has(lower) : attributes.has(lower)
  }
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isReturned(name)))
}

export const serviceProviderConfig = (base: string): Resource => ({
  schemas: [core('ServiceProviderConfig')],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: usersPerRequest },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The SCIM token of the identity provider, from Team > Sign-in',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
})

export const resourceTypes = (base: string): Resource[] =>
  [
    { name: 'User', schema: userSchema },
    { name: 'Group', schema: groupSchema },
  ].map(({ name, schema }) => ({
    schemas: [core('ResourceType')],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }))

type Traits = { readonly required?: true; readonly uniqueness?: 'server'; readonly multiValued?: true }

const attribute = (name: string, type: string, { required, uniqueness, multiValued }: Traits = {}) => ({
  name,
  type,
  multiValued: multiValued ?? false,
  required: required ?? false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: uniqueness ?? 'none',
})
const text = (name: string, traits?: Traits) => attribute(name, 'string', traits)
const complex = (name: string, subAttributes: readonly object[], traits?: Traits) => ({
  ...attribute(name, 'complex', traits),
  subAttributes,
})

export const schemas = (base: string): Resource[] =>
  [
    {
      id: userSchema,
      name: 'User',
      attributes: [
        text('userName', { required: true, uniqueness: 'server' }),
        text('displayName'),
        complex('name', [text('givenName'), text('familyName'), text('formatted')]),
        complex('emails', [text('value'), text('type'), attribute('primary', 'boolean')], {
          multiValued: true,
        }),
        attribute('active', 'boolean'),
      ],
    },
    {
      id: groupSchema,
      name: 'Group',
      attributes: [
        text('displayName', { required: true, uniqueness: 'server' }),
        complex('members', [text('value'), text('display'), attribute('$ref', 'reference')], {
          multiValued: true,
        }),
      ],
    },
  ].map((schema) => ({
    schemas: [core('Schema')],
    ...schema,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  }))
