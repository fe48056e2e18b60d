// The HTTP side of SCIM 2.0 (RFC 7644), outside of the API: its own media type, errors and credential. The token names the provider and its team; it opens nothing else.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Facade } from '../http/facade.ts'
import { requireIdentity, requireUtf8 } from '../http/body-type.ts'
import { addRateHeaders, answerProblem } from '../http/problem.ts'
import { parseJsonBody } from '../http/strict-json.ts'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { fail, Failure } from '../runtime/error.ts'
import type { Gate } from '../runtime/gate.ts'
import { RateLimiter, type Rate } from '../runtime/rate-limit.ts'
import { createSemaphore, type Semaphore } from '../runtime/semaphore.ts'
import { errorBody, ScimError } from './error.ts'
import { changeGroup, createGroup, deleteGroup, getGroup, listGroups, replaceGroup } from './groups.ts'
import { bodyBytesMax, readsAtOnce, requestsWaiting, usersByDefault, usersPerRequest } from './limits.ts'
import {
  presentGroup,
  presentPage,
  presentUser,
  project,
  resourceTypes,
  schemas,
  serviceProviderConfig,
  type Projection,
  type Resource,
} from './resource.ts'
import { baseUrlOf, createTokenCheck, type CheckDeps, type CheckedToken } from './scim-token.ts'
import {
  changeUser,
  createUser,
  deleteScimUser,
  getUser,
  listScimUsers,
  replaceUser,
  type ScimCall,
  type ResourceSlice,
  type ScimDeps,
} from './users.ts'

export type ScimPageDeps = ScimDeps &
  CheckDeps & {
    readonly publicUrl: string
    readonly rate: Rate
    readonly gate: Pick<Gate, 'state'>
    /** For the metric: success, refused, unauthenticated, rate_limited or failed. */
    readonly onRequest: (outcome: string) => void
  }

const prefix = '/scim/v2'
const mediaType = 'application/scim+json'
const restoringRetrySeconds = 60

/** What a request asks for, after its credential was checked. */
type Asked = ScimCall & {
  readonly base: string
  readonly id: string
  readonly query: ReadonlyMap<string, string>
  readonly body: unknown
}
type Answer = { readonly status?: number; readonly resource: Resource | null }
type Work = (asked: Asked) => Promise<Answer> | Answer

export const scimApi = (deps: ScimPageDeps): Facade => ({
  prefix: `${prefix}/`,
  errorBody,
  mediaType,
  challenge: 'Bearer realm="pharos"',
  addRoutes: (server) => addScimRoutes(server, deps, scimApi(deps)),
})

function addScimRoutes(server: FastifyInstance, deps: ScimPageDeps, facade: Facade): void {
  const tokens = new WeakMap<FastifyRequest['raw'], CheckedToken>()
  addErrors(server, facade)
  addBodies(server)
  addCredential(server, deps, tokens)
  server.addHook('onResponse', async (_request, reply) => deps.onRequest(outcomeOf(reply.statusCode)))
  const [changes, reads] = [createQueues(1), createQueues(readsAtOnce)]

  function add(method: HTTPMethods, path: string, work: Work): void {
    server.route<{ Params: { id?: string } }>({
      method,
      url: `${prefix}${path}`,
      bodyLimit: bodyBytesMax,
      handler: async (request, reply) => {
        const token = tokens.get(request.raw)!
        const asked = askedOf(deps, request, token)
        const isReading = method === 'GET'
        if (!isReading && deps.gate.state === 'closed')
          throw fail('restoring', 'database', { retryAfterSeconds: restoringRetrySeconds })
        const queues = isReading ? reads : changes
        const answer = await queues.run(token.provider.teamId, async () => work(asked))
        return send(request, reply, asked, answer)
      },
    })
  }

  addDiscovery(add)
  addUsers(add, deps)
  addGroups(add, deps)
}

type Add = (method: HTTPMethods, path: string, work: Work) => void

function addDiscovery(add: Add): void {
  add('GET', '/ServiceProviderConfig', ({ base }) => ({ resource: serviceProviderConfig(base) }))
  for (const [path, list] of [
    ['/ResourceTypes', resourceTypes],
    ['/Schemas', schemas],
  ] as const) {
    add('GET', path, ({ base }) => {
      const all = list(base)
      return { resource: presentPage(all, all.length, 1) }
    })
    add('GET', `${path}/:id`, ({ base, id }) => {
      const one = list(base).find((known) => known['id'] === id)
      if (!one) throw new ScimError('unknown')
      return { resource: one }
    })
  }
}

function addUsers(add: Add, deps: ScimPageDeps): void {
  add('GET', '/Users', async (asked) => {
    const { slice, startIndex } = sliceOf(asked.query)
    const { page, count } = await listScimUsers(deps, asked, asked.query.get('filter') ?? null, slice)
    return {
      resource: listAnswer(
        asked,
        page.map((row) => presentUser(asked.base, row)),
        count,
        startIndex,
      ),
    }
  })
  add('GET', '/Users/:id', async (asked) => userAnswer(asked, await getUser(deps, asked, asked.id)))
  add('POST', '/Users', async (asked) => userAnswer(asked, await createUser(deps, asked, asked.body), 201))
  add('PUT', '/Users/:id', async (asked) =>
    userAnswer(asked, await replaceUser(deps, asked, asked.id, asked.body)),
  )
  add('PATCH', '/Users/:id', async (asked) =>
    userAnswer(asked, await changeUser(deps, asked, asked.id, asked.body)),
  )
  add('DELETE', '/Users/:id', async (asked) => {
    await deleteScimUser(deps, asked, asked.id)
    return { status: 204, resource: null }
  })
}

function addGroups(add: Add, deps: ScimPageDeps): void {
  add('GET', '/Groups', async (asked) => {
    const { slice, startIndex } = sliceOf(asked.query)
    const filter = asked.query.get('filter') ?? null
    const { page, count } = await listGroups(deps, asked, filter, slice, wantsMembers(asked))
    return {
      resource: listAnswer(
        asked,
        page.map((row) => presentGroup(asked.base, row)),
        count,
        startIndex,
      ),
    }
  })
  add('GET', '/Groups/:id', async (asked) =>
    groupAnswer(asked, await getGroup(deps, asked, asked.id, wantsMembers(asked))),
  )
  add('POST', '/Groups', async (asked) => groupAnswer(asked, await createGroup(deps, asked, asked.body), 201))
  add('PUT', '/Groups/:id', async (asked) =>
    groupAnswer(asked, await replaceGroup(deps, asked, asked.id, asked.body)),
  )
  add('PATCH', '/Groups/:id', async (asked) =>
    groupAnswer(asked, await changeGroup(deps, asked, asked.id, asked.body)),
  )
  add('DELETE', '/Groups/:id', async (asked) => {
    await deleteGroup(deps, asked, asked.id)
    return { status: 204, resource: null }
  })
}

const userAnswer = (
  { base, query }: Asked,
  row: Parameters<typeof presentUser>[1],
  status = 200,
): Answer => ({
  status,
  resource: project(presentUser(base, row), projectionOf(query)),
})

const groupAnswer = (
  { base, query }: Asked,
  row: Parameters<typeof presentGroup>[1],
  status = 200,
): Answer => ({
  status,
  resource: project(presentGroup(base, row), projectionOf(query)),
})

function listAnswer(
  { query }: Asked,
  resources: readonly Resource[],
  count: number,
  startIndex: number,
): Resource {
  const projection = projectionOf(query)
  return presentPage(
    resources.map((one) => project(one, projection)),
    count,
    startIndex,
  )
}

/** Members of large groups are read only if they are returned. */
function wantsMembers({ query }: Asked): boolean {
  const { attributes, excluded } = projectionOf(query)
  return attributes === null ? !excluded.has('members') : attributes.has('members')
}

const namesMax = 50

function projectionOf(query: ReadonlyMap<string, string>): Projection {
  const namesIn = (name: string): ReadonlySet<string> | null => {
    const given = query.get(name)
    if (given === undefined || given.trim() === '') return null
    const names = given.split(',')
    if (names.length > namesMax) throw new ScimError('tooMany')
    return new Set(names.map((one) => one.trim().toLowerCase().split('.')[0]!))
  }
  return { attributes: namesIn('attributes'), excluded: namesIn('excludedattributes') ?? new Set() }
}

/** RFC 7644, 3.4.2.4: values below the minimum count as the minimum. */
function sliceOf(query: ReadonlyMap<string, string>): {
  readonly slice: ResourceSlice
  readonly startIndex: number
} {
  const startIndex = Math.max(1, integerOf(query.get('startindex')) ?? 1)
  const count = Math.max(0, integerOf(query.get('count')) ?? usersByDefault)
  return { slice: { limit: Math.min(count, usersPerRequest), offset: startIndex - 1 }, startIndex }
}

function integerOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimError('value')
  return Number(text)
}

function askedOf(
  { publicUrl }: ScimPageDeps,
  request: FastifyRequest<{ Params: { id?: string } }>,
  { id: tokenId, provider }: CheckedToken,
): Asked {
  const { id = '' } = request.params
  const ifMatch = request.headers['if-match']
  return {
    provider,
    author: {
      actor: `provider:${provider.id}`,
      credential: `scim_token:${tokenId}`,
      requestId: request.id,
      address: request.ip,
    },
    ifMatch: ifMatch ?? null,
    base: baseUrlOf(publicUrl),
    id,
    query: queryOf(request),
    body: request.body,
  }
}

/** Names of parameters are compared without case, since identity providers write them differently. */
function queryOf({ raw }: Pick<FastifyRequest, 'raw'>): ReadonlyMap<string, string> {
  const at = raw.url!.indexOf('?')
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : raw.url!.slice(at + 1))) {
    const lower = name.toLowerCase()
    if (query.has(lower)) throw new ScimError('value')
    query.set(lower, value)
  }
  return query
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { base }: Asked,
  { status = 200, resource }: Answer,
) {
  reply.status(status).header('cache-control', 'no-store')
  if (resource === null) return reply.send()
  const { version, location } = (resource['meta'] ?? {}) as { version?: string; location?: string }
  if (version !== undefined) {
    reply.header('etag', version)
    const known = request.headers['if-none-match']
    if (status === 200 && request.method !== 'PUT' && request.method !== 'PATCH' && isSame(known, version))
      return reply.status(304).send()
  }
  reply.header('content-location', location ?? base)
  if (status === 201 && location !== undefined) reply.header('location', location)
  return reply
    .header('content-type', `${mediaType}; charset=utf-8`)
    .serializer((body: unknown) => body as string)
    .send(JSON.stringify(resource))
}

const isSame = (header: string | undefined, version: string): boolean =>
  header !== undefined && header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === version.slice(2))

function outcomeOf(status: number): string {
  if (status < 400) return 'success'
  if (status === 401) return 'unauthenticated'
  if (status === 429) return 'rate_limited'
  return status < 500 ? 'refused' : 'failed'
}

function addErrors(server: FastifyInstance, facade: Facade): void {
  server.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ScimError)) return answerProblem(error, request, reply, facade)
    return reply
      .status(error.status)
      .header('cache-control', 'no-store')
      .header('content-type', `${mediaType}; charset=utf-8`)
      .serializer((body: unknown) => body as string)
      .send(JSON.stringify(error.body))
  })
}

/** Okta and some versions of Entra ID send `application/json`. */
function addBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    /^application\/(?:scim\+)?json(;.*)?$/i,
    { parseAs: 'buffer', bodyLimit: bodyBytesMax },
    ({ headers }, bytes, done) => {
      requireIdentity(headers['content-encoding'])
      requireUtf8(headers['content-type'])
      done(null, parseBody(bytes as Buffer))
    },
  )
}

/** SCIM knows no 422. */
function parseBody(bytes: Buffer): unknown {
  try {
    return bytes.length === 0 ? undefined : parseJsonBody(bytes)
  } catch (error) {
    if (error instanceof Failure) throw new ScimError('syntax', { cause: error })
    throw error
  }
}

/** Before the body is read. An invalid token costs its address, as in the API. */
function addCredential(
  server: FastifyInstance,
  deps: ScimPageDeps,
  tokens: WeakMap<FastifyRequest['raw'], CheckedToken>,
): void {
  const check = createTokenCheck(deps)
  const ofTokens = new RateLimiter(deps.rate)
  const ofClients = new ClientLimiter(deps.rate)
  server.addHook('onRequest', async (request, reply) => {
    const token = await check(request.headers.authorization, request.ip).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'unauthenticated')
        addRateHeaders(reply, ofClients.take(request.ip))
      throw error
    })
    addRateHeaders(reply, ofTokens.take(token.id))
    tokens.set(request.raw, token)
  })
}

/** A queue of each team: at most `permits` of its requests run at a time. */
function createQueues(permits: number) {
  const byTeam = new Map<number, Semaphore>()
  return {
    async run<T>(teamId: number, work: () => Promise<T>): Promise<T> {
      const queue =
        byTeam.get(teamId) ?? createSemaphore({ permits, waiting: requestsWaiting, retryAfterSeconds: 1 })
      byTeam.set(teamId, queue)
      try {
        return await queue.run(work)
      } finally {
        if (queue.running === 0 && byTeam.get(teamId) === queue) byTeam.delete(teamId)
      }
    },
  }
}
