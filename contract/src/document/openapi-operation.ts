// An operation in the OpenAPI document: its requirements, parameters and body.
import type { TObject, TSchema } from 'typebox'
import { dryRunMediaType, takesIdempotencyKey, takesIfMatch, takesIfNoneMatch, titled } from '../answers.ts'
import type { Example } from '../example.ts'
import { exampleOf, headersOf, problemsOf, successesOf } from './openapi-answers.ts'
import { commaListMax, commaListOf, isPage, pascalCase } from '../scalar.ts'
import { deprecationKeywords, deprecationText } from '../deprecation.ts'
import type { LimitKind } from '../resource-limit.ts'
import { isForAdminTokens, rolesText, rolesWith, type Grant } from '../role.ts'
import { isStaffGrant, neededStaffRole, type StaffGrant } from '../staff-role.ts'
import { keylessReasons, type Permission, type Route, type Upload } from '../route.ts'

type Json = Record<string, unknown>

/** Returns the operation of a route. */
export function operation(route: Route, example: Example): Json {
  return {
    operationId: route.name,
    tags: [route.group],
    summary: route.summary,
    ...(route.deprecated ? { deprecated: true } : {}),
    description: [
      deprecatedText(route),
      route.description,
      keylessText(route),
      requirementOf(route.permission),
    ]
      .filter(Boolean)
      .join('\n\n'),
    security: securityOf(route.permission),
    ...(takesSession(route.permission) ? { 'x-web-session': true } : {}),
    ...requirementKeys(route.permission),
    parameters: [
      ...parametersOf(route, route.params, 'path', example.params ?? {}),
      ...parametersOf(route, route.query, 'query', example.query ?? {}),
      ...(route.dryRun ? [dryRunParameter] : []),
      ...conditionalParameters(route),
      ...(route.stream ? [header('Last-Event-ID', 'the id of the last event that the caller has')] : []),
    ],
    ...requestBodyOf(route, example),
    responses: {
      ...successesOf(route, example),
      ...(takesIfNoneMatch(route)
        ? { 304: { description: 'the record has not changed', headers: headersOf(route, 304) } }
        : {}),
      ...problemsOf(route),
    },
  }
}

const deprecatedText = ({ deprecated }: Route): string =>
  deprecated ? `This operation is ${deprecationText(deprecated)}.` : ''

const keylessText = ({ keyless }: Route): string =>
  keyless ? `Takes no \`Idempotency-Key\`: ${keylessReasons[keyless]}.` : ''

type Requirement = {
  readonly scope?: string
  readonly role?: 'staff'
  readonly grant?: Grant | StaffGrant
  readonly module?: string
  readonly limit?: LimitKind
}

function requirementsOf(permission: Permission): Requirement {
  if (permission.credential !== 'web' && permission.credential !== 'any') return {}
  const { scope, role, module, limitedBy: limit } = permission
  const grant = permission.grant ?? permission.staffGrant
  return {
    ...(scope ? { scope } : {}),
    ...(role ? { role } : {}),
    ...(grant ? { grant } : {}),
    ...(module ? { module } : {}),
    ...(limit ? { limit } : {}),
  }
}

/** Whether it takes an API token, which its `security` lists, and a session as well. */
const takesSession = ({ credential }: Permission): boolean => credential === 'any'

/** `x-required-scope` and the like, for generators. */
const requirementKeys = (permission: Permission): Json =>
  Object.fromEntries(
    Object.entries(requirementsOf(permission)).map(([name, value]) => [`x-required-${name}`, value]),
  )

/** The part of an operation that a limited API token may use. An operation without such a limit rejects limited tokens. */
const limitTexts: Readonly<Record<LimitKind, string>> = {
  zone: 'An API token with `resources` is limited to its zones, with their names and types.',
  whole_zone: 'An API token with `resources` is limited to its zones without `names` and `types`.',
  prefix: 'An API token with `resources` is limited to its prefixes.',
  port: 'An API token with `resources` is limited to its ports.',
  service: 'An API token with `resources` is limited to its services.',
  nothing: 'API tokens with `resources` may call it.',
}

/** Returns the requirements of an operation as a sentence for its description. */
function requirementOf(permission: Permission): string {
  const { scope, role, grant, module, limit } = requirementsOf(permission)
  const parts = [
    ...(permission.credential === 'web' ? ['a session of the web application (no API token)'] : []),
    ...(scope ? [`the scope \`${scope}\``] : []),
    ...(role ? ['the role staff of the provider'] : []),
    ...(grant ? [grantText(grant, permission)] : []),
    ...(module ? [`the module \`${module}\``] : []),
  ]
  const requires = parts.length === 0 ? [] : [`Requires ${parts.join(', ')}.`]
  return [
    ...requires,
    ...(limit ? [limitTexts[limit]] : []),
    ...(takesSession(permission) ? ['Sessions of the web application are accepted too.'] : []),
  ].join(' ')
}

function grantText(grant: Grant | StaffGrant, { credential }: Permission): string {
  if (isStaffGrant(grant)) return `the grant \`${grant}\` (${neededStaffRole(grant)}; any staff token)`
  const isForAdmins = isForAdminTokens(grant) && credential === 'any'
  return `the grant \`${grant}\` (${rolesText(rolesWith(grant))}${isForAdmins ? '; an API token with `is_admin`' : ''})`
}

/**
 * One scheme: some generated clients apply every scheme of the list, and the last header wins. Operations with `token` also accept
 * the sessions of the portal, which is no generated client. The scope is listed as in OpenAPI 3.1, 4.8.30.
 */
function securityOf(permission: Permission): Json[] {
  switch (permission.credential) {
    case 'none':
      return []
    case 'optional':
      return [{}, { bearer: [] }]
    case 'source':
      return [{ source: [] }]
    case 'web':
      return [{ bearer: [] }]
    case 'any':
      return [{ token: permission.scope ? [permission.scope] : [] }]
  }
}

function requestBodyOf(route: Route, { body: sample }: Example): Json {
  const { body, upload, bodyOptional } = route
  if (upload)
    return { requestBody: { required: true, content: { 'multipart/form-data': formOf(route, upload) } } }
  if (!body) return {}
  const schema = titled(route, 'Body', body)
  const content = { 'application/json': { schema, ...exampleOf(sample) } }
  return { requestBody: { required: !bodyOptional, content } }
}

/** A file is a binary string (OpenAPI 3.1, 4.8.14.3); `x-max-bytes` is the size limit. */
function formOf(route: Route, { fields, file }: Upload): Json {
  const { name, description, bytesMax, mediaTypes } = file
  const required = (fields as { required?: string[] }).required ?? []
  const schema = {
    type: 'object',
    required: [name, ...required],
    additionalProperties: false,
    properties: {
      [name]: { type: 'string', format: 'binary', description, 'x-max-bytes': bytesMax },
      ...fields.properties,
    },
  } as unknown as TSchema
  return {
    schema: titled(route, 'Form', schema),
    encoding: { [name]: { contentType: mediaTypes.join(', ') } },
  }
}

function parametersOf(route: Route, schema: TObject, place: 'path' | 'query', values: object): Json[] {
  const required = new Set<string>((schema as { required?: string[] }).required ?? [])
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (required.has(name) && !('default' in property)),
    ...('description' in property ? { description: property.description } : {}),
    ...deprecationKeywords(property),
    ...('x-empty-is-absent' in property ? { allowEmptyValue: true } : {}),
    ...valueOf(route, name, property, (values as Json)[name]),
  }))
}

/** The schema and the example. A comma list is an array that is sent as one text (OpenAPI 3.1, 4.8.12.3). */
function valueOf(route: Route, name: string, property: TSchema, sample: unknown): Json {
  const list = commaListOf(property)
  if (!list) return { schema: property, ...exampleOf(sample) }
  const byDefault = 'default' in property ? { default: String(property.default).split(',') } : {}
  const items = titled(route, pascalCase(name), list.values)
  const schema = { type: 'array', items, minItems: 1, maxItems: commaListMax, ...byDefault }
  return { style: 'form', explode: false, schema, ...exampleOf(sample && String(sample).split(',')) }
}

const dryRunParameter = {
  name: 'dry_run',
  in: 'query',
  required: false,
  description: `validate and plan completely, store nothing; the answer, \`${dryRunMediaType}\`, contains the changes`,
  schema: { type: 'boolean', default: false },
}

/** Returns an optional parameter in a header. */
export const header = (name: string, description: string, example?: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
  ...exampleOf(example),
})

function conditionalParameters(route: Route): Json[] {
  return [
    ...(takesIdempotencyKey(route)
      ? [
          header(
            'Idempotency-Key',
            'a repeat of the same bytes with the same key within 24 h gets the first answer again',
            '0b7d2c9e-6a43-4c6f-9d57-2f4c1f0a8e11',
          ),
        ]
      : []),
    ...(takesIfMatch(route)
      ? [
          header(
            'If-Match',
            'the ETag that the record must still have, with its quotes; a weak ETag (`W/`) is refused',
            '"7"',
          ),
        ]
      : []),
    ...(takesIfNoneMatch(route)
      ? [
          header(
            'If-None-Match',
            isPage(route.response)
              ? 'the weak ETag of the page that the caller has: 304 while it has not changed'
              : 'the ETag of the record that the caller has: 304 while it has not changed',
          ),
        ]
      : []),
  ]
}
