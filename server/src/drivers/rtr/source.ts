// VRPs from an RTR cache: keeps a session up, follows its deltas, and asks for everything anew from time to time, since caches
// are known to send wrong deltas. What it holds stays good until the cache's expire interval has passed, whatever happens to
// the connection; after that it is not answered from.
import type {
  CurrentVrps,
  Suspicion,
  TouchedPrefixes,
  VrpSource,
  VrpSourceStatus,
} from '../../registry/vrp-source.ts'
import type { Log } from '../../runtime/log.ts'
import { HeldVrps } from '../vrps/held-vrps.ts'
import type { Confirmed } from '../vrps/held-vrps.ts'
import { RtrConnection } from './connection.ts'
import { encodeErrorReport, RtrError } from './pdu.ts'
import type { RtrIntervals, RtrVersion } from './pdu.ts'
import { RtrSession } from './session.ts'
import type { RtrOutcome, RtrPosition } from './session.ts'
import { intervalsWithin, unknownIntervals } from './intervals.ts'
import type { RtrAddress } from './url.ts'

export type RtrSourceOptions = RtrAddress & {
  readonly log: Log
  readonly now: () => Date
  /** See HeldVrpsOptions. */
  readonly confirmMs: number
  readonly limits?: Partial<RtrLimits>
}

export type RtrLimits = {
  readonly connectTimeoutMs: number
  /** Between a question and the next sign of an answer, and between any two pieces of one. */
  readonly answerTimeoutMs: number
  /** For a whole answer: a cache that drips is cut off. */
  readonly answerTotalMs: number
  readonly firstRetryMs: number
  readonly lastRetryMs: number
  /** How often everything is asked for, although deltas came. */
  readonly fullResetMs: number
  /** What is held is good for at most this long, whatever the cache says. */
  readonly expireMsMax: number
  /** The cache is asked at the latest after this, whatever it says; its notifications come in between. */
  readonly refreshMsMax: number
  readonly vrpsMax: number
  /** 0 to 1, for the jitter of retries, and for what strangers must not foresee. */
  readonly random: () => number
}

const defaults: RtrLimits = {
  connectTimeoutMs: 10_000,
  answerTimeoutMs: 30_000,
  answerTotalMs: 600_000,
  firstRetryMs: 500,
  lastRetryMs: 60_000,
  fullResetMs: 3_600_000,
  expireMsMax: 172_800_000,
  refreshMsMax: 3_600_000,
  vrpsMax: 5_000_000,
  random: Math.random,
}

/** Inert until it is started. */
export function createRtrSource(options: RtrSourceOptions): VrpSource {
  return new RtrSource(options)
}

class RtrSource implements VrpSource {
  readonly name: string
  readonly label = 'RTR cache'
  readonly #options: RtrSourceOptions
  readonly #limits: RtrLimits
  readonly #log: Log
  readonly #held: HeldVrps
  #running = false
  #connection: RtrConnection | undefined
  #session: RtrSession | undefined
  #timer: NodeJS.Timeout | undefined
  #deadline: NodeJS.Timeout | undefined
  #position: RtrPosition | undefined
  #intervals: RtrIntervals = unknownIntervals
  #lastSetMs = -Infinity
  /** Connections that failed in a row, or held only shortly: each asks for everything. */
  #failures = 0
  #connectedMs = Infinity
  #problem: string | null = 'no answer yet'
  #version: RtrVersion = 1

  constructor(options: RtrSourceOptions) {
    this.name = options.name
    this.#options = options
    this.#limits = { ...defaults, ...options.limits }
    this.#log = options.log.child({ source: options.name })
    this.#held = new HeldVrps(options)
  }

  start(): void {
    if (this.#running) return
    this.#running = true
    this.#connect()
  }

  stop(): void {
    this.#running = false
    this.#hangUp()
    this.#held.stop()
  }

  current(): CurrentVrps | undefined {
    return this.#held.current()
  }

  suspicion(): Suspicion | undefined {
    return this.#held.suspicion()
  }

  accept(): void {
    this.#held.accept()
  }

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    return this.#held.onChange(listener)
  }

  status(): VrpSourceStatus {
    const { confirmed, table } = this.#held
    const state = this.current() ? 'current' : 'unavailable'
    const expired = state === 'unavailable' && confirmed ? 'what it said has expired' : null
    return {
      state,
      vrps: table?.size ?? 0,
      asOf: confirmed?.asOf ?? null,
      expires: confirmed?.expires ?? null,
      suspicious: this.#held.suspicion() !== undefined,
      problem: this.#problem ?? this.#held.doubt() ?? expired,
    }
  }

  #connect(): void {
    const session = new RtrSession({
      version: this.#version,
      vrpsMax: this.#limits.vrpsMax,
      seed: Math.floor(this.#limits.random() * 2 ** 32),
      send: (octets) => {
        connection.send(octets)
        this.#expectAnswer()
      },
    })
    const connection = new RtrConnection({
      address: this.#options,
      connectTimeoutMs: this.#limits.connectTimeoutMs,
      onOpen: () => {
        this.#connectedMs = performance.now()
        this.#ask()
      },
      onPdu: (decoded) => {
        const outcome = session.receive(decoded)
        if (outcome) this.#take(outcome)
        if (session.isWaiting) connection.expectWithin(this.#limits.answerTimeoutMs)
      },
      onEnd: (reason) => this.#failed(reason),
    })
    this.#session = session
    this.#connection = connection
    this.#connectedMs = Infinity
  }

  /** A delta, or everything when that is due. */
  #ask(): void {
    clearTimeout(this.#timer)
    this.#session?.ask({ full: performance.now() - this.#lastSetMs >= this.#limits.fullResetMs })
  }

  #expectAnswer(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#deadline)
    const { answerTimeoutMs, answerTotalMs } = this.#limits
    this.#connection?.expectWithin(answerTimeoutMs)
    this.#deadline = setTimeout(
      () => this.#failed(new Error(`no whole answer within ${answerTotalMs} ms`)),
      answerTotalMs,
    )
  }

  /** The cache owes nothing now. */
  #rest(nextAskMs: number): void {
    if (this.#session?.isWaiting) return
    clearTimeout(this.#deadline)
    this.#connection?.expectWithin(undefined)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#ask(), nextAskMs)
  }

  #take(outcome: RtrOutcome): void {
    switch (outcome.kind) {
      case 'set':
      case 'delta':
        return this.#keep(outcome)
      case 'no_data':
        this.#note('it has no data yet')
        return this.#rest(this.#limits.lastRetryMs)
      case 'other_version':
        this.#log.info({ version: outcome.version }, 'the cache speaks an older version of RTR only')
        this.#version = outcome.version
        this.#hangUp()
        return this.#connect()
      case 'ended':
        // Thrown to the connection, which ends by it; an Error Report is not answered.
        throw new RtrError(
          outcome.code,
          `it reported error ${outcome.code}: ${outcome.text}`,
          undefined,
          false,
        )
    }
  }

  #keep(outcome: Extract<RtrOutcome, { kind: 'set' | 'delta' }>): void {
    this.#intervals = intervalsWithin(outcome.intervals)
    const isRepeat = isSame(this.#position, outcome.position)
    this.#position = outcome.position
    const confirmed = this.#confirmedNow()
    if (this.#problem !== null) this.#log.info({ version: outcome.position.version }, 'the RTR cache answers')
    this.#problem = null
    if (outcome.kind === 'set') {
      this.#lastSetMs = performance.now()
      void this.#replace(outcome.table, confirmed, isRepeat)
    } else if (!this.#held.apply(outcome.withdrawn, outcome.announced, confirmed)) {
      this.#log.warn(
        { withdrawn: outcome.withdrawn.length },
        'the delta would take too many VRPs away: the complete set is requested',
      )
      this.#hangUp()
      return this.#connect()
    }
    const { refreshMsMax, fullResetMs } = this.#limits
    const untilResetMs = this.#lastSetMs + fullResetMs - performance.now()
    const untilUsedMs = this.#held.asideForMs ?? Infinity
    this.#rest(Math.max(0, Math.min(this.#intervals.refresh * 1000, refreshMsMax, untilResetMs, untilUsedMs)))
  }

  async #replace(
    table: Parameters<HeldVrps['replace']>[0],
    confirmed: Confirmed,
    isRepeat: boolean,
  ): Promise<void> {
    const touched = await this.#held.replace(table, confirmed)
    if (isRepeat && touched.length > 0)
      this.#log.warn(
        { prefixes: touched.length },
        'the cache has other VRPs than its deltas came to; corrected',
      )
  }

  #confirmedNow(): Confirmed {
    const asOf = this.#options.now()
    const goodMs = Math.min(this.#intervals.expire * 1000, this.#limits.expireMsMax)
    return { asOf, expires: new Date(asOf.getTime() + goodMs) }
  }

  /** Hangs up, with a word to the cache where it broke the protocol, and tries again later. */
  #failed(reason: Error): void {
    const report =
      reason instanceof RtrError && reason.answerable
        ? encodeErrorReport(this.#session?.version ?? 1, reason)
        : undefined
    this.#version = this.#wasHungUpOn(reason) && this.#version === 1 ? 0 : 1
    this.#hangUp(report)
    this.#note(reason.message)
    if (performance.now() - this.#connectedMs > this.#limits.lastRetryMs) this.#failures = 0
    const retryMs = this.#retryMs()
    this.#failures++
    if (this.#running) this.#timer = setTimeout(() => this.#connect(), retryMs)
  }

  /** Some old caches end the connection without a word when the version is new to them. */
  #wasHungUpOn(reason: Error): boolean {
    return (
      this.#connectedMs !== Infinity && (this.#session?.wasSilent ?? false) && !(reason instanceof RtrError)
    )
  }

  /** Doubled from failure to failure, and for half of it by chance, so that routers do not come back all at once. */
  #retryMs(): number {
    const { firstRetryMs, lastRetryMs, random } = this.#limits
    const wholeMs = Math.min(
      lastRetryMs,
      this.#intervals.retry * 1000,
      firstRetryMs * 2 ** Math.min(this.#failures, 20),
    )
    return wholeMs * (0.5 + random() / 2)
  }

  #hangUp(lastWords?: Uint8Array): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#deadline)
    this.#connection?.close(lastWords)
    this.#connection = undefined
    this.#session = undefined
  }

  /** Logged once for a row of the same failures. */
  #note(problem: string): void {
    if (problem === this.#problem) return
    this.#problem = problem
    const { confirmed } = this.#held
    this.#log.warn({ asOf: confirmed?.asOf, expires: confirmed?.expires }, `RTR cache: ${problem}`)
  }
}

function isSame(a: RtrPosition | undefined, b: RtrPosition): boolean {
  return a !== undefined && a.version === b.version && a.session === b.session && a.serial === b.serial
}
