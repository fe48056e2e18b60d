// Notifies the followers of a team's stream of new messages. One query of the outbox serves all followers of the
// process; each then reads its messages itself, as its team.
import type { Db } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { listTeamsWithMessages } from './stream.store.ts'

/** If a notification is lost, messages are found within this time. */
const intervalMs = 1_000
/** Time until the next query while an older transaction delays messages. */
const heldBackMs = 50
/** Followers check their credentials within this time after any change of access: at once, unless they did in the last half of it. */
const accessMs = 1_000

export type OutboxListener = {
  /** Notifies the subscription of the team's messages from now on. */
  subscribe(teamId: number): Subscription
  start(): void
  stop(): Promise<void>
}

/**
 * The team has new messages; the access of a user or token changed; neither; another database server has taken over, so
 * that the positions of this stream are invalid.
 */
export type StreamSignal = 'messages' | 'access' | 'none' | 'ended'

export type Subscription = {
  /** Resolves with the signal since the last call, or after the time. An aborted signal ends the wait. */
  next(withinMs: number, signal: AbortSignal): Promise<StreamSignal>
  /** Makes `next` resolve with `messages` immediately: the last batch was full. */
  repeat(): void
  close(): void
}

export type OutboxListenerDeps = {
  readonly db: Db
  readonly waker: Waker
  readonly log: Log
  readonly metrics: Metrics
}

export function createOutboxListener({ db, waker, log, metrics }: OutboxListenerDeps): OutboxListener {
  const subscribers = new Map<number, Set<Signals>>()
  let horizon: string | undefined
  let cluster: string | undefined
  let unsubscribe: (() => void)[] = []

  /** Without a horizon all teams are notified: each may have missed messages between its own query and this one. */
  async function check(): Promise<void> {
    if (subscribers.size === 0) return void (horizon = cluster = undefined)
    const { cluster: found, xmin, teams, isHeldBack } = await listTeamsWithMessages(db, horizon)
    if (cluster !== undefined && found !== cluster) endAll()
    cluster = found
    const notified = horizon === undefined ? subscribers.keys() : teams
    horizon = xmin
    for (const team of notified) for (const signals of subscribers.get(team) ?? []) signals.notify('messages')
    if (isHeldBack) setTimeout(() => loop.wake(), heldBackMs).unref()
  }
  /** The follower connects again and gets a `reset`. */
  function endAll(): void {
    for (const ofTeam of subscribers.values()) for (const signals of ofTeam) signals.notify('ended')
  }
  const loop: Loop = createLoop({ name: 'stream', intervalMs, sends: 'nothing', run: check, log, metrics })

  let timer: NodeJS.Timeout | undefined
  let lastAccess = -Infinity
  /** Once for all changes of a while: an import of members makes hundreds a second. */
  function notifyOfAccess(): void {
    const wait = Math.max(0, lastAccess + accessMs / 2 - performance.now())
    timer ??= setTimeout(() => {
      timer = undefined
      lastAccess = performance.now()
      const followers = [...subscribers.values()].flatMap((ofTeam) => [...ofTeam])
      // About one a millisecond, since each of them reads its credential.
      const spreadMs = Math.min(followers.length, accessMs / 2)
      for (const signals of followers)
        setTimeout(() => signals.notify('access'), Math.random() * spreadMs).unref()
    }, wait).unref()
  }

  return {
    subscribe(teamId) {
      const signals = new Signals()
      subscribers.set(teamId, (subscribers.get(teamId) ?? new Set()).add(signals))
      metrics.streams.inc()
      return {
        next: (withinMs, signal) => signals.next(withinMs, signal),
        repeat: () => signals.notify('messages'),
        close() {
          const ofTeam = subscribers.get(teamId)
          if (ofTeam?.delete(signals)) metrics.streams.dec()
          if (ofTeam?.size === 0) subscribers.delete(teamId)
        },
      }
    },
    start() {
      unsubscribe = [waker.on('outbox', () => loop.wake()), waker.on('actors', notifyOfAccess)]
      loop.start()
    },
    async stop() {
      for (const one of unsubscribe) one()
      clearTimeout(timer)
      await loop.stop()
    },
  }
}

const rank: Readonly<Record<StreamSignal, number>> = { none: 0, access: 1, messages: 2, ended: 3 }

/** Stores a signal that arrives while no call waits for it. */
class Signals {
  #pending: StreamSignal = 'none'
  #resolve: (() => void) | undefined

  notify(signal: StreamSignal): void {
    if (rank[signal] > rank[this.#pending]) this.#pending = signal
    this.#resolve?.()
  }

  async next(withinMs: number, signal: AbortSignal): Promise<StreamSignal> {
    if (this.#pending === 'none' && !signal.aborted) await this.#wait(withinMs, signal)
    const pending = this.#pending
    this.#pending = 'none'
    return pending
  }

  async #wait(withinMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    const stop = () => resolve()
    signal.addEventListener('abort', stop)
    this.#resolve = resolve
    await promise
    this.#resolve = undefined
    signal.removeEventListener('abort', stop)
    clearTimeout(timer)
  }
}
