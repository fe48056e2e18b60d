// The stream of the team's changes. One tab of the browser follows it (Web Locks) and forwards its messages, since a browser
// has few connections per server. A message invalidates queries; its content is not rendered.
import { ProblemError } from '@pharos/contract/client'
import { openStream, type StreamEvent } from '@pharos/contract/messages/stream-client'
import { queryClient, setLive, teamIdNow, type AnswerGroup } from './queries.ts'
import { ensureAccess, renewAccess, session } from './session.ts'

type TabMessage =
  | { readonly team: number; readonly event: StreamEvent }
  | { readonly team: number; readonly live: boolean }
  /** From a new tab: is the stream connected? */
  | { readonly team: number; readonly asks: true }

const name = 'pharos-stream'
/** The shortest time between two invalidations. */
const invalidateEveryMs = 1_000
const retryMinMs = 1_000
const retryMaxMs = 30_000

let team = 0
let lastEventId: string | undefined
/** The last state that this tab sent to the others; undefined unless it follows the stream for all of them. */
let sentLive: boolean | undefined
/** The user's etag when the stream was refused: setting up a second factor or enabling a module changes it. */
let refusedEtag: string | undefined
const listeners = new Set<(event: StreamEvent) => void>()
const otherTabs = new BroadcastChannel(name)

/** Subscribes to every message of the team, in every tab. Returns the function that unsubscribes. */
export function onMessage(listener: (event: StreamEvent) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows the stream of the signed-in user's current team from now on. Call it once. */
export function followStream(): void {
  let following = new AbortController()
  otherTabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => receive(data))
  const update = () => {
    const mayBeLet = refusedEtag !== undefined && refusedEtag !== etagNow()
    if (teamIdNow() === team && !mayBeLet) return
    // After a refusal the position is too old to start from.
    lastEventId = teamIdNow() === team ? undefined : session.streamPosition()
    team = teamIdNow()
    refusedEtag = undefined
    following.abort()
    following = new AbortController()
    setLive(undefined)
    if (team !== 0) void lead(team, following.signal)
  }
  session.subscribe(update)
  update()
}

function receive(message: TabMessage): void {
  if (message.team !== team) return
  if ('event' in message) take(message.event)
  else if ('live' in message) setLive(message.live)
  else if (sentLive !== undefined) post({ team, live: sentLive })
}

/** A channel reaches pages of this origin only: it has no target to name. */
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (message: TabMessage): void => otherTabs.postMessage(message)

function become(live: boolean): void {
  sentLive = live
  setLive(live)
  post({ team, live })
}

/** Waits until no other tab follows this team. */
async function lead(ofTeam: number, signal: AbortSignal): Promise<void> {
  post({ team: ofTeam, asks: true })
  await navigator.locks
    .request(`${name} ${ofTeam}`, { signal }, () => keepFollowing(signal))
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
}

/** Runs until the signal, or until the server refuses: pages poll then. */
async function keepFollowing(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const began = performance.now()
    try {
      await followOnce(signal)
      failures = performance.now() - began > retryMaxMs ? 0 : failures + 1
    } catch (error) {
      if (hasStatus(error, 403)) refusedEtag = etagNow()
      if (signal.aborted || refusedEtag !== undefined) break
      failures += 1
      become(false)
    }
    if (failures > 0) await pause(Math.min(retryMaxMs, retryMinMs * 2 ** failures), signal)
  }
  if (!signal.aborted) become(false)
  sentLive = undefined
}

async function followOnce(signal: AbortSignal): Promise<void> {
  const bearer = await ensureAccess()
  if (bearer === undefined) return
  try {
    await followAs(bearer, signal)
  } catch (error) {
    // Another tab replaced the session: the next attempt uses its token.
    if (hasStatus(error, 401)) await renewAccess(bearer)
    throw error
  }
}

async function followAs(bearer: string, signal: AbortSignal): Promise<void> {
  for await (const event of openStream(
    { baseUrl: '', credential: () => ({ bearer }) },
    { lastEventId, signal },
  )) {
    if (!sentLive) become(true)
    post({ team, event })
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

function take(received: StreamEvent): void {
  // Without a position of this tab, what happened before is not known.
  const isLate = received.type === 'ready' && lastEventId === undefined
  const event: StreamEvent = isLate ? { ...received, type: 'reset' } : received
  lastEventId = event.id
  if (event.type === 'reset') scheduleInvalidation('Analysis', 'BYOIP', 'DNS', 'Inventory')
  else if (event.type !== 'ready' && event.type !== 'notifications.changed')
    scheduleInvalidation(groupOf(event.type))
  for (const listener of listeners) listener(event)
}

const groupOf = (type: string): AnswerGroup => groups[type.split('.')[0]!] ?? 'BYOIP'
const groups: Readonly<Record<string, AnswerGroup>> = {
  alert: 'Alerts',
  event: 'Analysis',
  incident: 'Analysis',
  zone: 'DNS',
  port: 'Inventory',
  service: 'Inventory',
  cross_connect: 'Inventory',
}

const outdated = new Set<AnswerGroup>()
let scheduled: ReturnType<typeof setTimeout> | undefined
let invalidatedAt = 0

/** Merges the invalidations of a short time. */
function scheduleInvalidation(...groups: readonly AnswerGroup[]): void {
  for (const group of groups) outdated.add(group)
  scheduled ??= setTimeout(invalidateNow, Math.max(50, invalidatedAt + invalidateEveryMs - performance.now()))
}

function invalidateNow(): void {
  const groups = new Set(outdated)
  outdated.clear()
  scheduled = undefined
  invalidatedAt = performance.now()
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, meta }) => queryKey[0] === team && groups.has(meta?.['group'] as AnswerGroup),
  })
}
