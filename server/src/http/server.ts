// The HTTP server: limits and timeouts, authentication, the routes, and one error format. It knows no domain; the
// composition root provides the routes and the credential checks.
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { isCustomerChange } from '@pharos/contract/answers'
import type { ProblemCode } from '@pharos/contract/problem'
import { isOfTeamInPath, type Permission, type Route } from '@pharos/contract/route'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { fail, Failure } from '../runtime/error.ts'
import type { Gate } from '../runtime/gate.ts'
import { requireChangeAllowed } from '../operation/grant.ts'
import { actorName, type AnyActor } from '../operation/operation.ts'
import { authenticate, authorize, type Credentials } from './authenticate.ts'
import { authorizationOf, takeJsonOfAnyType, type Facade } from './facade.ts'
import { refuseMultipart, requireIdentity, requireUtf8 } from './body-type.ts'
import { Deadlines } from './deadline.ts'
import { continueWhenRead, isAnswered } from './discard.ts'
import { cleanForwardedFor } from './forwarded.ts'
import { EventStreams, type StreamSettings } from './event-stream.ts'
import { collectPaths, type KnownPaths } from './known-paths.ts'
import { mount, requireTeamActor, type Mounted } from './mount.ts'
import { requireForm } from './multipart.ts'
import { addRateHeaders, answerProblem, problemOf, sendProblem } from './problem.ts'
import { RequestLog } from './request-log.ts'
import { securityHeaders } from './security-headers.ts'
import { serializerOf } from './serializers.ts'
import { addCompression } from './compression.ts'
import { logRequest, type Log } from '../runtime/log.ts'
import { RateLimiter, type Rate } from '../runtime/rate-limit.ts'
import { createSemaphore, type Semaphore } from '../runtime/semaphore.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** URL of the server for users, without a trailing slash. */
    publicUrl: string
  }
  interface FastifyRequest {
    actor: AnyActor | null
  }
  interface FastifyContextConfig {
    mounted?: Mounted
  }
}

export type HttpSettings = {
  readonly bodyLimitBytes: number
  readonly deliveryLimitBytes: number
  readonly requestsInFlight: number
  /** Time until the request has been received completely. */
  readonly requestTimeoutMs: number
  /** Time until it has been answered. */
  readonly handlerTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly trustedProxies: readonly string[]
  /** URL of the server for users, without a path: `https:` even if a proxy terminates it. */
  readonly publicUrl: string
  readonly rate: Rate
  /** Deliveries per address: a detector sends a burst during large attacks. */
  readonly deliveryRate: Rate
  readonly streams: StreamSettings
}

type Headers = ReturnType<typeof securityHeaders>

export type HttpDeps = {
  readonly settings: HttpSettings
  readonly log: Log
  readonly credentials: Credentials
  readonly mounted: readonly Mounted[]
  readonly facades?: readonly Facade[]
  readonly observer: HttpObserver
  /** While it is closed, changes of customers are refused. */
  readonly gate: Pick<Gate, 'state'>
  /** Throws `not_found` if the path names an object outside of the actor's limits; a promise if the database has to be asked. */
  readonly requireVisible?: (
    actor: AnyActor,
    route: Route,
    params: Readonly<Record<string, string>>,
  ) => Promise<void> | undefined
  /**
   * Called for every call that was refused to a known actor, before the response. It must neither throw nor take time.
   */
  readonly onDenied?: (denied: Denied) => void
}

/** A refused call of an authenticated actor. */
export type Denied = {
  readonly actor: AnyActor
  /** Name of the route, and its path parameters. */
  readonly operation: string
  readonly params: readonly string[]
  readonly code: ProblemCode
  readonly requestId: string
  readonly address: string
}

/** Called for the metrics. `route` is the route's pattern, never the requested path. */
export type HttpObserver = {
  answered(method: string, route: string, status: number, seconds: number): void
  /** Rejected before any work. */
  refused(reason: 'rate_limited' | 'overloaded'): void
  inFlight(count: number): void
}

/** Returns a server with the API's routes, not listening yet; the caller adds pages (docs, health). */
export function createHttpServer(deps: HttpDeps): FastifyInstance {
  const { publicUrl } = deps.settings
  const headers = securityHeaders({ https: publicUrl.startsWith('https:') })
  const server = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory: (log, bindings, options) =>
      new RequestLog(() => log.child(bindings, options) as FastifyBaseLogger) as FastifyBaseLogger,
    bodyLimit: deps.settings.bodyLimitBytes,
    // The defaults are 0, which means no timeout. The time limit of a response is set in deadline.ts.
    requestTimeout: deps.settings.requestTimeoutMs,
    connectionTimeout: deps.settings.requestTimeoutMs + deps.settings.handlerTimeoutMs,
    keepAliveTimeout: deps.settings.keepAliveTimeoutMs,
    http: {
      headersTimeout: Math.min(20_000, deps.settings.requestTimeoutMs),
      // Interval at which these two are checked. With the default of 30 s, a timeout of 2 s would take half a minute.
      connectionsCheckingInterval: 1_000,
      // Node would respond itself, with an empty body; see refuseWithoutHost.
      requireHostHeader: false,
    },
    trustProxy: deps.settings.trustedProxies.length > 0 ? [...deps.settings.trustedProxies] : false,
    // Called before anything reads the request.
    rewriteUrl: ({ url = '/', headers }) => {
      cleanForwardedFor(headers)
      // A target in absolute form (RFC 9112, 3.2.2) is converted to origin form for all its readers.
      return url.replace(/^https?:\/\/[^/?]*(?=([/?]?))/i, (_, next) => (next === '/' ? '' : '/'))
    },
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    return503OnClosing: true,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      maxParamLength: 300,
      querystringParser: () => ({}),
    },
    // Hooks do not run for such a request.
    frameworkErrors: (error, request, reply) => {
      addCommonHeaders(headers, request, reply)
      void answerProblem(error, request, reply)
    },
    clientErrorHandler: (error, socket) => answerClientError(headers, paths, publicUrl, error, socket),
  })
  server.setSerializerCompiler(({ schema }) => serializerOf(schema))
  const paths = collectPaths(server)
  continueWhenRead(server.server)
  server.decorateRequest('actor', null)
  server.decorate('publicUrl', publicUrl)
  server.setErrorHandler((error, request, reply) => {
    reportDenied(deps, error, request)
    return answerProblem(error, request, reply)
  })
  server.setNotFoundHandler((request, reply) => answerUnknownPath(deps, paths, request, reply))
  // Handlers get the raw bytes: mount.ts parses them strictly, not the framework.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(/^application\/json(;.*)?$/i, { parseAs: 'buffer' }, passBytes)
  addCommonHooks(server, deps, headers, paths)
  addRoutes(server, deps)
  return server
}

/** Each group of routes has its own reading of bodies and its own limits. */
function addRoutes(server: FastifyInstance, deps: HttpDeps): void {
  const limits = createLimits(deps.settings.rate)
  server.register(async (api) => {
    await addCompression(api)
    addAuthentication(api, deps, limits)
    for (const mounted of deps.mounted) if (isPlain(mounted)) mount(api, mounted)
  })
  for (const facade of deps.facades ?? [])
    server.register(async (api) => {
      await addCompression(api)
      if ('addRoutes' in facade) return facade.addRoutes(api)
      api.setErrorHandler((error, request, reply) => {
        reportDenied(deps, error, request)
        return answerProblem(error, request, reply, facade)
      })
      addAuthentication(api, deps, limits, facade.tokenHeader)
      takeAnyMediaType(api)
      takeJsonOfAnyType(api)
      for (const mounted of facade.mounted) mount(api, mounted)
    })
  server.register(async (streams) => {
    addAuthentication(streams, deps, limits)
    mountStreams(streams, deps)
  })
  server.register(async (uploads) => {
    addAuthentication(uploads, deps, limits)
    takeFewUploads(uploads)
    uploads.removeAllContentTypeParsers()
    uploads.addContentTypeParser('*', { parseAs: 'buffer' }, passBytes)
    for (const mounted of deps.mounted) if (mounted.route.upload) mount(uploads, mounted)
  })
  server.register(async (raw) => {
    addAuthentication(raw, deps, createLimits(deps.settings.deliveryRate))
    // Before the body is read. No detector's normaliser could read it.
    raw.addHook('onRequest', async ({ headers }) => {
      requireIdentity(headers['content-encoding'])
      refuseMultipart(headers['content-type'])
    })
    takeAnyMediaType(raw)
    raw.removeAllContentTypeParsers()
    raw.addHook('onRoute', (route) => void (route.bodyLimit = deps.settings.deliveryLimitBytes))
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
    for (const mounted of deps.mounted) if (mounted.rawBody) mount(raw, mounted)
  })
}

const isPlain = ({ rawBody, route }: Mounted): boolean => !rawBody && !route.upload && !route.stream

/** The credential of a follower is checked again and again: it may be revoked while the stream is open. */
function mountStreams(server: FastifyInstance, { credentials, settings, mounted }: HttpDeps): void {
  const streams = new EventStreams(settings.streams)
  server.addHook('preClose', async () => streams.stop())
  for (const one of mounted.filter(({ route }) => route.stream)) {
    const { permission } = one.route
    mount(server, one, (request, reply) => ({
      lastEventId: [request.headers['last-event-id'] ?? null].flat()[0]!,
      signal: streams.enter(requireTeamActor(one.route, request.actor).teamId, reply),
      async actor() {
        const { authorization } = request.headers
        const actor = await authenticate(credentials, permission, authorization, request.ip, true)
        authorize(actor!, permission)
        return requireTeamActor(one.route, actor)
      },
    }))
  }
}

const denials: ReadonlySet<ProblemCode> = new Set([
  'forbidden',
  'scope_missing',
  'module_disabled',
  'resource_limited',
  'second_factor_required',
  'reason_required',
  'wrong_password',
])

function reportDenied({ onDenied }: HttpDeps, error: unknown, request: FastifyRequest): void {
  const { actor, id: requestId, ip: address, routeOptions } = request
  const operation = routeOptions.config.mounted?.route.name
  if (!(error instanceof Failure) || !denials.has(error.code) || !actor || operation === undefined) return
  const params = Object.values(request.params as Record<string, string>)
  onDenied?.({ actor, operation, params, code: error.code, requestId, address })
}

/** The framework rejects a malformed Content-Type before it calls any parser; here the body is only passed on. */
function takeAnyMediaType(server: FastifyInstance): void {
  const given = new WeakMap<FastifyRequest['raw'], string>()
  server.addHook('onRequest', async ({ raw }) => {
    const contentType = raw.headers['content-type']
    if (contentType !== undefined) given.set(raw, contentType)
    delete raw.headers['content-type']
  })
  server.addHook('preHandler', async ({ raw }) => {
    const contentType = given.get(raw)
    if (contentType !== undefined) raw.headers['content-type'] = contentType
  })
}

/** An upload is in memory, so only a few may run in parallel; a slow team cannot use all slots. */
const uploadsAtOnce = 8
const uploadsAtOncePerTeam = 3

/** Before the body is read: requests that are not forms or too large are rejected unread. */
function takeFewUploads(server: FastifyInstance): void {
  const options = { waiting: 0, retryAfterSeconds: 2 }
  const all = createSemaphore({ permits: uploadsAtOnce, ...options })
  const byTeam = new Map<number, Semaphore>()
  server.addHook('onRequest', async (request, reply) => {
    requireForm(request.headers['content-type'])
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    // The event of a client that disconnected during authentication has passed.
    if (reply.raw.closed) close()
    else reply.raw.once('close', close)
    const { actor } = request
    // Programs of the provider belong to no team.
    await enter(actor && 'teamId' in actor ? actor.teamId : 0, closed)
  })

  function enter(teamId: number, closed: Promise<void>): Promise<void> {
    const ofTeam = byTeam.get(teamId) ?? createSemaphore({ permits: uploadsAtOncePerTeam, ...options })
    byTeam.set(teamId, ofTeam)
    return new Promise((begun, refused) => {
      ofTeam
        .run(() => all.run(() => (begun(), closed)))
        .catch(refused)
        .finally(() => {
          if (ofTeam.running === 0 && byTeam.get(teamId) === ofTeam) byTeam.delete(teamId)
        })
    })
  }
}

/** A body parser: handlers get the bytes of a body in UTF-8 without compression. Throws 415 for others. */
function passBytes(
  { headers }: FastifyRequest,
  bytes: Buffer,
  done: (error: null, body: Buffer) => void,
): void {
  requireIdentity(headers['content-encoding'])
  requireUtf8(headers['content-type'])
  done(null, bytes)
}

/** Neither hook waits for anything, so neither is async: one promise less per request. */
function addCommonHooks(server: FastifyInstance, deps: HttpDeps, headers: Headers, paths: KnownPaths): void {
  const deadlines = new Deadlines(deps.settings.handlerTimeoutMs)
  server.addHook('onClose', async () => deadlines.stop())
  let inFlight = 0
  server.addHook('onRequest', (request, reply, done) => {
    addCommonHeaders(headers, request, reply)
    refuseWithoutHost(request)
    // A stream is long-lived, and has its own limits.
    if (request.routeOptions.config.mounted?.route.stream) return done()
    inFlight += 1
    const end = deadlines.begin(reply)
    // A request whose client disconnected has no onResponse; the response's close event always occurs, once.
    reply.raw.once('close', () => {
      inFlight -= 1
      end()
    })
    if (inFlight > deps.settings.requestsInFlight) {
      deps.observer.refused('overloaded')
      throw fail('unavailable', 'requests', {
        retryAfterSeconds: 1,
      })
    }
    // Before the body is read: without a route it has no rules.
    if (request.is404 || hasEmptySegment(request)) return void answerUnknownPath(deps, paths, request, reply)
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const { method } = request
    const route = request.routeOptions.url ?? 'unknown'
    const status = reply.statusCode
    const seconds = reply.elapsedTime / 1000
    // The duration of a stream is no measure of latency.
    if (!request.routeOptions.config.mounted?.route.stream || status >= 400)
      deps.observer.answered(method, route, status, seconds)
    deps.observer.inFlight(inFlight)
    if (status === 429) deps.observer.refused('rate_limited')
    const actor = request.actor && actorName(request.actor)
    logRequest(deps.log, { id: request.id, method, route, status, seconds, actor })
    done()
  })
}

/** The router takes an empty segment as a parameter: `/v3/teams/` would be the team without a name. */
function hasEmptySegment({ raw, routeOptions }: FastifyRequest): boolean {
  if (!routeOptions.config.mounted) return false
  const path = raw.url!.split('?', 1)[0]!
  return path.endsWith('/') || path.includes('//')
}

/**
 * RFC 9112, 3.2. Of several headers Node would take the first, and a proxy in front of it perhaps the last: neither knows for which
 * host the other decided.
 */
function refuseWithoutHost({ raw: { httpVersion, headers, rawHeaders } }: FastifyRequest): void {
  const { host } = headers
  if (host === undefined) {
    if (httpVersion === '1.0') return
    throw fail('malformed', 'hostMissing')
  }
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts += 1
  if (hosts > 1) throw fail('malformed', 'hostRepeated')
  if (!hostPattern.test(host)) throw fail('malformed', 'hostInvalid')
}

/** `uri-host [ ":" port ]` of RFC 3986, 3.2.2, which may be empty. */
const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

function addCommonHeaders(headers: Headers, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(headers)
  reply.header('x-request-id', request.id)
}

/** One bucket per credential, and one per client without a credential, for all routes together. */
type Limits = { readonly credentials: RateLimiter; readonly unauthenticated: ClientLimiter }

const createLimits = (rate: Rate): Limits => ({
  credentials: new RateLimiter(rate),
  unauthenticated: new ClientLimiter(rate),
})

/** Authenticates before the body is read, so that unauthenticated clients cannot make the server read ten megabytes. */
function addAuthentication(
  server: FastifyInstance,
  deps: HttpDeps,
  { credentials, unauthenticated }: Limits,
  tokenHeader?: string,
): void {
  /** An invalid credential costs its address a token of the rate limit, so that guessing is limited like calls are. */
  function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): never {
    if (error instanceof Failure && isOfCredential(error))
      addRateHeaders(reply, unauthenticated.take(request.ip))
    throw error
  }

  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    actor: AnyActor | null,
  ): Promise<void> | undefined {
    const state = actor ? credentials.take(actorName(actor)) : unauthenticated.take(request.ip)
    addRateHeaders(reply, state)
    request.actor = actor
    if (!actor) return undefined
    const { route } = request.routeOptions.config.mounted!
    authorize(actor, route.permission, !isOfTeamInPath(route))
    // In the team of the path, the use case decides.
    if (actor.kind === 'user' && isCustomerChange(route) && !isOfTeamInPath(route))
      requireChangeAllowed(actor)
    if (deps.gate.state === 'closed') refuseChange(route, actor)
    return deps.requireVisible?.(actor, route, request.params as Record<string, string>)
  }

  // Returns a promise, which the framework awaits, only if the credential has to be loaded.
  server.addHook('onRequest', (request, reply, done) => {
    const { permission } = request.routeOptions.config.mounted!.route
    const actor = identify(request, reply, permission)
    if (actor instanceof Promise) {
      return actor
        .catch((error: unknown) => refuse(request, reply, error))
        .then((loaded) => admit(request, reply, loaded))
    }
    return admit(request, reply, actor) ?? done()
  })

  function identify(
    request: FastifyRequest,
    reply: FastifyReply,
    permission: Permission,
  ): AnyActor | null | Promise<AnyActor> {
    try {
      return authenticate(deps.credentials, permission, authorizationOf(request, tokenHeader), request.ip)
    } catch (error) {
      return refuse(request, reply, error)
    }
  }
}

/** After a restore: reading, staff operations, and the caller's own account and session still work. */
function refuseChange(route: Route, actor: AnyActor): void {
  if (!isCustomerChange(route) || actor.isStaff) return
  throw fail('restoring', 'database', { retryAfterSeconds: restoringRetrySeconds })
}

const restoringRetrySeconds = 60

const isOfCredential = ({ code }: Failure): boolean => code === 'unauthenticated' || code === 'wrong_scheme'

function answerUnknownPath(
  { facades = [] }: Pick<HttpDeps, 'facades'>,
  paths: KnownPaths,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const url = request.raw.url ?? ''
  const { failure, headers } = refusalOf(paths, request.method, url)
  const facade = facades.find(({ prefix }) => url.startsWith(prefix))
  return sendProblem(failure, request, reply.headers(headers), facade)
}

type Refusal = { readonly failure: Failure; readonly headers: Readonly<Record<string, string>> }

/** Returns 405 with the allowed methods if only the method is wrong, otherwise 404. */
function refusalOf(paths: KnownPaths, method: string, url: string): Refusal {
  const path = url.split('?', 1)[0]!
  const allowed = paths.methodsOf(path)
  // A path parameter beyond the length limit matches no route although its path exists.
  if (allowed.length === 0 || allowed.includes(method)) return { failure: paths.notFound(path), headers: {} }
  const headers = { allow: allowed.join(', ') }
  return { failure: fail('method_not_allowed', 'method', { allowed }), headers }
}

const clientErrors: Record<string, 'headersTooLarge' | 'requestTimeout'> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
}

/** A request that is not valid HTTP reaches no route; the response has the same format all the same. */
function answerClientError(
  headers: Headers,
  paths: KnownPaths,
  publicUrl: string,
  error: ParserError,
  socket: Socket,
): void {
  // A browser keeps connections ready: an answer without a request would become that of its next request.
  const isUnused = socket.bytesRead === 0
  if (error.code === 'ECONNRESET' || !socket.writable || isUnused || isAnswered(socket))
    return void socket.destroy()
  const refusal = refusalOfUnknownMethod(paths, error)
  const failure = refusal?.failure ?? fail('malformed', clientErrors[error.code ?? ''] ?? 'http')
  const problem = problemOf(failure, randomUUID(), publicUrl)
  const body = JSON.stringify(problem)
  const lines = Object.entries({
    ...headers,
    ...refusal?.headers,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
}

type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: unknown }

/** The parser knows a list of methods. A request with another method is answered like a request with a wrong method. */
function refusalOfUnknownMethod(paths: KnownPaths, { code, rawPacket }: ParserError): Refusal | undefined {
  if (code !== 'HPE_INVALID_METHOD') return undefined
  const [line = ''] = (Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '').split('\r\n', 1)
  const [, method, url] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\/\S*) HTTP\/1\.[01]$/.exec(line) ?? []
  return method !== undefined && url !== undefined ? refusalOf(paths, method, url) : undefined
}
