// The built portal with the examples of the contract as the server's answers, for tests of the portal alone: no database, no loops, the
// same answers every time. Whether the server answers so is tested where it answers.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dryRunMediaType } from '@pharos/contract/answers'
import { examples } from '@pharos/contract/examples/index'
import { team, user as member } from '@pharos/contract/examples/world'
import { hasGrant, type Grant, type Role } from '@pharos/contract/role'
import { hasStaffGrant, staffHasGrant, type StaffAccess, type StaffRole } from '@pharos/contract/staff-role'
import { grantsNeeded, type BodyOf, type ParamsOf, type ResponseOf, type Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import {
  closeStaffAccessRoute,
  createSessionTokenRoute,
  getSessionTokenRoute,
  logoutRoute,
  refreshSessionRoute,
  type TeamSwitch,
  type User,
} from '@pharos/contract/session/session'
import { startSignOutRoute } from '@pharos/contract/session/sso'
import type { StreamMessageType } from '@pharos/contract/messages/stream'
import { buildPortal } from '../../scripts/build-portal.mjs'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-example'; img-src 'self' blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'"

export type Asked<R extends Route = Route> = {
  readonly params: ParamsOf<R>
  readonly query: URLSearchParams
  readonly body: BodyOf<R>
}
/** Returns the answer, or throws a Refusal. */
type Answering<R extends Route> = (asked: Asked<R>) => ResponseOf<R> | Promise<ResponseOf<R>>

/** Thrown by an answer: a problem document of this status and code. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  /** Further fields of the document. */
  readonly more: object
  constructor(status: number, code: string, more: object = {}) {
    super(code)
    this.status = status
    this.code = code
    this.more = more
  }
}

export type ExampleServer = {
  readonly url: string
  /** Replaces the answer of an operation; undefined restores the example. */
  answer<R extends Route>(route: R, answering: Answering<R> | undefined): void
  /** All operations have their examples again, and the user is an admin of a team. */
  reset(): void
  /** The user who is signed in from the next sign-in or refresh on. */
  user: User
  /** Roles of the user, if no admin: operations without their grants are refused. */
  roles: readonly Role[]
  /** Staff roles of the user, if staff. */
  staffRoles: readonly StaffRole[]
  /** The operations that were refused since `reset`, for lack of a grant. */
  readonly refused: readonly string[]
  /** Ends the access of staff to the team of a customer. */
  endAccess(): void
  /** Sends a message to every open stream. */
  send(type: StreamMessageType, data: unknown): void
  /** Requests of an operation since `reset`. */
  asked<R extends Route>(route: R): readonly Asked<R>[]
  [Symbol.asyncDispose](): Promise<void>
}

/** The person of the examples, in a team with every module. */
export const admin: User = { ...member, enabled_modules: ['inventory', 'ipam', 'lighthouse', 'dns'] }
export const staff: User = { ...admin, is_staff: true }
export const otherTeam = { ...team, id: 8, name: 'Other Networks' }

/** The example of an operation that has an answer. */
export const exampleOf = <R extends Route>(route: R): ResponseOf<R> =>
  examples.get(route.name)!.response as ResponseOf<R>

/** The rows of a page of a list, as its query asks for. */
export function pageOf<Row>(rows: readonly Row[], { query }: { readonly query: URLSearchParams }) {
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 100)]
  return { results: rows.slice(offset, offset + limit), count: rows.length }
}

type Entry = { readonly route: Route; readonly pattern: RegExp; readonly names: readonly string[] }

/** Fixed segments before parameters: `/teams/current` is no id. */
const entries: readonly Entry[] = routes
  .map((route) => {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    return { route, names, pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`) }
  })
  .sort((a, b) => a.names.length - b.names.length)

export async function startExampleServer(): Promise<ExampleServer> {
  await buildPortal()
  const page = readFileSync(join(dist, 'index.html'), 'utf8').replace('nonce=""', 'nonce="example"')
  const answers = new Map<string, Answering<Route>>()
  const asked = new Map<string, Asked[]>()
  const streams = new Set<ServerResponse>()
  let lastEvent = 0
  const refused: string[] = []
  const state = {
    user: admin,
    roles: ['admin'] as readonly Role[],
    staffRoles: ['admin'] as readonly StaffRole[],
    access: null as StaffAccess | null,
    isSignedOut: false,
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://portal.example')
    if (!url.pathname.startsWith('/v3/') && url.pathname !== '/readyz')
      return sendFile(url.pathname, response)
    void answerApi(request, url, response).catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal')
      if (!(error instanceof Refusal)) process.stderr.write(`${url.pathname}: ${String(error)}\n`)
      sendProblem(response, refusal)
    })
  })

  function sendFile(path: string, response: ServerResponse): void {
    const file = join(dist, path)
    const isFile =
      path !== '/' && !path.includes('..') && existsSync(file) && types[extname(file)] !== undefined
    response.setHeader('content-type', isFile ? types[extname(file)]! : 'text/html; charset=utf-8')
    response.setHeader('content-security-policy', policy)
    response.setHeader('cache-control', isFile ? 'public, max-age=31536000, immutable' : 'no-store')
    response.end(isFile ? readFileSync(file) : page)
  }

  async function answerApi(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    const found = entries.find(
      ({ route, pattern }) => route.method === request.method && pattern.test(url.pathname),
    )
    if (!found) throw new Refusal(404, 'not_found')
    const { route, pattern, names } = found
    if (route.stream) return openStream(response)
    const values = pattern.exec(url.pathname)!.slice(1)
    const isJson = /json/.test(request.headers['content-type'] ?? '')
    const one = {
      params: Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at]!)])),
      query: url.searchParams,
      body: isJson ? await json(request) : undefined,
    } as unknown as Asked
    asked.set(route.name, [...(asked.get(route.name) ?? []), one])
    const needed = grantsNeeded(route.permission, Object.keys(one.body ?? {}))
    const isOfStaff = 'role' in route.permission && route.permission.role === 'staff'
    const isRefused = isOfStaff
      ? !hasStaffGrant(staffRolesOf(state), route.permission.staffGrant)
      : !needed.every((grant) => mayDo(state, grant))
    if (!isOfStaff && needed.length > 0 && !isMember(state) && accessOf(state) === null)
      throw new Refusal(403, 'reason_required')
    if (isRefused) {
      refused.push(route.name)
      throw new Refusal(403, 'forbidden')
    }
    await sendAnswer(response, route, one)
  }

  async function sendAnswer(response: ServerResponse, route: Route, one: Asked): Promise<void> {
    const example = examples.get(route.name)!
    const body = answers.has(route.name) ? await answers.get(route.name)!(one) : answerOf(route, one)
    response.setHeader('etag', '"example"')
    response.setHeader('cache-control', 'no-store')
    if (one.query.get('dry_run') === 'true') {
      response.setHeader('content-type', dryRunMediaType)
      return void response.end(
        JSON.stringify({ dry_run: true, changes: example.changes ?? [], result: body }),
      )
    }
    response.statusCode = route.success
    if (startsSession(route)) {
      response.setHeader('set-cookie', 'pharos-signed-in=yes; Path=/')
      response.setHeader('stream-position', String(lastEvent))
    }
    if (route.name === logoutRoute.name)
      response.setHeader('set-cookie', 'pharos-signed-in=; Path=/; Max-Age=0')
    response.setHeader('content-type', route.download?.[0] ?? 'application/json')
    response.end(route.response === null ? undefined : JSON.stringify(body))
  }

  function answerOf(route: Route, { body }: Asked): unknown {
    if (route.name === logoutRoute.name) state.isSignedOut = true
    if (route.name === getSessionTokenRoute.name) return credentialOf(state)
    // The identity provider of the example is another server.
    if (route.name === startSignOutRoute.name) return { redirect: null }
    if (route.name === closeStaffAccessRoute.name) return closed(state)
    if (!startsSession(route)) return exampleOf(route)
    if (state.isSignedOut && route.name === refreshSessionRoute.name)
      throw new Refusal(401, 'unauthenticated')
    state.isSignedOut = false
    const { team_id: wanted, ...asked } = body as unknown as TeamSwitch
    const current = [team, otherTeam].find(({ id }) => id === wanted)
    if (current) state.user = { ...state.user, current_team: current }
    if (asked.reason !== undefined) state.access = openedAccess(wanted, asked)
    const { user } = state
    return { ...exampleOf(createSessionTokenRoute), access: accessToken(), user, user_etag: etagOf(user) }
  }

  function openStream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    streams.add(response)
    response.once('close', () => streams.delete(response))
    response.write(`id: ${++lastEvent}\nevent: ready\ndata: {}\n\n`)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get user() {
      return state.user
    },
    set user(user) {
      state.user = user
    },
    get roles() {
      return state.roles
    },
    set roles(roles) {
      state.roles = roles
      const isAdmin = roles.includes('admin')
      const own = { ...state.user.current_team, is_admin: isAdmin }
      state.user = { ...state.user, current_team: own, teams: [own] }
    },
    get staffRoles() {
      return state.staffRoles
    },
    set staffRoles(roles) {
      state.staffRoles = roles
    },
    get refused() {
      return refused
    },
    answer(route, answering) {
      if (answering === undefined) answers.delete(route.name)
      else answers.set(route.name, answering as unknown as Answering<Route>)
    },
    reset() {
      answers.clear()
      asked.clear()
      state.user = admin
      state.roles = ['admin']
      state.staffRoles = ['admin']
      state.access = null
      state.isSignedOut = false
      refused.length = 0
    },
    endAccess() {
      state.access = null
    },
    send(type, data) {
      const message = { type, timestamp: new Date().toISOString(), data }
      for (const stream of streams)
        stream.write(`id: ${++lastEvent}\nevent: ${type}\ndata: ${JSON.stringify(message)}\n\n`)
    },
    asked: <R extends Route>(route: R) => (asked.get(route.name) ?? []) as unknown as readonly Asked<R>[],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type State = {
  readonly user: User
  readonly roles: readonly Role[]
  readonly staffRoles: readonly StaffRole[]
  access: StaffAccess | null
}

const isMember = ({ user }: State) => user.teams.some(({ id }) => id === user.current_team.id)
const staffRolesOf = ({ user, staffRoles }: State) => (user.is_staff ? staffRoles : [])
/** The open access to the current team. */
const accessOf = (state: State) =>
  !isMember(state) && state.access?.team_id === state.user.current_team.id ? state.access : null

const mayDo = (state: State, grant: Grant): boolean =>
  isMember(state)
    ? hasGrant(state.roles, grant)
    : accessOf(state) !== null && staffHasGrant(staffRolesOf(state), grant)

const openedAccess = (
  teamId: number,
  { reason, ticket, change }: Omit<TeamSwitch, 'team_id'>,
): StaffAccess => ({
  id: 12,
  team_id: teamId,
  reason: reason!,
  ticket: ticket ?? null,
  change: change ?? false,
  opened: new Date().toISOString(),
  expires: new Date(Date.now() + 3_600_000).toISOString(),
  ended: null,
})

function closed(state: State): StaffAccess {
  const { access } = state
  if (!access) throw new Refusal(404, 'not_found')
  state.access = null
  return { ...access, ended: new Date().toISOString() }
}

const credentialOf = (state: State): ResponseOf<typeof getSessionTokenRoute> => {
  const { token, ...rest } = exampleOf(getSessionTokenRoute)
  const roles = isMember(state) ? [...state.roles] : []
  return {
    ...rest,
    token: {
      ...token,
      type: 'access',
      scopes: [],
      is_admin: roles.includes('admin'),
      roles,
      staff_roles: [...staffRolesOf(state)],
      staff_access: accessOf(state),
    },
  }
}

const startsSession = ({ name }: Route): boolean =>
  name === createSessionTokenRoute.name || name === refreshSessionRoute.name

/** Differs for each team: the portal accepts a user only with a new ETag. */
const etagOf = (user: User): string =>
  createHash('sha256').update(JSON.stringify(user)).digest('base64url').slice(0, 22)

/** The portal reads only the lifetime of a token. */
function accessToken(): string {
  const iat = Math.floor(Date.now() / 1000)
  return `e30.${Buffer.from(JSON.stringify({ iat, exp: iat + 3_600 })).toString('base64url')}.e30`
}

function sendProblem(response: ServerResponse, { status, code, more }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/problem+json' })
  response.end(
    JSON.stringify({
      type: `https://portal.example.net/docs/problems/${code}`,
      title: 'Failed',
      status,
      detail: 'Not now.',
      code,
      request_id: '00000000-0000-4000-8000-000000000000',
      ...more,
    }),
  )
}
