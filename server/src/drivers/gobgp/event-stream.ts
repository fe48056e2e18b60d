// Follows the events of one GoBGP daemon while there is a watcher, across lost connections. It must not report Pharos'
// own changes, and must not guess events while it was disconnected. Reasons: docs/decisions/028-gobgp-watch-events.md.
import type { SpeakerEvents } from '../../byoip/regions/speaker.ts'
import type { Prefix } from '../../net/prefix.ts'
import { type GobgpClient, isTimeout } from './client.ts'
import type { Dialect } from './dialect.ts'
import type { ChangedPath, DaemonEvent } from './events.ts'
import { MergedCalls } from './merged-calls.ts'

export type EventStreamOptions = {
  readonly client: GobgpClient
  /** The daemon's dialect on the current connection. */
  readonly dialect: () => Promise<Dialect>
  /** Makes a read-only call to the daemon. */
  readonly probe: () => Promise<unknown>
  /** The path identifier of our routes. */
  readonly identifier: number
}

/**
 * `gobgp global rib del all` makes one event for each route. The delay grows while another program keeps undoing our
 * routes, so that the neighbors are spared most of it.
 */
const tableChange = { delayMs: 50, delayMsMax: 30_000 }
const neighborChange = { delayMs: 50, delayMsMax: 1_000 }
/** Delay before the stream is opened again if the daemon ended it on an open connection. */
const reopenMs = 1_000
/** An event arrives on another stream than the answer to the call that caused it. */
const echoMs = 10_000

/** Inert until the first `watch`. */
export class EventStream {
  readonly #options: EventStreamOptions
  readonly #watchers = new Set<SpeakerEvents>()
  readonly #own = new OwnChanges()
  readonly #tableChange = new MergedCalls(() => this.#call('onTableChange'), tableChange)
  readonly #neighborChange = new MergedCalls(() => this.#call('onNeighborChange'), neighborChange)
  #unwatch: (() => void) | undefined
  #isOpen = false
  #isProbing = false
  #cancel: (() => void) | undefined
  #reopening: NodeJS.Timeout | undefined
  /** Addresses of established neighbors; undefined before the first complete list of them. */
  #established: Set<string> | undefined
  #initial = new Set<string>()
  /** The connection that the last complete stream was on. */
  #lastLosses: number | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  watch(events: SpeakerEvents): () => void {
    const watcher = { ...events }
    this.#watchers.add(watcher)
    if (!this.#unwatch) this.#start()
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.stop()
    }
  }

  /** Registers changes that are about to be made, so that their events are not reported. */
  expect(kind: ChangeKind, prefixes: readonly Prefix[], deadline: Date): void {
    if (this.#unwatch) this.#own.expect(kind, prefixes, deadline.getTime() + echoMs)
  }

  /** For a change with unknown result: the daemon may still apply it, and then the event is reported. */
  removeExpected(kind: ChangeKind, prefixes: readonly Prefix[]): void {
    for (const prefix of prefixes) this.#own.take(kind, prefix)
  }

  /**
   * After a call that timed out: probes until the daemon answers, which is reported as `onUp`. A suspended daemon answers as
   * soon as it continues. An unreachable machine is probed over a new connection: on the old one the TCP retransmission
   * interval keeps growing, and a new one may be needed anyway.
   */
  async missedAnswer(): Promise<void> {
    const { client, probe } = this.#options
    if (this.#isProbing || this.#watchers.size === 0 || !client.isReady) return
    this.#isProbing = true
    try {
      await probe()
      this.#call('onUp')
    } catch (error) {
      if (isTimeout(error)) client.reconnect()
    } finally {
      this.#isProbing = false
    }
  }

  stop(): void {
    this.#watchers.clear()
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#cancel?.()
    clearTimeout(this.#reopening)
    this.#tableChange.cancel()
    this.#neighborChange.cancel()
    this.#established = undefined
    this.#lastLosses = undefined
  }

  #start(): void {
    const { client } = this.#options
    this.#unwatch = client.watch(() => {
      this.#call('onUp')
      this.#open()
    })
    if (client.isReady) this.#open()
  }

  #open(): void {
    if (this.#isOpen || !this.#unwatch) return
    this.#isOpen = true
    clearTimeout(this.#reopening)
    this.#follow().catch(() => this.#ended())
  }

  async #follow(): Promise<void> {
    const { client } = this.#options
    const dialect = await this.#options.dialect()
    if (!this.#unwatch) return this.#ended()
    this.#initial = new Set()
    this.#cancel = dialect.watch(
      client,
      (event) => this.#take(event),
      () => this.#ended(),
    )
  }

  /** Without a connection, the next one opens the stream. */
  #ended(): void {
    this.#isOpen = false
    this.#cancel = undefined
    if (this.#unwatch && this.#options.client.isReady)
      this.#reopening = setTimeout(() => this.#open(), reopenMs)
  }

  #take(event: DaemonEvent): void {
    if (event.kind === 'complete') this.#complete()
    else if (event.kind === 'paths') {
      // Every path must be matched, so that each expected event is removed.
      if (event.paths.filter((path) => this.#isForeign(path)).length > 0) this.#tableChange.notify()
    } else if (event.isInitial) setMember(this.#initial, event.neighbor.address, isUp(event))
    else if (this.#established && setMember(this.#established, event.neighbor.address, isUp(event)))
      this.#neighborChange.notify()
  }

  /** If the stream broke on an open connection, changes in between are not reported. */
  #complete(): void {
    const { losses } = this.#options.client
    if (this.#established && this.#established.symmetricDifference(this.#initial).size > 0)
      this.#neighborChange.notify()
    if (this.#lastLosses === losses) this.#tableChange.notify()
    this.#established = this.#initial
    this.#lastLosses = losses
  }

  #isForeign({ prefix, identifier, isWithdraw }: ChangedPath): boolean {
    if (identifier !== this.#options.identifier) return false
    return !prefix || !this.#own.take(isWithdraw ? 'withdrawal' : 'announcement', prefix)
  }

  #call(name: keyof SpeakerEvents): void {
    for (const watcher of this.#watchers) watcher[name]()
  }
}

export type ChangeKind = 'announcement' | 'withdrawal'

/**
 * The events that our own changes will cause, counted: several changes of one prefix may be answered before the event of
 * the first arrives. Not every change causes one: an equal route in place of another does not.
 */
class OwnChanges {
  readonly #expected = new Map<string, { count: number; untilMs: number }>()

  expect(kind: ChangeKind, prefixes: readonly Prefix[], untilMs: number): void {
    for (const prefix of prefixes) {
      const key = `${kind} ${prefix}`
      const count = (this.#expected.get(key)?.count ?? 0) + 1
      this.#expected.set(key, { count, untilMs })
    }
    setTimeout(() => this.#sweep(), untilMs - Date.now()).unref()
  }

  /** Returns whether the event is one of Pharos' own changes; each change causes at most one event. */
  take(kind: ChangeKind, prefix: Prefix): boolean {
    const key = `${kind} ${prefix}`
    const expected = this.#expected.get(key)
    if (!expected) return false
    if (--expected.count === 0) this.#expected.delete(key)
    return true
  }

  #sweep(): void {
    const nowMs = Date.now()
    for (const [key, { untilMs }] of this.#expected) if (untilMs <= nowMs) this.#expected.delete(key)
  }
}

function isUp({ neighbor }: { readonly neighbor: { readonly state: string } }): boolean {
  return neighbor.state === 'established'
}

/** Returns whether that changed anything. */
function setMember(set: Set<string>, member: string, isMember: boolean): boolean {
  if (set.has(member) === isMember) return false
  if (isMember) set.add(member)
  else set.delete(member)
  return true
}
