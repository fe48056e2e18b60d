// Visibility from RIS Live: keeps one WebSocket open, subscribes to each followed prefix, and reports updates as they
// arrive. RIS Live sends changes only. Earlier routes come from the table endpoint, if it is configured; otherwise they
// are unknown until they change.
import { WebSocket } from 'ws'
import type {
  FollowedPrefix,
  VisibilitySink,
  VisibilitySource,
  VisibilitySourceStatus,
} from '../../byoip/visibility/visibility-source.ts'
import type { Prefix } from '../../net/prefix.ts'
import { backOff } from '../../runtime/back-off.ts'
import type { Log } from '../../runtime/log.ts'
import { version } from '../../runtime/version.ts'
import {
  clientMessage,
  parseRisMessage,
  peerStateSubscription,
  prefixSubscription,
  type RisMessage,
} from './message.ts'
import { TableQueue, type TableLimits } from './table-queue.ts'
import type { RisLiveAddress } from './url.ts'

export type RisLiveOptions = RisLiveAddress & {
  readonly log: Log
  readonly now: () => Date
  readonly limits?: Partial<RisLiveLimits>
}

export type RisLiveLimits = TableLimits & {
  readonly connectTimeoutMs: number
  readonly pingMs: number
  /** Time without any message after which the connection counts as lost, and the data as old. */
  readonly silentMs: number
  /** Time without any BGP update that means a failure: the references change every two hours. */
  readonly updateSilentMs: number
  readonly retryFirstMs: number
  readonly retryMaxMs: number
  readonly messageOctetsMax: number
  /** From 0 to 1, for the jitter of retries. */
  readonly random: () => number
}

const defaults: RisLiveLimits = {
  connectTimeoutMs: 15_000,
  pingMs: 30_000,
  silentMs: 90_000,
  updateSilentMs: 5 * 3_600_000,
  retryFirstMs: 1_000,
  retryMaxMs: 60_000,
  messageOctetsMax: 4 * 1024 * 1024,
  tablePrefixesMax: 20,
  tableRetryMs: 300_000,
  tableTimeoutMs: 60_000,
  tableOctetsMax: 64 * 1024 * 1024,
  random: Math.random,
}

/** Inert until it is started. */
export function createRisLiveSource(options: RisLiveOptions): VisibilitySource {
  return new RisLiveSource(options)
}

class RisLiveSource implements VisibilitySource {
  readonly name: string
  readonly label = 'RIS Live'
  readonly #options: RisLiveOptions
  readonly #limits: RisLiveLimits
  readonly #log: Log
  #sink: VisibilitySink | undefined
  #running = false
  #socket: WebSocket | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #pingTimer: NodeJS.Timeout | undefined
  #tables: TableQueue | undefined
  #wanted: readonly Prefix[] = []
  /** Subscribed prefixes of the open connection. */
  readonly #subscribed = new Set<Prefix>()
  /** The prefixes subscribed before each ping: a pong confirms that the server has processed them. */
  #unconfirmed: { readonly prefixes: readonly Prefix[]; readonly sentAt: Date }[] = []
  #hasReported = false
  #failures = 0
  #malformed = 0
  #messageAt: Date | null = null
  #updateMs = 0
  #problem: string | null = 'not connected yet'

  constructor(options: RisLiveOptions) {
    this.name = options.name
    this.#options = options
    this.#limits = { ...defaults, ...options.limits }
    this.#log = options.log.child({ source: options.name })
  }

  connect(sink: VisibilitySink): void {
    this.#sink = sink
  }

  start(): void {
    if (this.#running) return
    this.#running = true
    this.#open()
  }

  async stop(): Promise<void> {
    this.#running = false
    clearTimeout(this.#retryTimer)
    this.#close()
    await this.#tables?.stop()
    this.#problem = 'not connected yet'
    this.#messageAt = null
  }

  follow(prefixes: readonly FollowedPrefix[]): void {
    this.#wanted = prefixes.map(({ prefix }) => prefix)
    if (this.#socket?.readyState === WebSocket.OPEN) this.#subscribe()
  }

  /** A connection that was lost a moment ago has data that are as old as its last message. */
  status(): VisibilitySourceStatus {
    const now = this.#options.now().getTime()
    const asOf = this.#messageAt
    const isFresh = asOf !== null && now - asOf.getTime() <= this.#limits.silentMs
    const isMute = isFresh && now - this.#updateMs > this.#limits.updateSilentMs
    if (isFresh && !isMute) return { state: 'current', asOf, problem: null }
    const problem = isMute ? 'no BGP update for hours' : (this.#problem ?? 'no message')
    return { state: 'unavailable', asOf, problem }
  }

  #open(): void {
    const { url, connectTimeoutMs, messageOctetsMax } = { ...this.#options, ...this.#limits }
    const socket = new WebSocket(url, {
      handshakeTimeout: connectTimeoutMs,
      maxPayload: messageOctetsMax,
      headers: { 'user-agent': `pharos/${version}` },
    })
    this.#socket = socket
    let reason = 'the server closed the connection'
    socket.on('open', () => this.#opened())
    socket.on('message', (data, isBinary) => {
      if (!isBinary && this.#socket === socket) this.#receive((data as Buffer).toString('utf8'))
    })
    socket.on('error', (error) => (reason = error.message))
    // Only `ws` calls this, once, after an error too.
    socket.on('close', (code, text) => {
      if (this.#socket !== socket) return
      // The text is stored, and PostgreSQL accepts no NUL.
      const said = text
        .toString('utf8')
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim()
        .slice(0, 200)
      this.#lost(said === '' ? `${reason} (${code})` : `${reason} (${code} ${said})`)
    })
  }

  #opened(): void {
    this.#log.info('RIS Live connected')
    if (this.#hasReported) this.#sink?.gap()
    this.#hasReported = true
    this.#received()
    this.#updateMs = this.#options.now().getTime()
    const { table, now } = this.#options
    this.#tables =
      table &&
      new TableQueue(table, this.#limits, {
        now,
        log: this.#log,
        onTable: (prefix, routes, at) => this.#sink?.table(prefix, routes, at),
      })
    this.#send(clientMessage('ris_subscribe', peerStateSubscription))
    for (const prefix of this.#options.references)
      this.#send(clientMessage('ris_subscribe', prefixSubscription(prefix, false)))
    this.#tables?.add(this.#options.references, this.#options.now())
    this.#subscribe()
    this.#pingTimer = setInterval(() => this.#ping([]), this.#limits.pingMs)
  }

  #subscribe(): void {
    const wanted = new Set(this.#wanted)
    const added = [...wanted].filter((prefix) => !this.#subscribed.has(prefix))
    for (const prefix of this.#subscribed) {
      if (wanted.has(prefix)) continue
      this.#subscribed.delete(prefix)
      this.#send(clientMessage('ris_unsubscribe', prefixSubscription(prefix, true)))
    }
    for (const prefix of added) {
      this.#subscribed.add(prefix)
      this.#send(clientMessage('ris_subscribe', prefixSubscription(prefix, true)))
    }
    if (added.length > 0) this.#ping(added)
  }

  #ping(prefixes: readonly Prefix[]): void {
    const now = this.#options.now()
    if (this.#messageAt && now.getTime() - this.#messageAt.getTime() > this.#limits.silentMs) {
      this.#log.warn('RIS Live is silent; reconnecting')
      return this.#socket?.terminate()
    }
    this.#unconfirmed.push({ prefixes, sentAt: now })
    this.#send(clientMessage('ping'))
  }

  #send(text: string): void {
    this.#socket?.send(text)
  }

  /** A message that cannot be parsed is counted and skipped. */
  #receive(text: string): void {
    this.#received()
    let message: RisMessage
    try {
      message = parseRisMessage(text, this.#options.now())
    } catch (error) {
      if (this.#malformed++ === 0) this.#log.warn({ error }, 'RIS Live: malformed message skipped')
      return
    }
    this.#handle(message)
  }

  #received(): void {
    this.#messageAt = this.#options.now()
    this.#problem = null
  }

  #handle(message: RisMessage): void {
    switch (message.kind) {
      case 'update': {
        this.#failures = 0
        this.#updateMs = this.#options.now().getTime()
        const { collector, at, path, announced, withdrawn } = message
        // A prefix that is in both lists is announced (RFC 4271, section 4.3).
        for (const prefix of withdrawn) this.#sink?.update({ prefix, collector, path: null, at })
        for (const prefix of announced) this.#sink?.update({ prefix, collector, path, at })
        return
      }
      case 'peer_down':
        return this.#sink?.collectorDown(message.collector)
      case 'pong': {
        const confirmed = this.#unconfirmed.shift()
        if (!confirmed || confirmed.prefixes.length === 0) return
        const since = this.#options.now()
        for (const prefix of confirmed.prefixes) this.#sink?.followed(prefix, since)
        this.#tables?.add(confirmed.prefixes, since)
        return
      }
      case 'error':
        // Sent for a bad subscription, and before the server closes the connection of a client that reads too slowly.
        this.#log.warn({ reason: message.text }, 'RIS Live reported an error')
        return
      case 'other':
    }
  }

  #lost(reason: string): void {
    this.#close()
    if (this.#problem !== reason) this.#log.warn({ reason }, 'RIS Live connection lost; reconnecting')
    this.#problem = reason
    if (!this.#running) return
    const { retryFirstMs: first, retryMaxMs: max, random } = this.#limits
    const delayMs = backOff(++this.#failures, { first, max }) * (0.5 + random() / 2)
    this.#retryTimer = setTimeout(() => this.#open(), delayMs)
  }

  #close(): void {
    clearInterval(this.#pingTimer)
    const socket = this.#socket
    this.#socket = undefined
    this.#subscribed.clear()
    this.#unconfirmed = []
    void this.#tables?.stop()
    this.#tables = undefined
    // An error after this is of no interest, and must not be thrown.
    socket?.on('error', () => {})
    socket?.terminate()
  }
}
