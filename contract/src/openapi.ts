// The OpenAPI 3.1 document, derived from the route values. Pure: the same routes give the same text, so the committed
// contract/openapi.json is a golden file.
import type { TObject, TSchema } from 'typebox'
import { problems, type ProblemCode } from './problem.ts'
import type { Permission, Route, Upload } from './route.ts'
import { isPage, DryRun } from './scalar.ts'
import { textFormatsDescription } from './text.ts'

type Json = Record<string, unknown>

/** Returns the document. `version` is the product's; the API version is in the paths. */
export function openapi(routes: readonly Route[], version: string): Json {
  const { refer, schemas } = createComponents()
  const paths: Record<string, Json> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = refer(operation(route))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pharos API',
      version,
      description:
        'The API of a network service provider, version 3. Bodies are JSON and strict: unknown fields, wrong ' +
        'types and repeated keys are rejected. Errors are RFC 9457 problem documents with a `code` from a closed ' +
        'list. ' +
        textFormatsDescription,
    },
    tags: [...new Set(routes.map((route) => route.group))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'for the web application only',
        },
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`Token <API_TOKEN>`, for programs',
        },
        source: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`Token <secret of the source>`',
        },
      },
      schemas: { ...sorted(schemas), Problem: problemSchema },
    },
  }
}

/**
 * Replaces schemas that have a title by references to components of that name. Throws if two schemas with one title differ
 * in more than their description.
 */
function createComponents(): { refer: <T>(value: T) => T; schemas: Record<string, Json> } {
  const schemas: Record<string, Json> = {}
  function refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(refer)
    if (typeof value !== 'object' || value === null) return value
    // `expects` is for error messages, see text/schema-error.ts; it is not a keyword of JSON Schema.
    const { title, expects: _, ...schema } = mapValues(value as Json, refer)
    if (typeof title !== 'string' || !isSchema(schema))
      return title === undefined ? schema : { title, ...schema }
    const known = (schemas[title] ??= schema)
    if (JSON.stringify({ ...known, description: '' }) !== JSON.stringify({ ...schema, description: '' }))
      throw new Error(`two schemas have the title ${title}`)
    const reference = { $ref: `#/components/schemas/${title}` }
    return known['description'] === schema['description']
      ? reference
      : { ...reference, description: schema['description'] }
  }
  return { refer: refer as <T>(value: T) => T, schemas }
}

const isSchema = (value: Json): boolean => 'type' in value || 'anyOf' in value || 'enum' in value
const mapValues = (record: Json, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
const sorted = (record: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** The schema under a name that follows from the operation, unless it has one of its own. */
const titled = <T extends TSchema>({ name }: Route, suffix: string, schema: T): T =>
  'title' in schema || !isSchema(schema as Json)
    ? schema
    : { ...schema, title: `${name[0]!.toUpperCase()}${name.slice(1)}${suffix}` }

function operation(route: Route): Json {
  return {
    operationId: route.name,
    tags: [route.group],
    summary: route.summary,
    description: route.description,
    security: securityOf(route.permission),
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(route.dryRun ? [dryRunParameter] : []),
      ...conditionalParameters(route),
      ...(route.stream ? [header('Last-Event-ID', 'the id of the last event that the caller has')] : []),
    ],
    ...requestBodyOf(route),
    responses: {
      [route.success]: successOf(route),
      ...dryRunOf(route),
      ...(takesIfNoneMatch(route) ? { 304: { description: 'the answer has not changed' } } : {}),
      ...problemsOf(route),
    },
  }
}

function requestBodyOf(route: Route): Json {
  const { body, upload } = route
  if (upload) return { requestBody: { required: true, content: { 'multipart/form-data': formOf(upload) } } }
  if (!body) return {}
  const schema = titled(route, 'Body', body)
  return { requestBody: { required: true, content: { 'application/json': { schema } } } }
}

/** A file is a binary string (OpenAPI 3.1, 4.8.14.3); `x-max-bytes` is the size limit. */
function formOf({ fields, file }: Upload): Json {
  const { name, description, bytesMax, mediaTypes } = file
  const required = (fields as { required?: string[] }).required ?? []
  return {
    schema: {
      type: 'object',
      required: [name, ...required],
      additionalProperties: false,
      properties: {
        [name]: { type: 'string', format: 'binary', description, 'x-max-bytes': bytesMax },
        ...fields.properties,
      },
    },
    encoding: { [name]: { contentType: mediaTypes.join(', ') } },
  }
}

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
      return [{ bearer: [] }, { token: [] }]
  }
}

function parametersOf(schema: TObject, place: 'path' | 'query'): Json[] {
  const required = new Set<string>((schema as { required?: string[] }).required ?? [])
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (required.has(name) && !('default' in property)),
    ...('description' in property ? { description: property.description } : {}),
    ...('x-empty-is-absent' in property ? { allowEmptyValue: true } : {}),
    schema: property,
  }))
}

const dryRunParameter = {
  name: 'dry_run',
  in: 'query',
  required: false,
  description: 'validate and plan completely, store nothing; the answer contains the changes',
  schema: { type: 'boolean', default: false },
}

const takesIfNoneMatch = ({ conditional, method, response }: Route): boolean =>
  method === 'GET' && (conditional || isPage(response))
/** POST creates a record, so it has no ETag to match. */
const takesIfMatch = ({ conditional, method }: Route): boolean =>
  conditional && method !== 'GET' && method !== 'POST'
export const takesIdempotencyKey = ({ conditional, method }: Route): boolean =>
  conditional && (method === 'POST' || method === 'PATCH')

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

function conditionalParameters(route: Route): Json[] {
  return [
    ...(takesIdempotencyKey(route)
      ? [header('Idempotency-Key', 'a repeat with the same key within 24 h gets the first answer again')]
      : []),
    ...(takesIfMatch(route) ? [header('If-Match', 'the ETag that the record must still have')] : []),
    ...(takesIfNoneMatch(route)
      ? [header('If-None-Match', 'the ETag of the answer that the caller has: 304 while it has not changed')]
      : []),
  ]
}

function successOf(route: Route): Json {
  if (route.download) {
    const bytes = { schema: { type: 'string', format: 'binary' } }
    return {
      description: 'the file, as an attachment',
      content: Object.fromEntries(route.download.map((mediaType) => [mediaType, bytes])),
    }
  }
  if (route.stream) {
    const events = { schema: { type: 'string' } }
    return { description: 'events, until the connection ends', content: { 'text/event-stream': events } }
  }
  const schema = responseSchemas(route)[route.success]
  if (!schema) return { description: 'done' }
  return { description: 'success', content: { 'application/json': { schema } } }
}

/** A dry run of a creating operation returns 200 instead of 201. */
function dryRunOf(route: Route): Json {
  const schema = responseSchemas(route)[200]
  if (route.success === 200 || !schema) return {}
  return { 200: { description: 'result of a dry run', content: { 'application/json': { schema } } } }
}

/** Returns the schemas of success bodies by status, with that of a dry run; empty without a body. */
export function responseSchemas(route: Route): Readonly<Record<number, TSchema>> {
  const { success, dryRun } = route
  if (!route.response) return {}
  const response = titled(route, 'Response', route.response)
  if (!dryRun) return { [success]: response }
  const tried = DryRun(response)
  return success === 200
    ? { 200: { anyOf: [response, tried] } as TSchema }
    : { 200: tried, [success]: response }
}

/** Everything in a team except the caller's own account. */
const asksForSecondFactor = (permission: Permission): boolean =>
  (permission.credential === 'web' || permission.credential === 'any') && permission.personal !== true

/** Returns the error codes of a route: its own, and those implied by its declaration. */
function problemCodesOf(route: Route): ProblemCode[] {
  const { permission } = route
  const codes = new Set<ProblemCode>([
    'malformed',
    'invalid',
    'rate_limited',
    'unavailable',
    'internal',
    ...route.errors,
  ])
  if (permission.credential !== 'none') codes.add('unauthenticated')
  if ('module' in permission) codes.add('module_disabled')
  if ('scope' in permission) codes.add('scope_missing')
  if ('role' in permission) codes.add('forbidden')
  if (asksForSecondFactor(permission)) codes.add('second_factor_required')
  if (Object.keys(route.params.properties).length > 0) codes.add('not_found')
  if (route.body || route.upload) codes.add('body_too_large').add('unsupported_media_type')
  if (takesIfMatch(route)) codes.add('precondition_failed')
  if (takesIdempotencyKey(route)) codes.add('idempotency_in_flight').add('idempotency_mismatch')
  return [...codes]
}

function problemsOf(route: Route): Json {
  const byStatus = Map.groupBy(problemCodesOf(route), (code) => problems[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problems[code].title}`).join('; '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  additionalProperties: false,
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(problems) },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['loc', 'msg', 'type'],
        additionalProperties: false,
        properties: {
          loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          msg: { type: 'string' },
          type: { type: 'string' },
          ctx: { type: 'object' },
        },
      },
    },
    degraded: { type: 'array', items: { type: 'string' } },
    request_id: { type: 'string' },
  },
}
