// Reads one IRR source for the verdicts: caches its answers, sends concurrent equal queries once, and backs off from a source that
// fails. It must not judge, and must not know other sources.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { IrrSource } from './irr-source.ts'
import { createAnswerCache, type CachedAnswer } from './irr-cache.ts'

export type IrrSourceStatus = {
  readonly name: string
  /** `unknown` before the first query; `suspicious` while it is empty or has lost many objects. */
  readonly state: 'unknown' | 'up' | 'down' | 'suspicious'
  readonly since: Date | null
  readonly lastAnswered: Date | null
  /** Why the source is not used; null if it is. */
  readonly error: string | null
  /** The time of the next query; null if it is not down. */
  readonly retryAt: Date | null
  readonly serial: string | null
  readonly problems: readonly string[]
}

export type IrrReaderOptions = {
  readonly now: () => Date
  /** From 0 to below 1, for the jitter. */
  readonly random: () => number
  /** Time for which an answer is used, unless the source's serial changes. */
  readonly cacheMs: number
  /** How long an answer of the same serial is used while the source is down. */
  readonly staleMaxMs: number
  /** About the number of objects in the cache. */
  readonly cacheWeightMax: number
  /** How long a source that lost all objects must stay empty before it is used. 0: without delay. */
  readonly confirmMs: number
  /** Called when the source is available again, because its data may have changed. */
  readonly onRecovered: () => void
}

/** `cached`: the answer came from the cache. */
export type IrrAnswer<T> = { readonly value: T; readonly fetched: Date; readonly cached: boolean }

/** The source has no answer. `message` is for customers and names the source by its label. */
export class IrrUnavailable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'IrrUnavailable'
  }
}

type Ages = { readonly maxAgeMs: number; readonly signal: AbortSignal | undefined }
type Query<T> = {
  readonly key: string
  readonly run: (signal: AbortSignal) => Promise<T>
  readonly weigh: (value: T) => number
}
type PendingQuery = {
  readonly sentMs: number
  readonly epoch: number
  readonly answer: Promise<CachedAnswer>
}

/** How many of the last queries that returned objects are repeated to detect whether a source lost its data. */
const witnessesMax = 20
/** If fewer lost their objects, it may be one team's change. */
const witnessesMin = 3
/** The share of the witnesses that must have objects again. */
const recoveredShare = 0.8

const lost = 'returns no objects any more'

const backoffFirstMs = 1_000
const backoffMaxMs = 60_000

/** Creates a reader of the source. Every call resolves with an IrrAnswer, or rejects with IrrUnavailable or the signal's reason. */
export class IrrReader {
  readonly name: string
  readonly label: string
  readonly #source: IrrSource
  readonly #options: IrrReaderOptions
  readonly #cache
  readonly #pending = new Map<string, PendingQuery>()
  readonly #closing = new AbortController()
  /** Incremented when the source's data changed; answers of earlier generations are not used. */
  #epoch = 0
  /** The last queries that returned objects, the latest last. */
  readonly #witnesses = new Map<string, Query<unknown>>()
  /** Monotonic; undefined unless the source lost the objects of all witnesses. */
  #emptySinceMs: number | undefined
  #checking: Promise<boolean> | undefined
  #serial: string | undefined
  #failures = 0
  #retryMs = -Infinity
  #error: string | undefined
  #since: Date | undefined
  #answered: Date | undefined

  constructor(source: IrrSource, options: IrrReaderOptions) {
    this.name = source.name
    this.label = source.label
    this.#source = source
    this.#options = options
    this.#cache = createAnswerCache(options.cacheWeightMax)
  }

  routeObjects(prefix: Prefix, ages: Ages) {
    const run = (signal: AbortSignal) => this.#source.routeObjects(prefix, signal)
    return this.#read({ key: prefix, run, weigh: (routes) => routes.length }, ages)
  }

  autNum(asn: Asn, ages: Ages) {
    const run = (signal: AbortSignal) => this.#source.autNum(asn, signal)
    return this.#read({ key: `AS${asn}`, run, weigh: (object) => (object?.text.length ?? 0) / 100 }, ages)
  }

  asSetMembers(name: string, ages: Ages) {
    const run = (signal: AbortSignal) => this.#source.asSetMembers(name, signal)
    const weigh = (set: Awaited<ReturnType<typeof run>>) =>
      set ? (set.asns.length + set.sets.length) / 10 : 0
    return this.#read({ key: name, run, weigh }, ages)
  }

  /** Queries the serial. Returns true if it changed, which makes cached answers stale. Skips a source that is down. */
  async poll(signal: AbortSignal): Promise<boolean> {
    if (this.#isBackingOff()) return false
    const startedMs = this.#nowMs()
    try {
      const serial = await this.#source.serial(AbortSignal.any([signal, this.#closing.signal]))
      if (this.#error !== undefined) await this.#repeatWitness()
      this.#succeed()
      const isOther = serial !== undefined && serial !== this.#serial
      // An empty database has another serial too: the cache stays valid.
      if ((isOther || this.#emptySinceMs !== undefined) && (await this.#isEmpty())) return false
      if (serial === undefined || serial === this.#serial) return false
      this.#serial = serial
      this.#epoch++
      return true
    } catch (error) {
      if (!signal.aborted) this.#fail(error, startedMs)
      return false
    }
  }

  status(): IrrSourceStatus {
    const isDown = this.#error !== undefined
    return {
      name: this.name,
      state: this.#isSuspicious() ? 'suspicious' : isDown ? 'down' : this.#answered ? 'up' : 'unknown',
      since: this.#since ?? null,
      lastAnswered: this.#answered ?? null,
      error: this.#error ?? (this.#emptySinceMs === undefined ? null : `${this.name} ${lost}`),
      retryAt: isDown ? new Date(this.#retryMs) : null,
      serial: this.#serial ?? null,
      problems: this.#source.problems(),
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new DriverError('unreachable', `${this.name}: closed`))
    await this.#source.close()
  }

  async #read<T>(query: Query<T>, ages: Ages): Promise<IrrAnswer<T>> {
    ages.signal?.throwIfAborted()
    const { cacheMs, staleMaxMs } = this.#options
    const cached = this.#cache.get(query.key)
    const isUsable = (ageMs: number) =>
      cached?.epoch === this.#epoch && this.#nowMs() - cached.fetchedMs < ageMs
    if (isUsable(Math.min(ages.maxAgeMs, cacheMs))) return answerOf<T>(cached!, true)
    try {
      return answerOf<T>(await untilAborted(this.#query(query, ages), ages.signal), false)
    } catch (error) {
      if (ages.signal?.aborted) throw error
      if (isUsable(Math.min(ages.maxAgeMs, staleMaxMs))) return answerOf<T>(cached!, true)
      throw error
    }
  }

  /** Shares a running query, unless it was sent too long ago. */
  #query<T>(query: Query<T>, { maxAgeMs }: Ages): Promise<CachedAnswer> {
    const pending = this.#pending.get(query.key)
    if (pending?.epoch === this.#epoch && this.#nowMs() - pending.sentMs < maxAgeMs) return pending.answer
    const answer = this.#querySource(query)
    const own = { sentMs: this.#nowMs(), epoch: this.#epoch, answer }
    this.#pending.set(query.key, own)
    const done = (): void => {
      if (this.#pending.get(query.key) === own) this.#pending.delete(query.key)
    }
    void answer.catch(() => {}).finally(done)
    return answer
  }

  #isSuspicious(): boolean {
    return this.#emptySinceMs !== undefined || this.#source.isSuspicious()
  }

  /** Throws IrrUnavailable if the answer is empty because the source lost its data. */
  async #checkLoss<T>(query: Query<T>, value: T): Promise<void> {
    const { key, weigh } = query
    if (weigh(value) > 0) return this.#addWitness(query)
    const wasWitness = this.#witnesses.has(key)
    if (this.#emptyForMs() < this.#options.confirmMs || (wasWitness && (await this.#isEmpty())))
      throw new IrrUnavailable(`${this.label} ${lost}; not used until confirmed`)
    this.#witnesses.delete(key)
  }

  /** The witnesses of a loss are kept until it ends. */
  #addWitness<T>(query: Query<T>): void {
    if (this.#emptySinceMs !== undefined) return
    this.#witnesses.delete(query.key)
    this.#witnesses.set(query.key, query as Query<unknown>)
    const [oldest] = this.#witnesses.keys()
    if (this.#witnesses.size > witnessesMax) this.#witnesses.delete(oldest!)
  }

  /** Whether all witnesses lost their objects, and the confirmation time has not passed. Concurrent callers share one check. */
  #isEmpty(): Promise<boolean> {
    this.#checking ??= this.#queryWitnesses().finally(() => (this.#checking = undefined))
    return this.#checking
  }

  async #queryWitnesses(): Promise<boolean> {
    const { confirmMs } = this.#options
    if (confirmMs === 0 || this.#witnesses.size < witnessesMin) return false
    const weights = (
      await Promise.all([...this.#witnesses.values()].map((witness) => this.#weighWitness(witness)))
    ).filter((weight) => weight !== undefined)
    const share = weights.filter((weight) => weight > 0).length / weights.length
    const wasEmpty = this.#emptySinceMs !== undefined
    const isTrusted =
      weights.length < witnessesMin ? !wasEmpty : wasEmpty ? share >= recoveredShare : share > 0
    if (isTrusted) return this.#trust()
    this.#emptySinceMs ??= performance.now()
    if (this.#emptyForMs() < confirmMs) return true
    this.#witnesses.clear()
    return this.#trust()
  }

  /** Returns undefined for a query that the source refuses now, such as that of an as-set that has grown too large. */
  async #weighWitness({ run, weigh }: Query<unknown>): Promise<number | undefined> {
    try {
      return weigh(await run(this.#closing.signal))
    } catch (error) {
      if (error instanceof DriverError && error.kind === 'refused') return undefined
      throw error
    }
  }

  /**
   * Repeats an answered query: a server may answer for its serials, and not for its objects. The failed query is not
   * repeated, because it may be the only failing one.
   */
  async #repeatWitness(): Promise<void> {
    const witness = [...this.#witnesses.values()].at(-1)
    if (witness) await this.#weighWitness(witness)
  }

  #trust(): false {
    if (this.#emptySinceMs !== undefined) {
      this.#emptySinceMs = undefined
      this.#options.onRecovered()
    }
    return false
  }

  #emptyForMs(): number {
    return this.#emptySinceMs === undefined ? Infinity : performance.now() - this.#emptySinceMs
  }

  async #querySource<T>(query: Query<T>): Promise<CachedAnswer> {
    const { key, run, weigh } = query
    if (this.#isBackingOff()) throw new IrrUnavailable(`${this.label} does not answer`)
    const [fetchedMs, epoch] = [this.#nowMs(), this.#epoch]
    try {
      const value = await run(this.#closing.signal)
      this.#succeed()
      await this.#checkLoss(query, value)
      const cached = { value, fetchedMs, epoch }
      this.#cache.set(key, cached, weigh(value))
      return cached
    } catch (error) {
      throw this.#fail(error, fetchedMs)
    }
  }

  #succeed(): void {
    const wasDown = this.#error !== undefined
    const now = this.#options.now()
    if (wasDown || !this.#answered) this.#since = now
    this.#answered = now
    this.#error = undefined
    this.#failures = 0
    this.#retryMs = -Infinity
    if (wasDown) this.#options.onRecovered()
  }

  /** Queries that fail together count as one failure. A refused query does not affect the others. */
  #fail(error: unknown, startedMs: number): IrrUnavailable {
    if (!(error instanceof DriverError)) throw error
    if (error.kind === 'refused') {
      this.#succeed()
      return new IrrUnavailable(`${this.label} rejects the query`)
    }
    if (!this.#closing.signal.aborted && startedMs >= this.#retryMs) {
      if (this.#error === undefined) this.#since = this.#options.now()
      const backoffMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** this.#failures++)
      this.#retryMs = this.#nowMs() + backoffMs * (0.5 + this.#options.random() / 2)
      this.#error = error.message
    }
    return new IrrUnavailable(`${this.label} does not answer`)
  }

  #isBackingOff(): boolean {
    return this.#nowMs() < this.#retryMs
  }

  #nowMs(): number {
    return this.#options.now().getTime()
  }
}

function answerOf<T>({ value, fetchedMs }: CachedAnswer, cached: boolean): IrrAnswer<T> {
  return { value: value as T, fetched: new Date(fetchedMs), cached }
}

async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([aborted.promise, answer])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
