// The OpenAPI 3.1 document, made from the route values. Pure: the same routes give the same text, so that the
// committed contract/openapi.json is a golden.
import type { TObject, TSchema } from 'typebox'
import { problems, type ProblemCode } from './problem.ts'
import type { Permission, Route, Upload } from './route.ts'
import { DryRun } from './scalar.ts'
import { textFormatsDescription } from './text.ts'

type Json = Record<string, unknown>

/** The whole document. `version` is the product's, the API's own is in the paths. */
export function openapi(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pharos API',
      version,
      description:
        'The interface of a network service provider, version 3. Bodies are JSON and strict: an unknown field, a wrong ' +
        'type or a repeated key is refused. Errors are RFC 9457 problem documents with a `code` from a closed list. ' +
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
      schemas: { Problem: problemSchema },
    },
  }
}

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
      ...(takesIfNoneMatch(route) ? { 304: { description: 'the record still has the ETag' } } : {}),
      ...problemsOf(route),
    },
  }
}

function requestBodyOf({ body, upload }: Route): Json {
  if (upload) return { requestBody: { required: true, content: { 'multipart/form-data': formOf(upload) } } }
  return body ? { requestBody: { required: true, content: { 'application/json': { schema: body } } } } : {}
}

/** A file is a string of bytes (OpenAPI 3.1, 4.8.14.3); the largest size is said in a keyword of ours. */
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
  description: 'validate and plan in full, store nothing; the answer says what would change',
  schema: { type: 'boolean', default: false },
}

const takesIfNoneMatch = ({ conditional, method }: Route): boolean => conditional && method === 'GET'
/** Of the record that is there already: a POST makes one. */
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
      ? [header('If-None-Match', 'the ETag of the record that the caller has: 304 while it has not changed')]
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
    return { description: 'events, for as long as it goes on', content: { 'text/event-stream': events } }
  }
  const schema = responseSchemas(route)[route.success]
  if (!schema) return { description: 'done' }
  return { description: 'success', content: { 'application/json': { schema } } }
}

/** What is made is 201, what would be made is 200. */
function dryRunOf(route: Route): Json {
  const schema = responseSchemas(route)[200]
  if (route.success === 200 || !schema) return {}
  return { 200: { description: 'what a dry run would do', content: { 'application/json': { schema } } } }
}

/** The schemas of success bodies by status: the record, and what a dry run answers. None where there is no body. */
export function responseSchemas({ response, success, dryRun }: Route): Readonly<Record<number, TSchema>> {
  if (!response) return {}
  if (!dryRun) return { [success]: response }
  const tried = DryRun(response)
  return success === 200
    ? { 200: { anyOf: [response, tried] } as TSchema }
    : { 200: tried, [success]: response }
}

/** Everything that works in a team and is not about the caller's own account. */
const asksForSecondFactor = (permission: Permission): boolean =>
  (permission.credential === 'web' || permission.credential === 'any') && permission.personal !== true

/** The codes that a route may answer with: its own, and those that follow from its shape. */
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
