// Binds route values to use-cases. A domain's routes file says `handle(route, fn)`, one line per operation; what every
// operation has in common (reading the request, the answer's headers, paging links, dry run) happens here and only here.
import { createHash, hash } from 'node:crypto'
import { responseSchemas, takesIdempotencyKey } from '@pharos/contract/openapi'
import type { BodyOf, FieldsOf, ParamsOf, QueryOf, ResponseOf, Route } from '@pharos/contract/route'
import { Type, type TObject } from 'typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail, invalid } from '../runtime/error.ts'
import { actorName, type Actor, type Operation } from '../runtime/operation.ts'
import { sendEvents, type Following, type ServerEvents } from './event-stream.ts'
import { createFormReader, formOverheadBytes, type UploadedFile } from './multipart.ts'
import { createPathReader, createQueryReader } from './query.ts'
import { parseJsonBody } from './strict-json.ts'
import { createCheck } from './validate.ts'

/** JSON that is rendered already: sent as it is. For lists that are joined from stored fragments. */
export type RawJson = { readonly raw: string }

/** A file to keep: never shown in a page of ours, whatever is in it. */
export type Download = { readonly bytes: Buffer; readonly mediaType: string; readonly filename: string }

export type Reply<R extends Route> = {
  /** Undefined for 204 and 304. */
  readonly body?: ResponseOf<R> | DryRunBody | RawJson
  /** In the place of a body. */
  readonly download?: Download
  /** In the place of a body: an answer that goes on. */
  readonly events?: ServerEvents
  /** With the quotes, such as `"7"`. */
  readonly etag?: string
  /** Another status than the route's `success`: 304, or that of a replayed answer. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** For a list: makes the `Link` header. */
  readonly page?: { readonly limit: number; readonly offset: number; readonly count: number }
}
export type DryRunBody = { readonly dry_run: true }

export type Request<R extends Route> = {
  readonly params: ParamsOf<R>
  readonly query: QueryOf<R>
  readonly body: BodyOf<R>
  readonly headers: FastifyRequest['headers']
  readonly address: string
  readonly requestId: string
}

/** What a route without a required credential gets: an actor if one was presented. */
export type Guest = { readonly actor: Actor | null; readonly requestId: string; readonly address: string }

export type Mounted = {
  readonly route: Route
  readonly answer: (
    request: FastifyRequest,
    actor: Actor | null,
    following: Following | undefined,
  ) => Promise<Reply<Route>>
  /** The body arrives as bytes, of any media type. */
  readonly rawBody: boolean
}

/** A route that needs a credential: the use-case gets an operation with an actor. */
export function handle<R extends Route>(
  route: R,
  fn: (operation: Operation, request: Request<R>) => Promise<Reply<R>>,
): Mounted {
  const read = createReader(route)
  return {
    route,
    rawBody: false,
    answer: async (request, actor) => {
      if (!actor) throw fail('internal', 'mounted', { route: route.name, as: 'a route without a credential' })
      const { dryRun, ...parts } = read(request)
      return fn(operationOf(route, request, actor, dryRun), parts as Request<R>)
    },
  }
}

/** A route that takes a form with a file. What was sent is read and strict; what the file is, is not looked at. */
export function handleUpload<R extends Route>(
  route: R,
  fn: (
    operation: Operation,
    request: Omit<Request<R>, 'body'> & { readonly fields: FieldsOf<R>; readonly file: UploadedFile },
  ) => Promise<Reply<R>>,
): Mounted {
  if (!route.upload) throw new Error(`${route.name} declares no upload`)
  const read = createReader({ ...route, body: null })
  const readForm = createFormReader(route.upload)
  return {
    route,
    rawBody: false,
    answer: async (request, actor) => {
      if (!actor) throw fail('internal', 'mounted', { route: route.name, as: 'a route without a credential' })
      const { dryRun, ...parts } = read(request)
      const { fields, file, digest } = await readForm(request.headers['content-type'], bytesOf(request))
      const operation = operationOf(route, request, actor, dryRun, digest)
      return fn(operation, { ...(parts as Request<R>), fields: fields as FieldsOf<R>, file })
    },
  }
}

/** A route whose answer goes on. What the use-case throws before its first event is answered as anywhere. */
export function handleStream<R extends Route>(
  route: R,
  fn: (operation: Operation, request: Request<R>, following: Following) => Promise<ServerEvents>,
): Mounted {
  if (!route.stream) throw new Error(`${route.name} declares no stream`)
  const read = createReader(route)
  return {
    route,
    rawBody: false,
    answer: async (request, actor, following) => {
      if (!actor || !following)
        throw fail('internal', 'mounted', { route: route.name, as: 'a route without a stream' })
      const { dryRun, ...parts } = read(request)
      const operation = operationOf(route, request, actor, dryRun)
      return { events: await fn(operation, parts as Request<R>, following) }
    },
  }
}

/** A route whose credential is optional or in the body. */
export function handleGuest<R extends Route>(
  route: R,
  fn: (guest: Guest, request: Request<R>) => Promise<Reply<R>>,
): Mounted {
  const read = createReader(route)
  return {
    route,
    rawBody: false,
    answer: (request, actor) =>
      fn({ actor, requestId: request.id, address: request.ip }, read(request) as unknown as Request<R>),
  }
}

/** A route that takes any bytes, such as a detector's delivery. */
export function handleRaw<R extends Route>(
  route: R,
  fn: (request: Omit<Request<R>, 'body'> & { readonly body: Buffer }) => Promise<Reply<R>>,
): Mounted {
  const read = createReader({ ...route, body: null })
  return {
    route,
    rawBody: true,
    answer: (request) => fn({ ...(read(request) as unknown as Request<R>), body: bytesOf(request) }),
  }
}

type Parts = { params: unknown; query: unknown; body: unknown; dryRun: boolean } & Pick<
  Request<Route>,
  'headers' | 'address' | 'requestId'
>

function createReader(route: Route): (request: FastifyRequest) => Parts {
  const readPath = createPathReader(route.params)
  const readQuery = createQueryReader(withDryRun(route))
  const check = route.body ? createCheck('body', route.body) : undefined
  return (request) => {
    const params = readPath(request.params as Record<string, string>)
    const { dry_run: dryRun, ...query } = readQuery(searchOf(request)) as { dry_run?: boolean }
    const body = check ? parseJsonBody(bytesOf(request)) : undefined
    check?.(body)
    return {
      params,
      query,
      body,
      dryRun: dryRun === true,
      headers: request.headers,
      address: request.ip,
      requestId: request.id,
    }
  }
}

function withDryRun(route: Route): TObject {
  if (!route.dryRun) return route.query
  return Type.Object(
    { ...route.query.properties, dry_run: Type.Optional(Type.Boolean()) },
    { additionalProperties: false },
  )
}

function searchOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

const bytesOf = (request: FastifyRequest): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)

function operationOf(
  route: Route,
  request: FastifyRequest,
  actor: Actor,
  dryRun: boolean,
  content: Buffer = bytesOf(request),
): Operation {
  return {
    actor,
    requestId: request.id,
    address: request.ip,
    dryRun,
    ifMatch: route.conditional ? singleHeader(request, 'if-match') : null,
    idempotency: takesIdempotencyKey(route) ? idempotencyOf(route, request, actor, content) : null,
  }
}

function idempotencyOf(
  route: Route,
  request: FastifyRequest,
  actor: Actor,
  content: Buffer,
): Operation['idempotency'] {
  const key = singleHeader(request, 'idempotency-key')
  if (key === null) return null
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalid(['header', 'Idempotency-Key'], 'idempotencyKey')
  }
  const requestHash = createHash('sha256')
    .update(`${actorName(actor)}\n${route.method} ${request.raw.url}\n`)
    .update(content)
    .digest()
  return { key, requestHash }
}

function singleHeader(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name]
  return value === undefined ? null : [value].flat().join(', ')
}

/** Gives a stream its place and its end; see event-stream.ts. */
export type Follow = (request: FastifyRequest, reply: FastifyReply) => Following

/** Adds one route to the server. The credential was checked before the body was read; see server.ts. */
export function mount(server: FastifyInstance, mounted: Mounted, follow?: Follow): void {
  const { route, answer } = mounted
  const response = responseSchemas(route)
  server.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { mounted },
    ...(route.upload ? { bodyLimit: route.upload.file.bytesMax + formOverheadBytes } : {}),
    schema: { response },
    handler: async (request, reply) =>
      send(route, await answer(request, request.actor, follow?.(request, reply)), request, reply),
  })
}

function send(
  route: Route,
  result: Reply<Route>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (result.headers) reply.headers(result.headers)
  if (result.page) addLinks(result.page, request, reply)
  const etag = result.etag ?? etagOf(result)
  if (etag !== undefined) {
    reply.header('etag', etag)
    if (route.method === 'GET' && matches(request.headers['if-none-match'], etag))
      return reply.status(304).send()
  }
  reply.status(result.status ?? route.success)
  if (result.download) return sendDownload(result.download, reply)
  if (result.events) return sendEvents(result.events, request, reply)
  if (result.body === undefined) return reply.send()
  reply.header('content-type', 'application/json; charset=utf-8')
  if (isRaw(result.body)) return reply.serializer(asItIs).send(result.body.raw)
  return reply.send(result.body)
}

/** To be kept by whoever asked for it, and by nothing between; a browser that shows it all the same runs none of it. */
function sendDownload({ bytes, mediaType, filename }: Download, reply: FastifyReply): FastifyReply {
  return reply
    .header('content-type', mediaType)
    .header('content-disposition', attachment(filename))
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
    .header('cache-control', 'private, no-store')
    .send(bytes)
}

/** RFC 6266, with a name in ASCII for those who do not read the other. */
function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** A single record that is rendered already, and has no version of its own, is known by its text. */
function etagOf({ body, page }: Reply<Route>): string | undefined {
  if (page || !isRaw(body)) return undefined
  return `"${hash('sha256', body.raw, 'base64url').slice(0, 22)}"`
}

const asItIs = (text: unknown) => text as string
const isRaw = (body: object | undefined): body is RawJson => typeof body === 'object' && 'raw' in body

/** Whether an If-Match or If-None-Match list names the tag; weak and strong tags compare alike for reading. */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

function addLinks(
  page: NonNullable<Reply<Route>['page']>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { limit, offset, count } = page
  const links: string[] = []
  if (offset + limit < count) links.push(linkTo(request, limit, offset + limit, 'next'))
  if (offset > 0) links.push(linkTo(request, limit, Math.max(0, Math.min(offset, count) - limit), 'prev'))
  if (links.length > 0) reply.header('link', links.join(', '))
}

function linkTo(request: FastifyRequest, limit: number, offset: number, relation: string): string {
  const search = new URLSearchParams(searchOf(request))
  search.set('limit', String(limit))
  search.set('offset', String(offset))
  const path = (request.raw.url ?? '').split('?', 1)[0]
  return `<${path}?${search}>; rel="${relation}"`
}
