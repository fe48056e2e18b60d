// The routes that one source has reported, in memory: the last state of each collector for each followed prefix. Bounded in the
// number of routes; it keeps no history.
import type { Prefix } from '../../net/prefix.ts'
import { createPrefixMap, type PrefixMap } from '../../net/prefix-map.ts'
import type { AsPath, CollectorRoute, RouteUpdate, VisibilitySink } from './visibility-source.ts'
import type { RouterChange, SeenState } from './visibility.ts'

export type CollectorViewLimits = {
  /** Stored states of all prefixes together; 111 bytes each. */
  readonly routesMax: number
  /** Prefixes inside one announced prefix whose routes are stored. */
  readonly moreSpecificsMax: number
  /** Collectors whose existence is stored. */
  readonly collectorsMax: number
}

const defaults: CollectorViewLimits = { routesMax: 2_000_000, moreSpecificsMax: 50, collectorsMax: 20_000 }

export type CollectorViewOptions = Partial<CollectorViewLimits> & {
  /** Our ASN, which the paths of our routes contain; null if it is not known. */
  readonly ourAsn: number | null
}

type Routes = Map<string, SeenState>

/** The known routes of one announced prefix. `isComplete`: the state of every collector is known. */
type Followed = {
  readonly routes: Routes
  readonly moreSpecifics: Map<Prefix, Routes>
  /** Time from which no change was missed; undefined if it is not followed yet. */
  sinceMs: number | undefined
  isComplete: boolean
  isTruncated: boolean
  /** Changes with each change, so that summaries are computed only if something changed. */
  version: number
}

export class CollectorView implements VisibilitySink {
  readonly #limits: CollectorViewLimits
  readonly #ourAsn: number | null
  readonly #followed = new Map<Prefix, Followed>()
  #covering: PrefixMap<Followed> = createPrefixMap([])
  readonly #collectors = { 4: new Set<string>(), 6: new Set<string>() }
  #size = 0
  #versions = 0

  constructor({ ourAsn, ...limits }: CollectorViewOptions) {
    this.#ourAsn = ourAsn
    this.#limits = { ...defaults, ...limits }
  }

  /** Stored states of all prefixes together. */
  get size(): number {
    return this.#size
  }

  /** Replaces the followed prefixes; routes of remaining prefixes stay. */
  setPrefixes(prefixes: readonly Prefix[]): void {
    const wanted = new Set(prefixes)
    if (wanted.size === this.#followed.size && prefixes.every((prefix) => this.#followed.has(prefix))) return
    for (const prefix of this.#followed.keys()) if (!wanted.has(prefix)) this.#drop(prefix)
    for (const prefix of wanted) {
      if (!this.#followed.has(prefix)) this.#add(prefix)
      // The prefix was inside another announced prefix until now.
      for (const outer of this.#covering.covering(prefix)) this.#forget(outer, prefix)
    }
    this.#covering = createPrefixMap(this.#followed)
  }

  followed(prefix: Prefix, since: Date): void {
    const followed = this.#followed.get(prefix)
    if (followed) followed.sinceMs ??= since.getTime()
  }

  table(prefix: Prefix, routes: readonly CollectorRoute[], at: Date): void {
    for (const { collector } of routes) this.#addCollector(prefix, collector)
    const followed = this.#followed.get(prefix)
    if (!followed) return
    const present = new Set(routes.map(({ collector }) => collector))
    const atMs = at.getTime()
    for (const { collector, path } of routes) this.#set(followed, followed.routes, collector, path, atMs)
    for (const collector of followed.routes.keys())
      if (!present.has(collector)) this.#set(followed, followed.routes, collector, null, atMs)
    followed.isComplete = true
    this.#touch(followed)
  }

  update({ prefix, collector, path, at }: RouteUpdate): void {
    this.#addCollector(prefix, collector)
    const followed = this.#followed.get(prefix)
    if (followed) return this.#set(followed, followed.routes, collector, path, at.getTime())
    const [outer] = this.#covering.covering(prefix)
    if (outer) this.#setMoreSpecific(outer, prefix, collector, path, at.getTime())
  }

  collectorDown(collector: string): void {
    this.#collectors[4].delete(collector)
    this.#collectors[6].delete(collector)
    for (const followed of this.#followed.values()) {
      this.#remove(followed, followed.routes, collector)
      for (const [inner, routes] of followed.moreSpecifics)
        if (this.#remove(followed, routes, collector) && isGone(routes)) this.#forget(followed, inner)
    }
  }

  #remove(followed: Followed, routes: Routes, collector: string): boolean {
    if (!routes.delete(collector)) return false
    this.#size--
    this.#touch(followed)
    return true
  }

  gap(): void {
    const prefixes = [...this.#followed.keys()]
    for (const prefix of prefixes) {
      this.#drop(prefix)
      this.#add(prefix)
    }
    this.#covering = createPrefixMap(this.#followed)
  }

  /**
   * Notes a change on our routers. If the prefix was followed when it was first announced, every collector that has it since then
   * has reported it, so that the view is complete.
   */
  noteChange(prefix: Prefix, { kind, at }: RouterChange): void {
    const followed = this.#followed.get(prefix)
    if (!followed || followed.isComplete || kind !== 'announced') return
    if (followed.sinceMs === undefined || followed.sinceMs > at.getTime()) return
    followed.isComplete = true
    this.#touch(followed)
  }

  /** Returns the number of known collectors of the family. */
  collectors(family: 4 | 6): number {
    return this.#collectors[family].size
  }

  /** Returns a number that differs after each change of the prefix. */
  versionOf(prefix: Prefix): number {
    return this.#followed.get(prefix)?.version ?? -1
  }

  /** Returns everything that is known of a followed prefix. `sinceMs`: since when no change was missed. */
  read(prefix: Prefix) {
    const { routes, moreSpecifics, sinceMs, isComplete, isTruncated } =
      this.#followed.get(prefix) ?? newFollowed()
    return {
      states: [...routes.values()],
      moreSpecifics: [...moreSpecifics].map(([inner, ofInner]) => ({
        prefix: inner,
        states: [...ofInner.values()],
      })),
      sinceMs,
      isComplete,
      isTruncated,
    }
  }

  #addCollector(prefix: Prefix, collector: string): void {
    const known = this.#collectors[prefix.includes(':') ? 6 : 4]
    if (known.size < this.#limits.collectorsMax) known.add(collector)
  }

  #setMoreSpecific(
    outer: Followed,
    prefix: Prefix,
    collector: string,
    path: AsPath | null,
    atMs: number,
  ): void {
    let routes = outer.moreSpecifics.get(prefix)
    if (!routes) {
      if (path === null) return
      if (outer.moreSpecifics.size >= this.#limits.moreSpecificsMax) return this.#truncate(outer)
      outer.moreSpecifics.set(prefix, (routes = new Map()))
    }
    this.#set(outer, routes, collector, path, atMs)
    if (path === null && isGone(routes)) this.#forget(outer, prefix)
  }

  /** An older state than the stored one is ignored: a table is often older than the updates beside it. */
  #set(followed: Followed, routes: Routes, collector: string, path: AsPath | null, atMs: number): void {
    const origin = path?.at(-1) ?? 0
    const isOurs = path !== null && (this.#ourAsn === null || path.includes(this.#ourAsn))
    const before = routes.get(collector)
    if (before && before.atMs > atMs) return
    // Keeps the time of the first report of this origin: later paths of the same route do not change it.
    if (before?.origin === origin && before.isOurs === isOurs) return
    if (!before) {
      if (this.#size >= this.#limits.routesMax) return this.#truncate(followed)
      this.#size++
    }
    routes.set(collector, { origin, isOurs, atMs: before?.origin === origin ? before.atMs : atMs })
    this.#touch(followed)
  }

  #truncate(followed: Followed): void {
    if (followed.isTruncated) return
    followed.isTruncated = true
    this.#touch(followed)
  }

  #forget(outer: Followed, prefix: Prefix): void {
    const routes = outer.moreSpecifics.get(prefix)
    if (!routes) return
    this.#size -= routes.size
    outer.moreSpecifics.delete(prefix)
    this.#touch(outer)
  }

  /** A prefix that was cleared gets another version too. */
  #add(prefix: Prefix): void {
    const followed = newFollowed()
    this.#followed.set(prefix, followed)
    this.#touch(followed)
  }

  #touch(followed: Followed): void {
    followed.version = ++this.#versions
  }

  #drop(prefix: Prefix): void {
    const followed = this.#followed.get(prefix)
    if (!followed) return
    for (const inner of followed.moreSpecifics.keys()) this.#forget(followed, inner)
    this.#size -= followed.routes.size
    this.#followed.delete(prefix)
  }
}

/** Whether no collector has the prefix: its slot can be used for another prefix inside the announced one. */
const isGone = (routes: Routes): boolean => [...routes.values()].every(({ origin }) => origin === 0)

const newFollowed = (): Followed => ({
  routes: new Map(),
  moreSpecifics: new Map(),
  sinceMs: undefined,
  isComplete: false,
  isTruncated: false,
  version: 0,
})
