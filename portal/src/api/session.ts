// The session of this tab and the others of the browser. The refresh token is a cookie that scripts cannot read; the access
// token is in memory only. One tab at a time requests tokens (Web Locks) and posts them to the others, so that a refresh
// token is presented once and no late answer replaces the cookie of a newer session. The browser stores no token.
import { createClient, ProblemError, type Answer, type CallInput } from '@pharos/contract/client'
import type { BodyOf, ParamsOf, ResponseOf, Route } from '@pharos/contract/route'
import {
  createSessionTokenRoute,
  logoutRoute,
  refreshSessionRoute,
  type TeamSwitch,
  type User,
} from '@pharos/contract/session/session'
import {
  completeSingleSignOnRoute,
  startSignOutRoute,
  startSingleSignOnRoute,
} from '@pharos/contract/session/sso'
import { completeStarted, neededProviderOf } from './single-sign-on.ts'
import { answerQuestion, askToDiscard, hasUnsaved } from './unsaved.ts'

export type SessionState =
  | { readonly kind: 'unknown' }
  /** `userId`: the user whose session ended in this tab. */
  | { readonly kind: 'out'; readonly reason?: 'expired' | 'signed_out'; readonly userId?: number }
  | { readonly kind: 'in'; readonly user: User; readonly etag: string }

/** Makes the server use a cookie for the refresh token; no page of another site can send this header. */
const cookieMode = { 'pharos-refresh': 'cookie' }
/** The body's placeholder for the token. */
const inCookie = 'cookie'
/** An access token with less remaining lifetime is replaced before use. */
const renewBeforeMs = 30_000
const lockName = 'pharos-session'

const call = createClient({
  baseUrl: '',
  credential: () => {
    const known = held?.access ?? access
    return known && { bearer: known.token }
  },
})

type Access = { readonly token: string; readonly until: number }
type Entry = {
  readonly access: Access
  readonly user: User
  readonly etag: string
  /** Position of the stream when the tokens were made; undefined if the server does not return it. */
  readonly position: string | undefined
}
type Message = Entry | { readonly out: 'signed_out' | 'expired' }

let access: Access | undefined
/** Position of the stream before all answers of the team in this tab. */
let position: string | undefined
/** The entry of another team, until the user has decided about the unsaved changes of this tab. */
let held: Entry | undefined
/** Resolves once the user has decided about an entry of another team. */
let decision: Promise<void> | undefined
let state: SessionState = { kind: 'unknown' }
const listeners = new Set<() => void>()
const otherTabs = new BroadcastChannel(lockName)

otherTabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if ('out' in data) leave(data.out)
  else follow(data)
})

/** A channel reaches pages of this origin only: it has no target to name. */
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (message: Message): void => otherTabs.postMessage(message)

export const session = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  get: (): SessionState => state,

  /** Throws the problem of the server; `otp_required` if a code of the second factor is needed. */
  async signIn(credentials: BodyOf<typeof createSessionTokenRoute>): Promise<void> {
    await exclusively(async () => {
      const input = { body: credentials, headers: cookieMode } as CallInput<typeof createSessionTokenRoute>
      shareTokens(await call(createSessionTokenRoute, input))
    })
  },

  /** Opens the page of the identity provider. A signed-in user gets its proof beside its own proofs. */
  async startSingleSignOn(body: BodyOf<typeof startSingleSignOnRoute>): Promise<void> {
    await ensureAccess()
    const { redirect } = (await call(startSingleSignOnRoute, { body })).body
    location.assign(redirect)
  },

  /** Returns the page to open; undefined for the first one. Throws `otp_required` and `sso_failed`. */
  async completeSingleSignOn(body: BodyOf<typeof completeSingleSignOnRoute>): Promise<string | undefined> {
    return exclusively(async () => {
      const input = { body, headers: cookieMode } as CallInput<typeof completeSingleSignOnRoute>
      const answer = await call(completeSingleSignOnRoute, input)
      shareTokens(answer)
      completeStarted()
      return answer.body.return_to ?? undefined
    })
  },

  /**
   * Asks first if something is not saved. Resolves with whether the team was changed: a team that opens with its identity provider is opened by a sign-in, which
   * returns to this page.
   */
  async switchTeam(teamId: number): Promise<boolean> {
    if (!(await askToDiscard())) return false
    try {
      await callForTokens(createSessionTokenRoute, { team_id: teamId }, enter)
      return true
    } catch (error) {
      const provider = neededProviderOf(error)
      if (provider === undefined) throw error
      await session.startSingleSignOn({ provider, return_to: `${location.pathname}${location.search}` })
      return false
    }
  },

  /** Switches to the team of a customer, with the reason of staff. The caller has asked about unsaved changes. */
  async enterTeam(request: TeamSwitch): Promise<void> {
    await callForTokens(createSessionTokenRoute, request, enter)
  },

  /**
   * Succeeds if the session has already ended. After a failure it asks the server for the session, because the answer may be lost after it
   * ended. Throws StillSignedIn with the failure as its cause if it has not ended, another error if the server did not answer.
   */
  async signOut(all = false): Promise<void> {
    const elsewhere = all ? null : await findSignOutPage()
    await exclusively(async () => {
      const body = { refresh: inCookie, ...(all ? { all } : {}) }
      await call(logoutRoute, { body, headers: cookieMode }).catch(async (error: unknown) => {
        if (!isUnauthenticated(error) && (await isOpen()))
          throw new StillSignedIn('signing out failed', { cause: error })
      })
      post({ out: 'signed_out' })
      leave('signed_out')
    })
    if (elsewhere !== null) location.assign(elsewhere)
  },

  /**
   * Calls an operation that revokes all sessions and answers with the tokens of a new one, and uses these in every tab. A
   * lost answer signs the user out: the old session has ended, and the new one is unknown.
   */
  replace: <R extends Route>(route: R, body: BodyOf<R>, params?: ParamsOf<R>): Promise<ResponseOf<R>> =>
    callForTokens(route, body, follow, params),
  /** Returns the position of the stream before the first answer of the team. */
  streamPosition: (): string | undefined => position,
  /** Takes the user that a change of the profile returned; its etag follows with the next refresh. */
  takeUser(user: User): void {
    if (state.kind === 'in') change({ ...state, user })
  },
}

/** An identity provider that answers slowly delays nobody who signs out here. */
const signOutPageMs = 3_000

/** The page of the identity provider that has opened the session, if signing out here is to sign out there too. It must not prevent signing out here. */
async function findSignOutPage(): Promise<string | null> {
  try {
    await ensureAccess()
    return (await call(startSignOutRoute, { signal: AbortSignal.timeout(signOutPageMs) })).body.redirect
  } catch {
    return null
  }
}

export class StillSignedIn extends Error {}

/** Asks the server whether there is a session. The caller must have the lock. */
async function isOpen(): Promise<boolean> {
  try {
    shareTokens(await requestTokens())
    return true
  } catch (error) {
    if (isUnauthenticated(error)) return false
    throw error
  }
}

/** Runs the work while no other tab requests tokens. */
const exclusively = <T>(work: () => Promise<T>): Promise<T> => navigator.locks.request(lockName, work)

/** Calls as the signed-in user. A 401 is tried once more: another tab may have replaced the session. */
async function callForTokens<R extends Route>(
  route: R,
  body: BodyOf<R>,
  take: (entry: Entry) => void = follow,
  params?: ParamsOf<R>,
): Promise<ResponseOf<R>> {
  const send = async () => {
    const input = { body, headers: cookieMode, ...(params ? { params } : {}) }
    const answer = await call(route, input as unknown as CallInput<R>)
    shareTokens(answer as unknown as Answer<typeof createSessionTokenRoute>, take)
    return answer.body as ResponseOf<R>
  }
  return exclusively(async () => {
    if (!isGood(held?.access ?? access)) await refreshNow()
    const refused = held?.access ?? access
    try {
      return await send()
    } catch (error) {
      if (!isUnauthenticated(error) || refused === undefined) throw error
      await refreshNow()
      return send()
    }
  })
}

/** Returns a token that stays valid for a while; undefined if no user is signed in. Throws if the server is out of reach. */
export async function ensureAccess(): Promise<string | undefined> {
  if (isGood(access)) return access!.token
  await decision
  if (state.kind === 'out') return undefined
  if (state.kind === 'unknown' && !mayBeSignedIn()) leave()
  else await refresh()
  await decision
  return access?.token
}

/** A second cookie, readable by scripts, reports that there is a session. */
const mayBeSignedIn = (): boolean => /(^|; *)pharos-signed-in=yes/.test(document.cookie)

/** After a 401: the token may have been revoked before its expiry. */
export async function renewAccess(refused: string): Promise<string | undefined> {
  if (access?.token === refused) access = undefined
  return ensureAccess()
}

const isGood = (known: Access | undefined): boolean =>
  known !== undefined && known.until - Date.now() > renewBeforeMs

async function refresh(): Promise<void> {
  const before = access
  await exclusively(async () => {
    // Another tab may have refreshed while this one waited.
    if (access !== before && isGood(access)) return
    await refreshNow()
  })
}

async function requestTokens(): Promise<Answer<typeof createSessionTokenRoute>> {
  const { body, ...rest } = await call(refreshSessionRoute, {
    body: { refresh: inCookie },
    headers: cookieMode,
  })
  return { ...rest, body: { ...body, user: body.user! } }
}

/** The caller must have the lock. */
async function refreshNow(): Promise<void> {
  try {
    shareTokens(await requestTokens())
  } catch (error) {
    // A lost connection does not end the session.
    if (!isUnauthenticated(error)) throw error
    post({ out: 'expired' })
    leave('expired')
  }
}

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.status === 401

function shareTokens(
  {
    body: { access: token, user, user_etag: etag },
    headers,
  }: Pick<Answer<typeof createSessionTokenRoute>, 'body' | 'headers'>,
  take: (entry: Entry) => void = follow,
): void {
  const position = headers.get('stream-position') ?? undefined
  const entry = { access: { token, until: expiryOf(token) }, user, etag, position }
  post(entry)
  take(entry)
}

/** Enters, but asks first if another tab has changed the team and something is not saved in this one. */
function follow(entry: Entry): void {
  const user = state.kind === 'in' ? state.user : undefined
  const isOtherTeam = user?.id === entry.user.id && user.current_team.id !== entry.user.current_team.id
  if (!isOtherTeam || (held === undefined && !hasUnsaved())) return enter(entry)
  held = entry
  decision ??= decide(user.current_team.id).finally(() => (decision = undefined))
}

/** A session has one current team: to stay, all tabs return to the team of this tab. */
async function decide(ownTeamId: number): Promise<void> {
  const isDiscarded = await askToDiscard()
  if (held === undefined) return
  if (isDiscarded) return enter(held)
  await callForTokens(createSessionTokenRoute, { team_id: ownTeamId }).catch(() => {})
  // The server could not be reached.
  if (held !== undefined) await decide(ownTeamId)
}

/** Drops the entry of another team and closes the question. */
function release(): void {
  held = undefined
  answerQuestion(false)
}

function enter({ access: next, user, etag, position: began }: Entry): void {
  access = next
  const isSameTeam = state.kind === 'in' && state.user.current_team.id === user.current_team.id
  if (!isSameTeam) position = began
  if (held !== undefined) release()
  const known = state.kind === 'in' && state.etag === etag
  if (!known) change({ kind: 'in', user, etag })
}

function leave(reason?: 'expired' | 'signed_out'): void {
  access = undefined
  release()
  if (state.kind === 'in' && reason) change({ kind: 'out', reason, userId: state.user.id })
  else if (state.kind !== 'out') change({ kind: 'out' })
}

function change(next: SessionState): void {
  state = next
  for (const listener of listeners) listener()
}

/** Returns the token's expiry in milliseconds since 1970 by this machine's clock, from its claims (RFC 7519). */
function expiryOf(token: string): number {
  const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
  const { iat, exp } = JSON.parse(atob(payload)) as { iat: number; exp: number }
  return Date.now() + (exp - iat) * 1000
}
