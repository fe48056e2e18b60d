// Visibility from JSON documents that are read at intervals: one file, all files of a folder, or one document over HTTP. Each is an
// alert of BGPalerter or a table of routes, or a list of these, also one per line.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  FollowedPrefix,
  RouteUpdate,
  VisibilitySink,
  VisibilitySource,
  VisibilitySourceStatus,
} from '../../byoip/visibility/visibility-source.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Log } from '../../runtime/log.ts'
import { isBgpState, parseBgpState, routesIn, type BgpState } from '../collectors/bgp-state.ts'
import { fetchExport, type Fetched, type Tag } from '../vrp-json/fetch.ts'
import { addressField, fieldsOf, listField, pathOf, prefixField, timeField } from '../collectors/fields.ts'

export type CollectorFileAddress = {
  readonly name: string
  readonly location:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'http'; readonly url: URL }
}

export type CollectorFileOptions = CollectorFileAddress & {
  readonly log: Log
  readonly now: () => Date
  readonly limits?: Partial<CollectorFileLimits>
}

export type CollectorFileLimits = {
  readonly pollMs: number
  readonly timeoutMs: number
  /** Limit per document. */
  readonly octetsMax: number
  /** Files of a folder that are read; the newest ones. */
  readonly filesMax: number
  /** Data older than this are not used. */
  readonly ageMsMax: number
  /** Time for which an alert counts: BGPalerter does not report that a hijack has ended. */
  readonly alertMs: number
  /** Updates of alerts that are kept. */
  readonly updatesMax: number
}

const defaults = {
  timeoutMs: 60_000,
  octetsMax: 64 * 1024 * 1024,
  filesMax: 1_000,
  ageMsMax: 3_600_000,
  alertMs: 86_400_000,
  updatesMax: 100_000,
}
const pollMs = { file: 5_000, http: 60_000 }

/** Inert until it is started. */
export function createCollectorFileSource(options: CollectorFileOptions): VisibilitySource {
  return new CollectorFileSource(options)
}

type Place = CollectorFileAddress['location']

/** A document that was found, and its time if it is a file. */
type Found = { readonly place: Place; readonly key: string; readonly modified: Date | null }

class CollectorFileSource implements VisibilitySource {
  readonly name: string
  readonly label = 'BGP monitoring of the provider'
  readonly #options: CollectorFileOptions
  readonly #limits: CollectorFileLimits
  readonly #log: Log
  readonly #tags = new Map<string, Tag>()
  /** The problem of a document, which is not parsed again until it changes. */
  readonly #bad = new Map<string, Error>()
  /** Documents with a table, which has its own time; the others are as old as their file. */
  readonly #tables = new Set<string>()
  #sink: VisibilitySink | undefined
  #abort: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> = Promise.resolve()
  #wanted = new Set<Prefix>()
  #state: BgpState | undefined
  #alerts: readonly RouteUpdate[] = []
  #asOf: Date | null = null
  #problem: string | null = 'not read yet'

  constructor(options: CollectorFileOptions) {
    this.name = options.name
    this.#options = options
    this.#limits = { ...defaults, pollMs: pollMs[options.location.kind], ...options.limits }
    this.#log = options.log.child({ source: options.name })
  }

  connect(sink: VisibilitySink): void {
    this.#sink = sink
  }

  start(): void {
    if (this.#abort) return
    this.#abort = new AbortController()
    this.#polling = this.#poll(this.#abort.signal)
  }

  async stop(): Promise<void> {
    this.#abort?.abort()
    this.#abort = undefined
    clearTimeout(this.#timer)
    await this.#polling
    this.#tags.clear()
    this.#bad.clear()
    this.#tables.clear()
    this.#state = undefined
    this.#alerts = []
    this.#asOf = null
    this.#problem = 'not read yet'
  }

  follow(prefixes: readonly FollowedPrefix[]): void {
    const before = this.#wanted
    this.#wanted = new Set(prefixes.map(({ prefix }) => prefix))
    const isNew = prefixes.some(({ prefix }) => !before.has(prefix))
    if (!isNew || !this.#abort) return
    this.#reportTable((prefix) => !before.has(prefix))
    for (const update of this.#alerts) this.#sink?.update(update)
  }

  status(): VisibilitySourceStatus {
    const asOf = this.#asOf
    const isFresh = asOf !== null && this.#options.now().getTime() - asOf.getTime() <= this.#limits.ageMsMax
    if (isFresh) return { state: 'current', asOf, problem: null }
    return { state: 'unavailable', asOf, problem: this.#problem ?? 'the data are too old' }
  }

  #isOld(at: Date): boolean {
    return this.#options.now().getTime() - at.getTime() > this.#limits.ageMsMax
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      await this.#read(signal)
      this.#problem = null
    } catch (error) {
      if (!signal.aborted) this.#reportProblem((error as Error).message)
    }
    if (signal.aborted) return
    this.#expireTable()
    this.#expireAlerts()
    this.#timer = setTimeout(() => (this.#polling = this.#poll(signal)), this.#limits.pollMs)
  }

  /** A document that is not valid does not prevent reading the others. */
  async #read(signal: AbortSignal): Promise<void> {
    const found = await this.#find()
    const problems: string[] = []
    for (const { place, key, modified } of found) {
      if (signal.aborted) return
      try {
        const tag = this.#tags.get(key)
        const fetched = await fetchExport(place, tag, { ...this.#limits, signal })
        if (fetched) this.#useText(key, fetched)
        const bad = this.#bad.get(key)
        if (bad) throw bad
        if (modified && !this.#tables.has(key)) this.#noteTime(modified)
      } catch (error) {
        problems.push(`${key}: ${(error as Error).message}`)
      }
    }
    for (const key of this.#tags.keys()) if (!found.some((one) => one.key === key)) this.#tags.delete(key)
    if (problems.length > 0) throw new Error(problems.slice(0, 3).join('; '))
  }

  #useText(key: string, { text, tag }: Fetched): void {
    this.#tags.set(key, tag)
    this.#bad.delete(key)
    try {
      const documents = documentsOf(text)
      if (documents.some(isBgpState)) this.#tables.add(key)
      else this.#tables.delete(key)
      this.#use(documents)
    } catch (error) {
      this.#bad.set(key, error as Error)
    }
  }

  async #find(): Promise<Found[]> {
    const { location } = this.#options
    if (location.kind === 'http') return [{ place: location, key: this.name, modified: null }]
    const { path } = location
    const { mtime, isFolder } = await timeOfFile(path)
    if (!isFolder) return [{ place: location, key: path, modified: mtime }]
    const names = (await readdir(path)).filter((name) => name.endsWith('.json'))
    const files: (Found & { readonly modified: Date })[] = []
    for (const name of names) {
      const file = join(path, name)
      const times = await timeOfFile(file).catch(() => undefined)
      if (times && !times.isFolder)
        files.push({ place: { kind: 'file', path: file }, key: name, modified: times.mtime })
    }
    const newest = files.toSorted((a, b) => b.modified.getTime() - a.modified.getTime())
    // Oldest first: a later document replaces an earlier one.
    return newest.slice(0, this.#limits.filesMax).reverse()
  }

  #use(documents: readonly unknown[]): void {
    const now = this.#options.now()
    for (const document of documents) {
      if (isBgpState(document)) {
        const state = parseBgpState(document)
        if (this.#state && state.at < this.#state.at) continue
        this.#state = state
        this.#noteTime(state.at)
        this.#reportTable(() => true)
      } else if (isAlert(document)) {
        const since = now.getTime() - this.#limits.alertMs
        const updates = updatesOfAlert(document, now).filter(({ at }) => at.getTime() >= since)
        this.#alerts = [...this.#alerts, ...updates].slice(-this.#limits.updatesMax)
        for (const update of updates) this.#sink?.update(update)
      } else throw new TypeError('neither an alert of BGPalerter nor a table of routes')
    }
  }

  /** Reports the routes of the followed prefixes, and of the other prefixes of the document, from which the collectors are known. */
  #reportTable(isWanted: (prefix: Prefix) => boolean): void {
    const state = this.#state
    if (!state) return
    for (const prefix of new Set([...this.#wanted, ...state.routes.keys()])) {
      const routes = isWanted(prefix) ? routesIn(state, prefix) : undefined
      if (!routes) continue
      const isOther = !this.#wanted.has(prefix)
      if (isOther)
        for (const { collector, path } of routes)
          this.#sink?.update({ prefix, collector, path, at: state.at })
      else this.#sink?.table(prefix, routes, state.at)
    }
  }

  /** Alerts keep the source current: an old table must not be shown because of them. */
  #expireTable(): void {
    if (!this.#state || !this.#isOld(this.#state.at)) return
    this.#state = undefined
    this.#sink?.gap()
    for (const update of this.#alerts) this.#sink?.update(update)
  }

  /** An announcement is withdrawn if its alert is not repeated. */
  #expireAlerts(): void {
    const untilMs = this.#options.now().getTime() - this.#limits.alertMs
    const expired = this.#alerts.filter(({ at }) => at.getTime() < untilMs)
    if (expired.length === 0) return
    this.#alerts = this.#alerts.filter(({ at }) => at.getTime() >= untilMs)
    for (const { prefix, collector, path, at } of expired)
      if (path !== null) this.#sink?.update({ prefix, collector, path: null, at })
  }

  #noteTime(time: Date): void {
    const at = new Date(Math.min(time.getTime(), this.#options.now().getTime()))
    if (this.#asOf === null || at > this.#asOf) this.#asOf = at
  }

  /** Logged once for consecutive equal failures. */
  #reportProblem(problem: string): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.#log.warn({ asOf: this.#asOf }, `visibility: ${problem}; the last valid data are used`)
  }
}

async function timeOfFile(path: string): Promise<{ mtime: Date; isFolder: boolean }> {
  const found = await stat(path)
  return { mtime: found.mtime, isFolder: found.isDirectory() }
}

/** Returns the documents of a text: one, a list, or one per line. Throws a SyntaxError. */
export function documentsOf(text: string): readonly unknown[] {
  try {
    const document: unknown = JSON.parse(text)
    return Array.isArray(document) ? document : [document]
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length < 2) throw error
    return lines.map((line) => JSON.parse(line) as unknown)
  }
}

/**
 * Whether the document is an alert of BGPalerter, valid or not, as its `reportFile` writes it with `persistAlertData: true`
 * (https://github.com/nttgin/BGPalerter/blob/main/docs/reports.md): `data` lists the BGP messages that caused the alert, each in
 * `matchedMessage` with `type` (announcement or withdrawal), `prefix`, `peer`, `path` and `timestamp` in milliseconds.
 */
const isAlert = (document: unknown): boolean => Array.isArray(fieldsOf(document)?.['data'])

/** Returns the valid BGP messages of an alert. */
export function updatesOfAlert(document: unknown, now: Date): RouteUpdate[] {
  return listField(fieldsOf(document)?.['data']).flatMap((entry) => {
    const message = fieldsOf(fieldsOf(entry)?.['matchedMessage'])
    const update = message && updateOf(message, now)
    return update ? [update] : []
  })
}

/** Only an announcement has an origin, in `originAS` as a list of one or several (AS_SET). */
function updateOf(message: Readonly<Record<string, unknown>>, now: Date): RouteUpdate | undefined {
  const prefix = prefixField(message['prefix'])
  const collector = addressField(message['peer'])
  if (!prefix || collector === undefined) return undefined
  const at = timeField(message['timestamp'], now)
  if (message['type'] === 'withdrawal') return { prefix, collector, path: null, at }
  if (message['type'] !== 'announcement') return undefined
  const path = pathOf(message['path']) ?? pathOf(message['originAS'])
  return path && { prefix, collector, path, at }
}
