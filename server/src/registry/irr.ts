// The view of the Internet Routing Registries: queries several sources in order, caches their answers, and returns one verdict. A
// missing answer never counts as valid. It must not know announcements or the database.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop, type Loop, type LoopOptions } from '../runtime/loop.ts'
import { findAsSetMember } from './as-set.ts'
import { IrrReader, IrrUnavailable, type IrrAnswer, type IrrSourceStatus } from './irr-reader.ts'
import type { IrrSource } from './irr-source.ts'
import { isRegional } from './objects/regional-registries.ts'
import {
  ageOf,
  judgeRoutes,
  unavailable,
  validByMember,
  type IrrVerdict,
  type SourceRoutes,
} from './irr-verdict.ts'

export type IrrQuery = {
  /** The name of an as-set whose members may hold the object instead of the origin ASN. */
  readonly asSet?: string | undefined
  /** Answers that are older are fetched again; 0 for a user who waits for a change just made. */
  readonly maxAgeSeconds?: number | undefined
  /** Ends the wait of this caller. The query continues for others that wait for the same answer. */
  readonly signal?: AbortSignal | undefined
}

/**
 * `found` in the first source, in order, that has the object of a regional registry, otherwise in the first source with
 * another object; an earlier source that is down makes it `unavailable`.
 */
export type AutNumAnswer =
  | { readonly state: 'found'; readonly text: string; readonly source: string; readonly fetched: Date }
  | { readonly state: 'missing'; readonly fetched: Date }
  | { readonly state: 'unavailable'; readonly reason: string }

export interface Irr extends Component {
  /** Rejects only if the signal of the query is aborted, never because a source failed. */
  judge(prefix: Prefix, originAsn: Asn, query?: IrrQuery): Promise<IrrVerdict>
  autNum(asn: Asn, query?: Omit<IrrQuery, 'asSet'>): Promise<AutNumAnswer>
  /**
   * Calls `onChange` when verdicts may have changed: the data of a source changed, or a source is available again. Returns the
   * function that unsubscribes. Only while started.
   */
  watch(onChange: () => void): () => void
  status(): readonly IrrSourceStatus[]
}

export type IrrOptions = {
  /** In the order in which they are queried. Closed by `stop`. */
  readonly sources: readonly IrrSource[]
  readonly log: Log
  readonly metrics: LoopOptions['metrics']
  readonly now?: () => Date
  /** From 0 to below 1, for the jitter of the back-off. */
  readonly random?: () => number
  /** Time for which an answer is used if the source does not report a change. */
  readonly cacheSeconds?: number
  /** How long an answer is used while the source is down; the verdict has its age. */
  readonly staleMaxSeconds?: number
  /** Interval of polls of each source for changes. */
  readonly pollSeconds?: number
  /** How long a source that lost all objects must stay empty before it is used. */
  readonly confirmSeconds?: number
  /** Sets to search for a member of an as-set, at most. */
  readonly asSetsMax?: number
}

const byDefault = {
  now: () => new Date(),
  random: Math.random,
  cacheSeconds: 300,
  staleMaxSeconds: 21_600,
  pollSeconds: 5,
  confirmSeconds: 3_600,
  asSetsMax: 1_000,
}

const asSetDepthMax = 10
const cacheWeightMax = 500_000

/** Creates the view. It answers before it is started, too; without sources every answer is `unavailable`. */
export function createIrr(options: IrrOptions): Irr {
  return new Registries({ ...byDefault, ...options })
}

type Ages = { readonly maxAgeMs: number; readonly signal: AbortSignal | undefined }
/** The answers, and the reasons of the sources that did not answer. */
type Answers = {
  readonly routes: SourceRoutes[]
  readonly down: string[]
}

class Registries implements Irr {
  readonly name = 'irr'
  readonly #options: IrrOptions & typeof byDefault
  readonly #readers: readonly IrrReader[]
  readonly #watchers = new Set<() => void>()
  readonly #loop: Loop
  /** The last state logged for each source. */
  readonly #logged = new Map<string, string>()

  constructor(options: IrrOptions & typeof byDefault) {
    this.#options = options
    const { now, random, cacheSeconds, staleMaxSeconds, pollSeconds, confirmSeconds, log, metrics } = options
    const reading = {
      now,
      random,
      cacheMs: cacheSeconds * 1_000,
      staleMaxMs: staleMaxSeconds * 1_000,
      cacheWeightMax,
      confirmMs: confirmSeconds * 1_000,
    }
    this.#readers = options.sources.map(
      (source) => new IrrReader(source, { ...reading, onRecovered: () => this.#notify() }),
    )
    const run = (signal: AbortSignal): Promise<void> => this.#poll(signal)
    this.#loop = createLoop({
      name: 'irr',
      intervalMs: pollSeconds * 1_000,
      sends: 'nothing',
      run,
      log,
      metrics,
    })
  }

  start(): void {
    if (this.#readers.length > 0) this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await Promise.all(this.#readers.map((reader) => reader.close()))
  }

  watch(onChange: () => void): () => void {
    const watcher = (): void => onChange()
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  status(): readonly IrrSourceStatus[] {
    return this.#readers.map((reader) => reader.status())
  }

  async judge(prefix: Prefix, originAsn: Asn, query: IrrQuery = {}): Promise<IrrVerdict> {
    const ages = agesOf(query)
    const { routes, down } = await this.#readRoutes(prefix, originAsn, ages)
    const all = routes.flatMap(({ answer }) => answer.value)
    const { state, objects } = judgeRoutes(prefix, new Set([originAsn]), all)
    if (state === 'valid') {
      const [holder] = routes.slice(-1)
      return { state, objects, source: holder!.source, ...ageOf([holder!.answer]) }
    }
    const byMember =
      state === 'mismatch_asn' && query.asSet !== undefined
        ? await this.#judgeMembers(prefix, query.asSet, { routes, down }, ages)
        : undefined
    if (byMember && typeof byMember !== 'string') return byMember
    if (down.length > 0) return unavailable([...new Set(down)].join('; '))
    if (routes.length === 0) return unavailable(noSource)
    const source = routes.length === 1 ? routes[0]!.source : null
    const age = ageOf(routes.map(({ answer }) => answer))
    return { state, objects, source, ...age, ...(byMember === undefined ? {} : { reason: byMember }) }
  }

  async autNum(asn: Asn, query: Omit<IrrQuery, 'asSet'> = {}): Promise<AutNumAnswer> {
    const answers: IrrAnswer<unknown>[] = []
    let other: AutNumAnswer | undefined
    for (const reader of this.#readers) {
      const answer = await unlessUnavailable(reader.autNum(asn, agesOf(query)))
      if (answer instanceof IrrUnavailable) return { state: 'unavailable', reason: answer.message }
      const { value, fetched } = answer
      if (value !== undefined) {
        const found = { state: 'found', text: value.text, source: reader.name, fetched } as const
        if (isRegional(value.source)) return found
        other ??= found
      }
      answers.push(answer)
    }
    if (other) return other
    const { fetched } = ageOf(answers)
    return fetched ? { state: 'missing', fetched } : { state: 'unavailable', reason: noSource }
  }

  /** Queries the sources in order until one has a valid object, which is then the last answer. */
  async #readRoutes(prefix: Prefix, originAsn: Asn, ages: Ages): Promise<Answers> {
    const answers: Answers = { routes: [], down: [] }
    for (const reader of this.#readers) {
      const answer = await unlessUnavailable(reader.routeObjects(prefix, ages))
      if (answer instanceof IrrUnavailable) {
        answers.down.push(answer.message)
        continue
      }
      answers.routes.push({ source: reader.label, answer })
      if (judgeRoutes(prefix, new Set([originAsn]), answer.value).state === 'valid') break
    }
    return answers
  }

  /** Returns the verdict if a member of the as-set has the object; otherwise the reason, if any. */
  async #judgeMembers(prefix: Prefix, asSet: string, { routes, down }: Answers, ages: Ages) {
    const exact = routes.flatMap(({ answer }) => answer.value).filter((route) => route.prefix === prefix)
    const sets: IrrAnswer<unknown>[] = []
    const membersOf = (name: string) => this.#readMembers(name, sets, ages)
    const limits = { depthMax: asSetDepthMax, setsMax: this.#options.asSetsMax }
    const origins = new Set(exact.map(({ origin }) => origin))
    const finding = await unlessUnavailable(findAsSetMember(asSet, origins, membersOf, limits))
    if (finding instanceof IrrUnavailable) {
      down.push(finding.message)
      return undefined
    }
    return finding.found ? validByMember(prefix, finding, routes, sets) : finding.reason
  }

  /**
   * The first source that has the set defines it, like `!s` of IRRd: a set of the same name in a later registry may belong to
   * anyone. A source that is down could have it, so the search ends there.
   */
  async #readMembers(name: string, used: IrrAnswer<unknown>[], ages: Ages) {
    for (const reader of this.#readers) {
      const answer = await reader.asSetMembers(name, ages)
      used.push(answer)
      if (answer.value) return answer.value
    }
    return undefined
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const changes = await Promise.all(this.#readers.map((reader) => reader.poll(signal)))
    for (const reader of this.#readers) this.#report(reader.status())
    if (changes.includes(true)) this.#notify()
  }

  /** Logs each state and each list of problems once. */
  #report({ name, state, error, problems }: IrrSourceStatus): void {
    const text = JSON.stringify([state, problems])
    if (text === (this.#logged.get(name) ?? JSON.stringify(['up', []]))) return
    this.#logged.set(name, text)
    const { log } = this.#options
    if (state === 'down') log.warn({ source: name, reason: error }, 'IRR source does not answer')
    else if (state === 'suspicious')
      log.warn(
        { source: name, problems },
        'IRR source is empty or lost too many objects: not used until confirmed',
      )
    else if (problems.length > 0) log.warn({ source: name, problems }, 'IRR source has problems')
    else log.info({ source: name }, 'IRR source answers')
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

const noSource = 'no IRR source is configured'

function agesOf({ maxAgeSeconds = Infinity, signal }: Omit<IrrQuery, 'asSet'>): Ages {
  return { maxAgeMs: maxAgeSeconds * 1_000, signal }
}

async function unlessUnavailable<T>(answer: Promise<T>): Promise<T | IrrUnavailable> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof IrrUnavailable) return error
    throw error
  }
}
