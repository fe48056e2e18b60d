// What happens to the team, while it happens. One tab of the browser follows the stream (Web Locks) and tells the others,
// since a browser has few connections for each server. Answers that a message makes old are asked for again where they
// are shown; the message itself is never shown in their place.
import { ProblemError } from '@pharos/contract/client'
import { openStream, type StreamEvent } from '@pharos/contract/stream-client'
import { queryClient, setLive, teamIdNow, type AnswerGroup } from './queries.ts'
import { ensureAccess, renewAccess, session } from './session.ts'

type Told =
  | { readonly team: number; readonly event: StreamEvent }
  | { readonly team: number; readonly live: boolean }
  /** A tab that is new, and wants to know whether anybody follows. */
  | { readonly team: number; readonly asks: true }

const name = 'pharos-stream'
/** How often at most answers are asked for again. */
const restMs = 1_000
const retryMinMs = 1_000
const retryMaxMs = 30_000

let team = 0
let lastEventId: string | undefined
let isLeading = false
/** What was known of the user when following was refused: a second factor set up, or a module given, changes it. */
let refusedWith: string | undefined
const listeners = new Set<(event: StreamEvent) => void>()
const neighbours = new BroadcastChannel(name)

/** Hears every message of the team, in every tab. Gives back what ends it. */
export function onMessage(listener: (event: StreamEvent) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** From now on, for whoever is signed in, and in the team that they work in. To be called once. */
export function followStream(): void {
  let following = new AbortController()
  neighbours.addEventListener('message', ({ data }: MessageEvent<Told>) => hear(data))
  const update = () => {
    const mayBeLet = refusedWith !== undefined && refusedWith !== etagNow()
    if (teamIdNow() === team && !mayBeLet) return
    team = teamIdNow()
    refusedWith = undefined
    following.abort()
    following = new AbortController()
    lastEventId = undefined
    setLive(false)
    if (team !== 0) void lead(team, following.signal)
  }
  session.subscribe(update)
  update()
}

function hear(told: Told): void {
  if (told.team !== team) return
  if ('event' in told) take(told.event)
  else if ('live' in told) setLive(told.live)
  else if (isLeading) inform({ team, live: true })
}

/** A channel reaches pages of this origin only: it has no target to name. */
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const inform = (told: Told): void => neighbours.postMessage(told)

function become(live: boolean): void {
  isLeading = live
  setLive(live)
  inform({ team, live })
}

/** Waits until no other tab follows this team. */
async function lead(ofTeam: number, signal: AbortSignal): Promise<void> {
  inform({ team: ofTeam, asks: true })
  await navigator.locks
    .request(`${name} ${ofTeam}`, { signal }, () => keepFollowing(signal))
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
}

/** Until the signal, or the server’s no: then the pages ask by themselves. */
async function keepFollowing(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const began = performance.now()
    try {
      await followOnce(signal)
      failures = performance.now() - began > retryMaxMs ? 0 : failures + 1
    } catch (error) {
      if (hasStatus(error, 403)) refusedWith = etagNow()
      if (signal.aborted || refusedWith !== undefined) break
      failures += 1
      become(false)
    }
    if (failures > 0) await pause(Math.min(retryMaxMs, retryMinMs * 2 ** failures), signal)
  }
  isLeading = false
}

async function followOnce(signal: AbortSignal): Promise<void> {
  const bearer = await ensureAccess()
  if (bearer === undefined) return
  try {
    await followAs(bearer, signal)
  } catch (error) {
    // Another tab replaced the session: the next try has its token.
    if (hasStatus(error, 401)) await renewAccess(bearer)
    throw error
  }
}

async function followAs(bearer: string, signal: AbortSignal): Promise<void> {
  for await (const event of openStream(
    { baseUrl: '', credential: () => ({ bearer }) },
    { lastEventId, signal },
  )) {
    if (!isLeading) become(true)
    inform({ team, event })
    take(event)
  }
}

function etagNow(): string {
  const state = session.get()
  return state.kind === 'in' ? state.etag : ''
}

const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof ProblemError && error.problem.status === status

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, ms * (0.5 + Math.random() / 2))
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
}

function take(event: StreamEvent): void {
  const isFirst = lastEventId === undefined
  lastEventId = event.id
  if (event.type === 'reset' || (event.type === 'ready' && isFirst)) ask('Analysis', 'BYOIP')
  else if (event.type !== 'ready') ask(event.type.startsWith('event.') ? 'Analysis' : 'BYOIP')
  for (const listener of listeners) listener(event)
}

const old = new Set<AnswerGroup>()
let asking: ReturnType<typeof setTimeout> | undefined
let askedAt = 0

/** What is told in one breath is asked for once. */
function ask(...groups: readonly AnswerGroup[]): void {
  for (const group of groups) old.add(group)
  asking ??= setTimeout(askNow, Math.max(50, askedAt + restMs - performance.now()))
}

function askNow(): void {
  const groups = new Set(old)
  old.clear()
  asking = undefined
  askedAt = performance.now()
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, meta }) => queryKey[0] === team && groups.has(meta?.['group'] as AnswerGroup),
  })
}
