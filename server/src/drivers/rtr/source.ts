// VRPs from an RTR cache: keeps a session open, applies its deltas, and requests the complete set at intervals, because caches
// are known to send wrong deltas. The VRPs stay current until the cache's expire interval has passed, regardless of the
// connection; after that they are not used.
import type {
  CurrentVrps,
  Suspicion,
  TouchedPrefixes,
  VrpSource,
  VrpSourceStatus,
} from '../../registry/vrp-source.ts'
import type { AnnouncedOrigins } from '../../registry/objects/announced-origins.ts'
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
  /** Timeout from a query to the first octet of the answer, and between any two chunks of it. */
  readonly answerTimeoutMs: number
  /** Timeout of a whole answer, for caches that send slowly. */
  readonly answerTotalMs: number
  readonly firstRetryMs: number
  readonly lastRetryMs: number
  /** Interval of requests of the complete set, in addition to deltas. */
  readonly fullResetMs: number
  /** Upper limit of the expire interval, whatever the cache sends. */
  readonly expireMsMax: number
  /** Upper limit of the refresh interval, whatever the cache sends. Notifications cause earlier queries. */
  readonly refreshMsMax: number
  readonly vrpsMax: number
  /** From 0 to 1, for the jitter of retries and for values that must be unpredictable. */
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
  /** Consecutive connections that failed or were short: each requests the complete set. */
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
    this.#disconnect()
    this.#held.stop()
  }

  current(): CurrentVrps | undefined {
    return this.#held.current()
  }

  suspicion(): Suspicion | undefined {
    return this.#held.suspicion()
  }

  setAnnounced(origins: AnnouncedOrigins): void {
    this.#held.setAnnounced(origins)
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
    const expired = state === 'unavailable' && confirmed ? 'the VRPs have expired' : null
    return {
      state,
      vrps: table?.size ?? 0,
      asOf: confirmed?.asOf ?? null,
      expires: confirmed?.expires ?? null,
      suspicious: this.#held.suspicion() !== undefined,
      problem: this.#problem ?? this.#held.describeSuspicion() ?? expired,
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
        this.#query()
      },
      onPdu: (decoded) => {
        const outcome = session.receive(decoded)
        if (outcome) this.#handle(outcome)
        if (session.isWaiting) connection.expectWithin(this.#limits.answerTimeoutMs)
      },
      onEnd: (reason) => this.#failed(reason),
    })
    this.#session = session
    this.#connection = connection
    this.#connectedMs = Infinity
  }

  /** Requests a delta, or the complete set if that is due. */
  #query(): void {
    clearTimeout(this.#timer)
    this.#session?.query({ full: performance.now() - this.#lastSetMs >= this.#limits.fullResetMs })
  }

  #expectAnswer(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#deadline)
    const { answerTimeoutMs, answerTotalMs } = this.#limits
    this.#connection?.expectWithin(answerTimeoutMs)
    this.#deadline = setTimeout(
      () => this.#failed(new Error(`no complete answer within ${answerTotalMs} ms`)),
      answerTotalMs,
    )
  }

  /** No answer is pending. */
  #scheduleQuery(nextQueryMs: number): void {
    if (this.#session?.isWaiting) return
    clearTimeout(this.#deadline)
    this.#connection?.expectWithin(undefined)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#query(), nextQueryMs)
  }

  #handle(outcome: RtrOutcome): void {
    switch (outcome.kind) {
      case 'set':
      case 'delta':
        return this.#apply(outcome)
      case 'no_data':
        this.#reportProblem('it has no data yet')
        return this.#scheduleQuery(this.#limits.lastRetryMs)
      case 'other_version':
        this.#log.info({ version: outcome.version }, 'RTR cache supports an older version only')
        this.#version = outcome.version
        this.#disconnect()
        return this.#connect()
      case 'ended':
        // Thrown to end the connection; an Error Report is not answered.
        throw new RtrError(
          outcome.code,
          `it reported error ${outcome.code}: ${outcome.text}`,
          undefined,
          false,
        )
    }
  }

  #apply(outcome: Extract<RtrOutcome, { kind: 'set' | 'delta' }>): void {
    this.#intervals = intervalsWithin(outcome.intervals)
    const isRepeat = isSame(this.#position, outcome.position)
    this.#position = outcome.position
    const confirmed = this.#confirmedNow()
    if (this.#problem !== null) this.#log.info({ version: outcome.position.version }, 'RTR cache answers')
    this.#problem = null
    if (outcome.kind === 'set') {
      this.#lastSetMs = performance.now()
      void this.#replace(outcome.table, confirmed, isRepeat)
    } else if (!this.#held.apply(outcome.withdrawn, outcome.announced, confirmed)) {
      this.#log.warn(
        { withdrawn: outcome.withdrawn.length },
        'RTR delta would remove too many VRPs: complete set requested',
      )
      this.#disconnect()
      return this.#connect()
    }
    const { refreshMsMax, fullResetMs } = this.#limits
    const untilResetMs = this.#lastSetMs + fullResetMs - performance.now()
    const untilUsedMs = this.#held.withheldForMs ?? Infinity
    this.#scheduleQuery(
      Math.max(0, Math.min(this.#intervals.refresh * 1000, refreshMsMax, untilResetMs, untilUsedMs)),
    )
  }

  async #replace(
    table: Parameters<HeldVrps['replace']>[0],
    confirmed: Confirmed,
    isRepeat: boolean,
  ): Promise<void> {
    const touched = await this.#held.replace(table, confirmed)
    if (isRepeat && touched.length > 0)
      this.#log.warn({ prefixes: touched.length }, 'VRPs of the RTR cache differ from its deltas; corrected')
  }

  #confirmedNow(): Confirmed {
    const asOf = this.#options.now()
    const validMs = Math.min(this.#intervals.expire * 1000, this.#limits.expireMsMax)
    return { asOf, expires: new Date(asOf.getTime() + validMs) }
  }

  /** Disconnects, with an Error Report after a protocol violation, and schedules a retry. */
  #failed(reason: Error): void {
    const report =
      reason instanceof RtrError && reason.answerable
        ? encodeErrorReport(this.#session?.version ?? 1, reason)
        : undefined
    this.#version = this.#wasClosedSilently(reason) && this.#version === 1 ? 0 : 1
    this.#disconnect(report)
    this.#reportProblem(reason.message)
    if (performance.now() - this.#connectedMs > this.#limits.lastRetryMs) this.#failures = 0
    const retryMs = this.#retryMs()
    this.#failures++
    if (this.#running) this.#timer = setTimeout(() => this.#connect(), retryMs)
  }

  /** Some old caches close the connection without an Error Report if they do not know the version. */
  #wasClosedSilently(reason: Error): boolean {
    return (
      this.#connectedMs !== Infinity && (this.#session?.wasSilent ?? false) && !(reason instanceof RtrError)
    )
  }

  /** Doubles with each failure; half of it is random, so that clients do not reconnect simultaneously. */
  #retryMs(): number {
    const { firstRetryMs, lastRetryMs, random } = this.#limits
    const backoffMs = Math.min(
      lastRetryMs,
      this.#intervals.retry * 1000,
      firstRetryMs * 2 ** Math.min(this.#failures, 20),
    )
    return backoffMs * (0.5 + random() / 2)
  }

  #disconnect(report?: Uint8Array): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#deadline)
    this.#connection?.close(report)
    this.#connection = undefined
    this.#session = undefined
  }

  /** Logged once for consecutive equal failures. */
  #reportProblem(problem: string): void {
    if (problem === this.#problem) return
    this.#problem = problem
    const { confirmed } = this.#held
    this.#log.warn({ asOf: confirmed?.asOf, expires: confirmed?.expires }, `RTR cache: ${problem}`)
  }
}

function isSame(a: RtrPosition | undefined, b: RtrPosition): boolean {
  return a !== undefined && a.version === b.version && a.session === b.session && a.serial === b.serial
}
