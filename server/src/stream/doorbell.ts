// Wakes those who follow the stream of a team when something has happened to it. One look at the outbox serves all of the
// process; what happened, each reads by itself, as the team.
import type { Db } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { listRings } from './stream.store.ts'

/** How soon what nobody was woken for is seen. */
const intervalMs = 1_000
/** How soon one looks again for what an older transaction holds up. */
const heldUpMs = 50
/** Rights change with every sign-out of anybody: whoever follows looks at his own within this, and not all at once. */
const rightsMs = 1_000

export type Doorbell = {
  /** From now on the follower hears of what happens to the team. */
  follow(teamId: number): Follower
  start(): void
  stop(): Promise<void>
}

/** Something has happened to the team; somebody's rights are others now; nothing. */
export type Ring = 'news' | 'rights' | 'silence'

export type Follower = {
  /** What rang since the last time, or within the time; an aborted signal ends the wait. */
  rang(withinMs: number, signal: AbortSignal): Promise<Ring>
  /** There is more to read: it rings for news at once. */
  again(): void
  end(): void
}

export type DoorbellDeps = {
  readonly db: Db
  readonly waker: Waker
  readonly log: Log
  readonly metrics: Metrics
}

export function createDoorbell({ db, waker, log, metrics }: DoorbellDeps): Doorbell {
  const followers = new Map<number, Set<Bell>>()
  let seen: string | undefined
  let off: (() => void)[] = []

  /** Where nothing is remembered, everybody may have missed something between his own reading and this look. */
  async function look(): Promise<void> {
    if (followers.size === 0) return void (seen = undefined)
    const { xmin, teams, more } = await listRings(db, seen)
    const told = seen === undefined ? followers.keys() : teams
    seen = xmin
    for (const team of told) for (const bell of followers.get(team) ?? []) bell.ring('news')
    if (more) setTimeout(() => loop.wake(), heldUpMs).unref()
  }
  const loop: Loop = createLoop({ name: 'stream', intervalMs, run: look, log, metrics })

  let ringing: NodeJS.Timeout | undefined
  /** Spread over a while, and once for all changes of that while. */
  function ringForRights(): void {
    ringing ??= setTimeout(() => {
      ringing = undefined
      for (const bells of followers.values())
        for (const bell of bells)
          setTimeout(() => bell.ring('rights'), (Math.random() * rightsMs) / 2).unref()
    }, rightsMs / 2).unref()
  }

  return {
    follow(teamId) {
      const bell = new Bell()
      followers.set(teamId, (followers.get(teamId) ?? new Set()).add(bell))
      metrics.streams.inc()
      return {
        rang: (withinMs, signal) => bell.rang(withinMs, signal),
        again: () => bell.ring('news'),
        end() {
          const bells = followers.get(teamId)
          if (bells?.delete(bell)) metrics.streams.dec()
          if (bells?.size === 0) followers.delete(teamId)
        },
      }
    },
    start() {
      off = [waker.on('outbox', () => loop.wake()), waker.on('actors', ringForRights)]
      loop.start()
    },
    async stop() {
      for (const one of off) one()
      clearTimeout(ringing)
      await loop.stop()
    },
  }
}

/** Remembers what rang while nobody listened. */
class Bell {
  #rung: Ring = 'silence'
  #wake: (() => void) | undefined

  ring(ring: Ring): void {
    if (this.#rung !== 'news') this.#rung = ring
    this.#wake?.()
  }

  async rang(withinMs: number, signal: AbortSignal): Promise<Ring> {
    if (this.#rung === 'silence' && !signal.aborted) await this.#wait(withinMs, signal)
    const rung = this.#rung
    this.#rung = 'silence'
    return rung
  }

  async #wait(withinMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    const stop = () => resolve()
    signal.addEventListener('abort', stop)
    this.#wake = resolve
    await promise
    this.#wake = undefined
    signal.removeEventListener('abort', stop)
    clearTimeout(timer)
  }
}
