// Binds route values to use-cases. A domain's routes file calls `handle(route, useCase, deps)`, one line per operation;
// everything that operations have in common (parsing the request, headers, paging links, dry run) is done only here.
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  answersOf,
  dryRunMediaType,
  isPaged,
  locationOf,
  takesIdempotencyKey,
  takesIfMatch,
  takesIfNoneMatch,
} from '@pharos/contract/answers'
import {
  anonymousBodyBytesMax,
  keylessReasons,
  type ArgsOf,
  type BodyOf,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
  type Route,
  type Upload,
} from '@pharos/contract/route'
import type { Deprecation } from '@pharos/contract/deprecation'
import { Type, type TObject } from 'typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail, invalid } from '../runtime/error.ts'
import { onlyAbsent } from '../operation/etag.ts'
import {
  actorName,
  type Actor,
  type AnyActor,
  type Operation,
  type StaffActor,
  type StaffOperation,
} from '../operation/operation.ts'
import { createDeprecations, deprecationHeaders } from './deprecation.ts'
import { sendEvents, type Following, type ServerEvents } from './event-stream.ts'
import { createFormReader, formOverheadBytes, type UploadedFile } from './multipart.ts'
import { requestHashOf } from '../operation/request-hash.ts'
import { createPathReader, createQueryReader } from './query.ts'
import { parseJsonBody } from './strict-json.ts'
import { explainUnknownFields } from './unknown-field.ts'
import { createCheck } from './validate.ts'

/** Rendered JSON, sent as it is: for resources stored as text. `count` is the count of a page. */
export type RawJson = { readonly raw: string; readonly count?: number }

/** A file to download: never rendered within a page of the portal, whatever it contains. */
export type Download = { readonly bytes: Buffer; readonly mediaType: string; readonly filename: string }

export type Reply<R extends Route> = {
  /** Null or undefined for 204 and 304. */
  readonly body?: ResponseOf<R> | DryRunBody | ValidationBody | RawJson | null | undefined
  /** Sent instead of a body. */
  readonly download?: Download
  /** Sent instead of a body. */
  readonly events?: ServerEvents
  /** With the quotes, such as `"7"`. */
  readonly etag?: string
  /** Overrides the route's `success`: 304, or the status of a replayed response. */
  readonly status?: number
  /** Adds the header `Idempotency-Replayed`. */
  readonly replayed?: boolean
  readonly headers?: Readonly<Record<string, string | string[]>>
}
export type DryRunBody = { readonly dry_run: true }
/** The answer of a route with `trial`. */
export type ValidationBody = { readonly validated: true }

export type Request<R extends Route> = {
  readonly params: ParamsOf<R>
  readonly query: QueryOf<R>
  readonly body: BodyOf<R>
  readonly headers: FastifyRequest['headers']
  readonly address: string
  readonly requestId: string
}

/**
 * The result of a use-case: the response itself, undefined, or a reply with headers. A response that has a field `body`
 * must be returned as a reply.
 */
export type Returned<R extends Route> =
  | Reply<R>
  | (R['response'] extends null ? void : never)
  | (ResponseOf<R> extends { readonly body: unknown } ? never : ResponseOf<R>)
  | (R['response'] extends null ? never : RawJson)
  | (R['download'] extends null ? never : Download)

/**
 * The arguments of a use-case: the path parameters in order, then the body (or the form), then the query, if the route
 * has them, and last the whole request for use-cases that need a header.
 */
type Args<R extends Route> = [...ArgsOf<R, UploadedFile>, Request<R>]

/** The caller of a route that requires no credential: has an actor if the request had a credential. */
export type Guest = { readonly actor: Actor | null; readonly requestId: string; readonly address: string }

type Slice = { readonly limit: number; readonly offset: number }

/** A reply with the values for its `Link` header, if it is a page. */
type Sent = Reply<Route> & {
  readonly page?: Slice & { readonly count: number }
  readonly deprecations?: readonly Deprecation[]
}

export type Mounted = {
  readonly route: Route
  readonly answer: (
    request: FastifyRequest,
    actor: AnyActor | null,
    following: Following | undefined,
  ) => Promise<Sent>
  /** The body arrives as bytes, of any media type. */
  readonly rawBody: boolean
}

/** Mounts a route that requires a credential: the use-case gets an operation with an actor. */
export function handle<R extends Route, Deps>(
  route: R,
  useCase: (deps: Deps, operation: Operation, ...args: Args<R>) => Promise<Returned<R>> | Returned<R>,
  deps: Deps,
): Mounted {
  if (isOfStaff(route)) throw new Error(`${route.name} is a route of staff`)
  const read = createReader(route)
  const argsOf = createArgs(route)
  return mounted(route, async (request, actor) => {
    const parts = await read(request)
    const operation = operationOf(route, request, requireTeamActor(route, actor), parts)
    return replyOf(route, parts, await useCase(deps, operation, ...(argsOf(parts) as Args<R>)))
  })
}

const isOfStaff = ({ permission }: Route): boolean => 'role' in permission && permission.role === 'staff'

/** Mounts a route of staff: the use-case gets an operation whose actor may be a program without a team. */
export function handleStaff<R extends Route, Deps>(
  route: R,
  useCase: (deps: Deps, operation: StaffOperation, ...args: Args<R>) => Promise<Returned<R>> | Returned<R>,
  deps: Deps,
): Mounted {
  const read = createReader(route)
  const argsOf = createArgs(route)
  return mounted(route, async (request, actor) => {
    const parts = await read(request)
    const operation = operationOf(route, request, requireStaffActor(route, actor), parts)
    return replyOf(route, parts, await useCase(deps, operation, ...(argsOf(parts) as Args<R>)))
  })
}

/** Mounts a route whose credential is optional or in the body. */
export function handleGuest<R extends Route, Deps>(
  route: R,
  useCase: (deps: Deps, guest: Guest, ...args: Args<R>) => Promise<Returned<R>> | Returned<R>,
  deps: Deps,
): Mounted {
  if (takesIdempotencyKey(route)) throw new Error(`${route.name} has no caller to whom a key could belong`)
  const read = createReader(route)
  const argsOf = createArgs(route)
  return mounted(route, async (request, actor) => {
    const parts = await read(request)
    const guest = {
      actor: actor && requireTeamActor(route, actor),
      requestId: request.id,
      address: request.ip,
    }
    return replyOf(route, parts, await useCase(deps, guest, ...(argsOf(parts) as Args<R>)))
  })
}

/** Mounts a stream. An error before its first event becomes an error response. */
export function handleStream<R extends Route>(
  route: R,
  fn: (operation: Operation, request: Request<R>, following: Following) => Promise<ServerEvents>,
): Mounted {
  if (!route.stream) throw new Error(`${route.name} declares no stream`)
  const read = createReader(route)
  return mounted(route, async (request, actor, following) => {
    if (!following) throw fail('internal', 'mounted', { route: route.name, as: 'a route without a stream' })
    const parts = await read(request)
    const operation = operationOf(route, request, requireTeamActor(route, actor), parts)
    return { events: await fn(operation, parts as unknown as Request<R>, following) }
  })
}

/** Mounts a route that accepts any bytes, such as a detector's delivery. */
export function handleRaw<R extends Route, Deps>(
  route: R,
  useCase: (
    deps: Deps,
    request: Omit<Request<R>, 'body'> & { readonly body: Buffer },
  ) => Promise<Returned<R>>,
  deps: Deps,
): Mounted {
  const read = createReader({ ...route, body: null })
  const raw = mounted(route, async (request) => {
    const parts = await read(request)
    const result = await useCase(deps, { ...(parts as unknown as Request<R>), body: bytesOf(request) })
    return replyOf(route, parts, result)
  })
  return { ...raw, rawBody: true }
}

const mounted = (route: Route, answer: Mounted['answer']): Mounted => ({ route, rawBody: false, answer })

/** Converts a use-case's result to a reply; see `Returned`. */
function replyOf(route: Route, { query, deprecations }: Parts, result: unknown): Sent {
  const reply = { ...wrap(route, result), deprecations }
  if (!isPaged(route)) return reply
  const { limit, offset } = query as Slice
  return { ...reply, page: { limit, offset, count: (reply.body as { count: number }).count } }
}

function wrap(route: Route, result: unknown): Reply<Route> {
  if (result === undefined) return {}
  if (route.response === null && route.download === null) return result as Reply<Route>
  if ('body' in (result as object)) return result as Reply<Route>
  return route.download ? { download: result as Download } : { body: result as DryRunBody }
}

/** Returns the actor of a route of a team; `authorize` has refused any other. */
export function requireTeamActor(route: Route, actor: AnyActor | null): Actor {
  if (!actor) throw fail('internal', 'mounted', { route: route.name, as: 'a route without a credential' })
  if (actor.kind === 'staff_token')
    throw fail('internal', 'mounted', { route: route.name, as: 'a route of a team' })
  return actor
}

function requireStaffActor(route: Route, actor: AnyActor | null): StaffActor {
  if (!actor?.isStaff) throw fail('internal', 'mounted', { route: route.name, as: 'a route of staff' })
  return actor
}

type Parts = {
  readonly params: Record<string, unknown>
  readonly query: object
  readonly body: unknown
  readonly dryRun: boolean
  /** The bytes, or the digest of a form, that an Idempotency-Key is bound to. */
  readonly content: Buffer
  /** Of the operation, and of the fields in the request. */
  readonly deprecations: readonly Deprecation[]
} & Pick<Request<Route>, 'headers' | 'address' | 'requestId'>

/** Returns the function that lists the arguments of the route's use-case. */
function createArgs(route: Route): (parts: Parts) => unknown[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const hasBody = route.body !== null || route.upload !== null
  const hasQuery = Object.keys(route.query.properties).length > 0
  return (parts) => {
    const args: unknown[] = names.map((name) => parts.params[name])
    if (hasBody) args.push(parts.body)
    if (hasQuery) args.push(parts.query)
    args.push(parts)
    return args
  }
}

const noIfMatch = 'it changes no record with an ETag'

/** Only the reader of a form returns a promise. */
function createReader(route: Route): (request: FastifyRequest) => Parts | Promise<Parts> {
  const readPath = createPathReader(route.params)
  const readQuery = createQueryReader(withDryRun(route))
  const readBody = createBodyReader(route)
  const deprecationsOf = createDeprecations(route)
  return (request) => {
    if (route.keyless && request.headers['idempotency-key'] !== undefined)
      throw invalid(['header', 'Idempotency-Key'], 'keyless', { reason: keylessReasons[route.keyless] })
    // Ignoring a precondition would apply a change that the client did not want.
    if (route.method !== 'GET' && !takesIfMatch(route) && request.headers['if-match'] !== undefined)
      throw invalid(['header', 'If-Match'], 'keyless', { reason: noIfMatch })
    const params = readPath(request.params as Record<string, string>)
    const query = readQuery(searchOf(request))
    const dryRun = route.dryRun && query['dry_run'] === true
    if (route.dryRun) delete query['dry_run']
    const body = readBody(request)
    const parts = (read: Body) => ({
      ...partsOf(request, params, query, dryRun, read),
      deprecations: deprecationsOf(searchOf(request), read.body),
    })
    return body instanceof Promise ? body.then(parts) : parts(body)
  }
}

const partsOf = (
  request: FastifyRequest,
  params: Parts['params'],
  query: object,
  dryRun: boolean,
  { body, content }: Body,
): Omit<Parts, 'deprecations'> => ({
  params,
  query,
  body,
  content,
  dryRun,
  headers: request.headers,
  address: request.ip,
  requestId: request.id,
})

type Body = Pick<Parts, 'body' | 'content'>
type ReadBody = (request: FastifyRequest) => Body | Promise<Body>

/** Parses JSON, or a form with a file. The form is validated strictly; the content of the file is not. */
function createBodyReader(route: Route): ReadBody {
  const { body, upload, bodyOptional } = route
  if (upload) return createFormBodyReader(upload)
  const check = body ? createCheck('body', body, { explainUnknown: explainUnknownFields(route) }) : undefined
  return (request) => {
    const content = bytesOf(request)
    const isLeftOut = bodyOptional && content.length === 0
    const value = !check ? undefined : isLeftOut ? {} : parseJsonBody(content)
    check?.(value)
    return { body: value, content }
  }
}

function createFormBodyReader(upload: Upload): ReadBody {
  const readForm = createFormReader(upload)
  return async (request) => {
    const { fields, file, digest } = await readForm(request.headers['content-type'], bytesOf(request))
    return { body: { ...(fields as object), file }, content: digest }
  }
}

const queriesWithDryRun = new WeakMap<Route, TObject>()

/** Returns the same object for each server: the validator of a schema is compiled once. */
function withDryRun(route: Route): TObject {
  if (!route.dryRun) return route.query
  const query =
    queriesWithDryRun.get(route) ??
    Type.Object(
      { ...route.query.properties, dry_run: Type.Optional(Type.Boolean()) },
      { additionalProperties: false },
    )
  queriesWithDryRun.set(route, query)
  return query
}

function searchOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

const bytesOf = (request: FastifyRequest): Buffer => (Buffer.isBuffer(request.body) ? request.body : noBytes)
const noBytes = Buffer.alloc(0)

function operationOf<A extends AnyActor>(
  route: Route,
  request: FastifyRequest,
  actor: A,
  { dryRun, content }: Pick<Parts, 'dryRun' | 'content'>,
): Operation<A> {
  return {
    actor,
    requestId: request.id,
    address: request.ip,
    dryRun,
    ifMatch: takesIfMatch(route) ? ifMatchOf(request) : null,
    idempotency: takesIdempotencyKey(route) ? idempotencyOf(route, request, actor, content) : null,
  }
}

function idempotencyOf(
  route: Route,
  request: FastifyRequest,
  actor: AnyActor,
  content: Buffer,
): Operation['idempotency'] {
  const key = singleHeader(request, 'idempotency-key')
  if (key === null) return null
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalid(['header', 'Idempotency-Key'], 'idempotencyKey')
  }
  return { key, requestHash: requestHashOf(actorName(actor), route.method, request.raw.url!, content) }
}

/** Returns the header; throws 422 if a tag has no quotes or is weak, which would never match (RFC 9110, 13.1.1). */
function ifMatchOf(request: FastifyRequest): string | null {
  const header = singleHeader(request, 'if-match')
  if (header === null && singleHeader(request, 'if-none-match')?.trim() === '*') return onlyAbsent
  if (header === null || /^ *(\*|"[^"]*"( *, *"[^"]*")*) *$/.test(header)) return header
  throw invalid(['header', 'If-Match'], 'ifMatch')
}

function singleHeader(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name]
  return value === undefined ? null : [value].flat().join(', ')
}

/** Reserves the slot of a stream and sends its events; see event-stream.ts. */
export type Follow = (request: FastifyRequest, reply: FastifyReply) => Following

/** Adds one route to the server. The credential was checked before the body was read; see server.ts. */
export function mount(server: FastifyInstance, mounted: Mounted, follow?: Follow): void {
  const { route, answer } = mounted
  const ofRoute = deprecationHeaders(route, route.deprecated ? [route.deprecated] : [])
  server.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { mounted },
    ...(route.upload ? { bodyLimit: route.upload.file.bytesMax + formOverheadBytes } : {}),
    ...(route.bodyBytesMax === null ? {} : { bodyLimit: bodyLimitOf(server, route.bodyBytesMax) }),
    ...(route.secret ? { compress: false } : {}),
    schema: { response: serializedAnswers(route) },
    handler: async (request, reply) => {
      // Before the use-case, so that errors have them too.
      reply.headers(ofRoute)
      return send(route, await answer(request, request.actor, follow?.(request, reply)), request, reply)
    },
  })
}

/** Operations that anyone may call take no more than others: an installation may have a lower limit than theirs. */
const bodyLimitOf = ({ initialConfig: { bodyLimit } }: FastifyInstance, bytesMax: number): number =>
  bytesMax > anonymousBodyBytesMax ? bytesMax : Math.min(bytesMax, bodyLimit ?? bytesMax)

/** The schemas of JSON answers by status and media type, from which the framework compiles serializers. */
const serializedAnswers = (route: Route) =>
  Object.fromEntries(
    Object.entries(answersOf(route))
      .map(([status, bodies]) => [status, mapValues(bodies, (schema) => ({ schema }))] as const)
      .filter(([, content]) => Object.keys(content).length > 0)
      .map(([status, content]) => [status, { content }]),
  )

const mapValues = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))

function send(route: Route, result: Sent, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (result.headers) reply.headers(result.headers)
  if (result.deprecations) reply.headers(deprecationHeaders(route, result.deprecations))
  if (result.page) addLinks(result.page, request, reply)
  if (result.replayed) reply.header('idempotency-replayed', 'true')
  reply.status(result.status ?? route.success)
  if (result.body && !route.secret) reply.header('vary', 'accept-encoding')
  const text = renderedText(route, result, reply)
  const etag = result.etag ?? (text === undefined ? undefined : etagOf(text, result.page !== undefined))
  if (etag !== undefined) {
    reply.header('etag', etag)
    if (route.method === 'GET' && matches(request.headers['if-none-match'], etag))
      return reply.status(304).send()
  }
  if (result.download) return sendDownload(result.download, reply)
  if (result.events) return sendEvents(result.events, request, reply)
  if (result.body === undefined || result.body === null) return reply.send()
  if (reply.statusCode === 201) addLocation(route, result.body, request, reply)
  const mediaType = isDryRun(result.body) ? dryRunMediaType : 'application/json'
  reply.header('content-type', `${mediaType}; charset=utf-8`)
  return text === undefined ? reply.send(result.body) : reply.serializer(asItIs).send(text)
}

/** The body of a page, of a rendered resource, or of a record without a version: its ETag is computed from the text. */
function renderedText(route: Route, { body, etag, page }: Sent, reply: FastifyReply): string | undefined {
  if (isRaw(body)) return body.raw
  if (!page && (etag !== undefined || !body || !takesIfNoneMatch(route))) return undefined
  return reply.getSerializationFunction(`${reply.statusCode}`, 'application/json')!(
    body as Record<string, unknown>,
  )
}

/** Cacheable by the client only, not by proxies; a browser that renders it anyway runs no script of it. */
function sendDownload({ bytes, mediaType, filename }: Download, reply: FastifyReply): FastifyReply {
  return reply
    .header('content-type', mediaType)
    .header('content-disposition', attachment(filename))
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
    .header('cache-control', 'private, no-store')
    .send(bytes)
}

/** RFC 6266, with an ASCII name for clients that do not support the encoded one. */
function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/**
 * The ETag of a text without a version. That of a page is weak and made from its CRC-32 and its length: SHA-256 would take
 * longer than everything else that is done for a page of 75 kB.
 */
function etagOf(text: string, isPage: boolean): string {
  if (isPage) return `W/"${crc32(text).toString(36)}-${text.length.toString(36)}"`
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`
}

const isDryRun = (body: object): boolean => 'dry_run' in body

/** The parameters are the unparsed path parameters: a team stays `current`. */
function addLocation(route: Route, body: object, request: FastifyRequest, reply: FastifyReply): void {
  const location = locationOf(route, request.params as Record<string, unknown>, body)
  if (location !== undefined) reply.header('location', location)
}

const asItIs = (text: unknown) => text as string
const isRaw = (body: object | null | undefined): body is RawJson =>
  typeof body === 'object' && body !== null && 'raw' in body

/**
 * Returns whether an If-Match or If-None-Match list contains the tag; weak and strong tags compare as equal for reads.
 */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const strong = etag.replace(/^W\//, '')
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === strong)
}

function addLinks(
  { limit, offset, count }: NonNullable<Sent['page']>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const links: string[] = []
  if (offset + limit < count) links.push(linkTo(request, limit, offset + limit, 'next'))
  if (offset > 0) links.push(linkTo(request, limit, Math.max(0, Math.min(offset, count) - limit), 'prev'))
  if (links.length > 0) reply.header('link', [reply.getHeader('link') ?? [], links].flat().join(', '))
}

function linkTo(request: FastifyRequest, limit: number, offset: number, relation: string): string {
  const search = new URLSearchParams(searchOf(request))
  search.set('limit', String(limit))
  search.set('offset', String(offset))
  const path = (request.raw.url ?? '').split('?', 1)[0]
  return `<${path}?${search}>; rel="${relation}"`
}
