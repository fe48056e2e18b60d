// The answers of an operation, derived from its route: bodies by status and media type, error codes, and headers. The server
// serialises with the schemas, and the OpenAPI document declares them.
import type { TSchema } from 'typebox'
import { deprecationsIn } from './deprecation.ts'
import { problems, type ProblemCode } from './problem.ts'
import type { Permission, Route } from './route.ts'
import { DryRun, isPage } from './scalar.ts'

/** The media type of the answer to `dry_run=true`: clients generate a type of its own for it. */
export const dryRunMediaType = 'application/vnd.pharos.dry-run+json'

export const takesIfNoneMatch = ({ conditional, method, response }: Route): boolean =>
  method === 'GET' && (conditional || isPage(response))
/** Most POST operations create a record, which has no ETag to match. */
export const takesIfMatch = ({ conditional, method, ifMatch }: Route): boolean =>
  conditional && method !== 'GET' && (method !== 'POST' || ifMatch)
export const takesIdempotencyKey = ({ keyless, method }: Route): boolean =>
  method !== 'GET' && keyless === null

type Bodies = Readonly<Record<string, TSchema>>

type Answers = Readonly<Record<number, Bodies>>

const answersByRoute = new WeakMap<Route, Answers>()

/**
 * Returns the schemas of success bodies by status and media type; no media types for an answer without a body. They are always the
 * same objects, for which a serializer is compiled once.
 */
export function answersOf(route: Route): Answers {
  const answers = answersByRoute.get(route) ?? createAnswers(route)
  answersByRoute.set(route, answers)
  return answers
}

function createAnswers(route: Route): Answers {
  const { success, response, dryRun, also, trial } = route
  const record = response && titled(route, 'Response', response)
  const answer: Bodies = record ? { 'application/json': record } : {}
  if (trial) return { 200: { 'application/json': trial }, [success]: answer }
  const answers: Record<number, Bodies> = { [success]: answer }
  for (const status of Object.keys(also)) answers[Number(status)] = status === '204' ? {} : answer
  if (dryRun) answers[200] = { ...answers[200], [dryRunMediaType]: DryRun(record) }
  return answers
}

/** Returns the schema with a title that follows from the operation, unless it already has a title. */
export const titled = <T extends TSchema>({ name }: Pick<Route, 'name'>, suffix: string, schema: T): T =>
  'title' in schema || !isNameable(schema)
    ? schema
    : { ...schema, title: `${name[0]!.toUpperCase()}${name.slice(1)}${suffix}` }

const isNameable = (schema: TSchema): boolean => 'type' in schema || 'anyOf' in schema || 'enum' in schema

/** Everything in a team except the caller's own account. */
const asksForSignIn = (permission: Permission): boolean =>
  (permission.credential === 'web' || permission.credential === 'any') && permission.personal !== true

/** Everything in a team except the caller's own account: staff who are no member need an open access to it. */
const asksForReason = (permission: Permission): boolean => asksForSignIn(permission) && !isOfStaff(permission)

const isOfStaff = (permission: Permission): boolean => 'role' in permission && permission.role === 'staff'

/** Refused while a restored database waits for the provider. */
export const isCustomerChange = ({ method, keyless, permission }: Route): boolean =>
  method !== 'GET' &&
  keyless !== 'read' &&
  (permission.credential === 'any' || permission.credential === 'web') &&
  permission.role !== 'staff' &&
  permission.personal !== true

/** Returns the error codes of a route: its own, and those implied by its declaration. */
export function problemCodesOf(route: Route): ProblemCode[] {
  const { permission } = route
  const codes = new Set<ProblemCode>([
    'malformed',
    'invalid',
    'rate_limited',
    'unavailable',
    'internal',
    ...route.errors,
  ])
  if (isCustomerChange(route)) codes.add('restoring')
  if (permission.credential !== 'none') codes.add('unauthenticated')
  if (permission.credential !== 'none' && permission.credential !== 'source') codes.add('wrong_scheme')
  if ('module' in permission) codes.add('module_disabled')
  if ('scope' in permission) codes.add('scope_missing')
  if ('scope' in permission && permission.role !== 'staff') codes.add('resource_limited')
  if ('role' in permission || 'grant' in permission) codes.add('forbidden')
  if (asksForSignIn(permission)) codes.add('second_factor_required').add('sign_in_required')
  if ('local' in permission) codes.add('local_sign_in_required')
  if (asksForReason(permission)) codes.add('reason_required')
  if (Object.keys(route.params.properties).length > 0) codes.add('not_found')
  if (route.body || route.upload) codes.add('body_too_large').add('unsupported_media_type')
  if (takesIfMatch(route)) codes.add('precondition_failed')
  if (takesIdempotencyKey(route)) codes.add('idempotency_in_flight').add('idempotency_mismatch')
  return [...codes]
}

type HeaderSchema = { readonly type: 'string' } | { readonly type: 'integer'; readonly format: 'int32' }

/**
 * The headers of answers, components of the OpenAPI document. `always`: declared as required. The rate limit is missing if the
 * server refuses a request before it knows the credential, because it is overloaded.
 */
export const answerHeaders = {
  'X-Request-Id': {
    description: 'Id of the request. Include it when you contact the provider.',
    schema: { type: 'string' },
    always: true,
    example: '5f0f6c1e-93a5-4d0c-8f4e-0a9c1d7b2e34',
  },
  'RateLimit-Limit': {
    description: 'Number of requests that the credential may send at once.',
    schema: { type: 'integer', format: 'int32' },
    always: false,
    example: 500,
  },
  'RateLimit-Remaining': {
    description: 'Number of requests left now.',
    schema: { type: 'integer', format: 'int32' },
    always: false,
    example: 487,
  },
  'RateLimit-Reset': {
    description: 'Seconds until all requests are available again.',
    schema: { type: 'integer', format: 'int32' },
    always: false,
    example: 1,
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is repeated.',
    schema: { type: 'integer', format: 'int32' },
    always: false,
    example: 3,
  },
  ETag: {
    description:
      'Version of the record, with the quotes, for `If-Match` and `If-None-Match`. A part after a dot changes with what the server ' +
      'adds to the record, such as checks; `If-Match` does not compare it. The ETag of a list is weak: for `If-None-Match` only. ' +
      'Omitted if the request created several records.',
    schema: { type: 'string' },
    always: false,
    example: '"7"',
  },
  Link: {
    description:
      'Paths of the next and the previous page (RFC 8288), each only if there is one, and the page about a deprecation.',
    schema: { type: 'string' },
    always: false,
    example: '</v3/ipam/announcements?limit=100&offset=100>; rel="next"',
  },
  Location: {
    description: 'Path of the created record. Omitted if the request created several.',
    schema: { type: 'string' },
    always: false,
    example: '/v3/ipam/announcements/4211',
  },
  Deprecation: {
    description:
      'Time from which the operation, or a field of the request, should not be used (RFC 9745). `Link` with `rel="deprecation"` is ' +
      'the page that says what to use instead.',
    schema: { type: 'string' },
    always: false,
    example: '@1764547200',
  },
  Sunset: {
    description: 'Time from which it may be gone (RFC 8594).',
    schema: { type: 'string' },
    always: false,
    example: 'Tue, 01 Dec 2026 00:00:00 GMT',
  },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored answer to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string' },
    always: false,
    example: 'true',
  },
  'WWW-Authenticate': {
    description: 'The accepted schemes of `Authorization` (RFC 9110, 11.6.1).',
    schema: { type: 'string' },
    always: true,
    example: 'Token realm="pharos", Bearer realm="pharos"',
  },
  'Content-Disposition': {
    description: 'The name of the file.',
    schema: { type: 'string' },
    always: true,
    example: 'attachment; filename="loa-203.0.113.0-24.pdf"',
  },
} as const satisfies Record<
  string,
  { description: string; schema: HeaderSchema; always: boolean; example: unknown }
>
export type AnswerHeader = keyof typeof answerHeaders

const everyAnswer = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

/** Whether the operation, or something that a request to it may contain, is deprecated. */
const isDeprecated = ({ deprecated, query, body, upload }: Route): boolean =>
  deprecated !== null || [query, body, upload?.fields ?? null].some((one) => deprecationsIn(one).length > 0)

/** Returns the headers of a success or of a 304. */
export function answerHeadersOf(route: Route, status: number): AnswerHeader[] {
  const headers: AnswerHeader[] = [...everyAnswer]
  if (isDeprecated(route)) headers.push('Deprecation', 'Sunset')
  if (isPaged(route) || isDeprecated(route)) headers.push('Link')
  if (hasETag(route)) headers.push('ETag')
  if (status === 201) headers.push('Location')
  if (takesIdempotencyKey(route)) headers.push('Idempotency-Replayed')
  if (route.download) headers.push('Content-Disposition')
  return headers
}

/** A request that created one record of a list answers with the ETag of that record. */
const hasETag = ({ conditional, creates, response }: Route): boolean =>
  creates !== null || (conditional && response !== null && !isPage(response))

/** Returns the headers of an error answer. */
export function problemHeadersOf(status: number): AnswerHeader[] {
  if (status === 401) return [...everyAnswer, 'WWW-Authenticate']
  return status === 409 || status === 429 || status === 503
    ? [...everyAnswer, 'Retry-After']
    : [...everyAnswer]
}

/** Returns the error codes of a route by status. */
export const problemCodesByStatus = (route: Route): ReadonlyMap<number, readonly ProblemCode[]> =>
  Map.groupBy(problemCodesOf(route), (code) => problems[code].status)

/** Whether the route returns a list in pages. */
export const isPaged = ({ query, response }: Route): boolean =>
  'offset' in query.properties && isPage(response)

/**
 * Returns the path of what a request created: the path of `creates` with the parameters of the request, and for others the field
 * of the created record with this name, by default its id. Undefined if the route has no `creates`, or the request created several records.
 */
export function locationOf(
  { creates }: Route,
  params: Readonly<Record<string, unknown>>,
  body: unknown,
): string | undefined {
  const record = creates && createdRecord(body)
  if (!record) return undefined
  const values = [...creates!.path.matchAll(/\{(\w+)\}/g)].map(
    ([, name]) => params[name!] ?? valueOf(record, name!),
  )
  if (values.includes(undefined)) return undefined
  return creates!.path.replace(/\{\w+\}/g, () => encodeURIComponent(String(values.shift())))
}

type Created = Readonly<Record<string, unknown>>

/** The value of a record for a parameter of its path. A record inside the answer, such as the zone of an import, counts by its id. */
function valueOf(record: Created, name: string): unknown {
  const value = record[name] ?? record['id']
  return typeof value === 'object' && value !== null ? (value as Created)['id'] : value
}

function createdRecord(body: unknown): Created | undefined {
  const { results } = body as { results?: readonly Created[] }
  if (results) return results.length === 1 ? results[0] : undefined
  return body as Created
}
