// The spool between the collector and the flow store: a batch is a file, and its name is the token of its insert, so
// that a file that is inserted again after a crash counts once. The spool is bounded: the oldest files are dropped, and
// counted.
//
// While many files wait they are merged into files of the size of a full batch. Every row is in exactly one insert,
// even after a kill:
// - a file has the suffix `.tried` from before its insert on, and such a file is never merged;
// - files that are merged are renamed first, which only one process can do: `<merged>.part.<name>`;
// - they are deleted once the merged file is complete under its name, and it is inserted after that. At the next start,
//   a part without its merged file becomes a file again, and a part with it is deleted.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DriverError } from '../runtime/driver-error.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import { mergeBlocks } from './merge-blocks.ts'

/** `openedMs`: when its first row was received; of a file of a former run, when it was written. */
export type SpoolFile = { readonly name: string; readonly bytes: number; readonly openedMs?: number }

export type SpoolOptions = {
  readonly dir: string
  readonly bytesMax: number
  readonly insert: (block: Uint8Array, token: string, signal: AbortSignal) => Promise<void>
  /** Format of the files; by default blocks of flows. */
  readonly format?: SpoolFormat
  readonly onInserted?: (file: SpoolFile, rows: number, ms: number) => void
  /** Rows that are lost: the spool was full, or the store does not accept the file. */
  readonly onLost?: (reason: 'spool_full' | 'refused', rows: number, file: SpoolFile, error?: unknown) => void
  /** The age from which on the files of an interrupted merge are taken: a live process may be merging younger ones. */
  readonly staleMs?: number
  /** Once for each change between working and not. */
  readonly onState?: (error: unknown) => void
}

export type SpoolFormat = {
  readonly suffix: string
  /** The number of rows in a file, from its first octets. */
  readonly rowsIn: (head: Uint8Array) => number
  /** One file with the rows of all; undefined if they do not fit together. Without it files are never merged. */
  readonly merge?: (files: readonly Uint8Array[]) => Uint8Array | undefined
}

export type Spool = {
  /** Waiting files, their size, and when the first row of the oldest one was received. */
  readonly waiting: { readonly files: number; readonly bytes: number; readonly sinceMs?: number }
  /** Takes a file that was written to the directory. */
  add(file: SpoolFile): void
  /** Creates the directory, or throws. Inserts the existing files, the oldest first, then new ones. */
  start(): void
  /** Resolves when the insert in progress has ended; waits up to `drainMs` for the others. */
  stop(drainMs: number): Promise<void>
  /** Resolves when no file waits; for tests. */
  drained(): Promise<void>
}

export const flowTable = 'flows'
const temporarySuffix = '.tmp'
const triedSuffix = '.tried'
const partMark = '.part.'
const blocks: SpoolFormat = { suffix: '.native', rowsIn: rowCountOf, merge: mergeBlocks }
/** Number of waiting files from which they are merged, and the maximum size of a merged file: a full batch. */
const mergedFrom = 8
const mergedBytesMax = 60 * 2 ** 20
const retryMinMs = 500
const retryMaxMs = 30_000
/** A file that is refused this often is set aside: others may be accepted. */
const refusalsMax = 3
/** Another process may be writing or merging files that are younger. */
const staleTemporaryMs = 60_000

/** The name of batch `number` of a collector. A collector has a new id in every run. */
export const spoolName = (collector: string, number: number, { suffix } = blocks): string =>
  `${collector}-${number}${suffix}`

/** The collector in the name of a file. */
export const collectorOf = (name: string): string => name.slice(0, name.indexOf('-'))

/** The name of a file until it is complete: incomplete files are never inserted. */
export const temporaryName = (name: string): string => name + temporarySuffix

/** Inert until it is started. */
export function createSpool(options: SpoolOptions): Spool {
  return new FileSpool(options)
}

/** Inserts into the flows of the store. */
export const insertInto =
  (store: FlowStore): SpoolOptions['insert'] =>
  (block, token, signal) =>
    store.insert(flowTable, block, token, signal)

type Waiting = SpoolFile & {
  refusals: number
  /** Its insert may have succeeded, or it did not fit to others: it is not merged. */
  isAlone: boolean
}

class FileSpool implements Spool {
  readonly #options: SpoolOptions
  readonly #format: SpoolFormat
  readonly #stopping = new AbortController()
  #files: Waiting[] = []
  /** Set aside, but still in the way of the bound. */
  #refused: SpoolFile[] = []
  #bytes = 0
  /** Files that are being inserted or merged. */
  #current: readonly Waiting[] = []
  #run: Promise<void> | undefined
  #wake = Promise.withResolvers<void>()
  #idle: (() => void)[] = []
  #isDraining = false
  #works = true
  #searching: NodeJS.Timeout | undefined

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#format = options.format ?? blocks
  }

  get waiting() {
    const sinceMs = this.#files[0]?.openedMs
    return { files: this.#files.length, bytes: this.#bytes, ...(sinceMs === undefined ? {} : { sinceMs }) }
  }

  add(file: SpoolFile): void {
    this.#files.push({ ...file, refusals: 0, isAlone: false })
    this.#bytes += file.bytes
    void this.#enforceLimit()
    this.#wake.resolve()
  }

  start(): void {
    if (this.#run) return
    mkdirSync(this.#options.dir, { recursive: true, mode: 0o700 })
    this.#findFiles()
    void this.#enforceLimit()
    this.#run = this.#insertAll()
  }

  async stop(drainMs: number): Promise<void> {
    this.#isDraining = true
    clearTimeout(this.#searching)
    this.#wake.resolve()
    const timer = setTimeout(() => this.#stopping.abort(new Error('the spool is stopping')), drainMs)
    await this.#run
    clearTimeout(timer)
  }

  drained(): Promise<void> {
    if (this.#files.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Files of former runs come first. A stale temporary file is removed: it was never complete. */
  #findFiles(): void {
    const { dir } = this.#options
    const { suffix } = this.#format
    const found: (Waiting & { readonly written: number })[] = []
    const known = new Set(this.#files.map(({ name }) => name))
    for (const place of this.#withoutParts(readdirSync(dir))) {
      const stats = statSync(join(dir, place), { throwIfNoEntry: false })
      const isTried = place.endsWith(suffix + triedSuffix)
      const name = isTried ? place.slice(0, -triedSuffix.length) : place
      if (stats === undefined || known.has(name)) continue
      const { size: bytes, mtimeMs: written } = stats
      if (name.endsWith(suffix))
        found.push({ name, bytes, refusals: 0, isAlone: isTried, written, openedMs: written })
      else if (name.endsWith(`${this.#format.suffix}.refused`))
        this.#refused.push({ name, bytes: stats.size })
      else if (name.endsWith(temporarySuffix) && Date.now() - stats.mtimeMs > staleTemporaryMs)
        void rm(join(dir, name), { force: true })
    }
    found.sort((a, b) => a.written - b.written || a.name.localeCompare(b.name, 'en', { numeric: true }))
    this.#files = [...found, ...this.#files]
    for (const { bytes } of [...found, ...this.#refused]) this.#bytes += bytes
  }

  /**
   * Ends merges that were interrupted: parts become files again, unless their merged file is complete. Returns the
   * names of the others, without merged files of which a part cannot be deleted: it would be inserted again later.
   */
  #withoutParts(places: readonly string[]): string[] {
    const { dir, staleMs = staleTemporaryMs } = this.#options
    const all = new Set(places)
    const incomplete = new Set<string>()
    const found = places.flatMap((place) => {
      const [merged, name] = place.split(partMark)
      if (merged === undefined || name === undefined || !name.endsWith(this.#format.suffix)) return [place]
      const path = join(dir, place)
      const stats = statSync(path, { throwIfNoEntry: false })
      if (stats === undefined) return []
      if (all.has(merged) || all.has(merged + triedSuffix)) {
        if (!isRemoved(path)) incomplete.add(merged)
        return []
      }
      // The time of change is the time of the renaming.
      const leftMs = staleMs - (Date.now() - stats.ctimeMs)
      if (leftMs > 0) {
        this.#searchLater(leftMs + 10)
        return []
      }
      renameSync(path, join(dir, name))
      return [name]
    })
    if (incomplete.size > 0) this.#searchLater(retryMaxMs)
    return found.filter(
      (place) => !incomplete.has(place.endsWith(triedSuffix) ? place.slice(0, -triedSuffix.length) : place),
    )
  }

  #searchLater(afterMs: number): void {
    this.#searching ??= setTimeout(() => this.#searchAgain(), afterMs).unref()
  }

  /** Except at the start, a directory that cannot be read is only a warning. */
  #searchAgain(): void {
    this.#searching = undefined
    try {
      this.#findFiles()
    } catch (error) {
      this.#report(error)
      this.#searchLater(retryMaxMs)
    }
    this.#wake.resolve()
  }

  async #insertAll(): Promise<void> {
    const { signal } = this.#stopping
    let failures = 0
    while (!signal.aborted) {
      await this.#merge()
      const file = this.#files[0]
      if (file === undefined) {
        for (const resolve of this.#idle.splice(0)) resolve()
        if (this.#isDraining) return
        await this.#wake.promise
        this.#wake = Promise.withResolvers<void>()
        continue
      }
      this.#current = [file]
      try {
        await this.#insertOne(file, signal)
        failures = 0
        this.#report(undefined)
      } catch (error) {
        if (signal.aborted) return
        if (await this.#isSetAside(file, error)) continue
        this.#report(error)
        // During a stop, the files stay for the next run.
        if (this.#isDraining) return
        await sleep(Math.min(retryMinMs * 2 ** failures++, retryMaxMs), undefined, { signal }).catch(() => {})
      } finally {
        this.#current = []
      }
    }
  }

  /** Merges the oldest files if many wait. Files that cannot be merged stay single. */
  async #merge(): Promise<void> {
    const { dir } = this.#options
    const group = this.#mergeable()
    if (group.length < 2) return
    this.#current = group
    const name = mergedName(group[0]!.name, group.length, this.#format)
    const partOf = (file: Waiting): string => join(dir, `${name}${partMark}${file.name}`)
    const parts: Waiting[] = []
    try {
      const bytes = await this.#writeMerged(name, group, partOf, parts)
      const { openedMs } = parts[0]!
      for (const part of parts) this.#remove(part)
      if (!(await areRemoved(parts.map(partOf)))) return this.#searchLater(retryMaxMs)
      const merged = { name, bytes, refusals: 0, isAlone: true }
      this.#files.unshift(openedMs === undefined ? merged : { ...merged, openedMs })
      this.#bytes += bytes
    } catch {
      for (const file of parts) {
        file.isAlone = true
        await isRenamed(partOf(file), join(dir, file.name)).catch(() => false)
      }
    }
    this.#current = []
  }

  /** Returns the size of the complete merged file, and adds its parts to `parts`. */
  async #writeMerged(
    name: string,
    group: readonly Waiting[],
    partOf: (file: Waiting) => string,
    parts: Waiting[],
  ): Promise<number> {
    const path = join(this.#options.dir, name)
    for (const file of group) {
      if (await isRenamed(join(this.#options.dir, file.name), partOf(file))) parts.push(file)
      // Another process inserts or merges it.
      else this.#remove(file)
    }
    const files = await Promise.all(parts.map((file) => readFile(partOf(file))))
    const block = parts.length > 1 ? this.#format.merge!(files) : undefined
    if (block === undefined) throw new Error('the files do not fit together')
    try {
      await writeFile(temporaryName(path), block, { mode: 0o600 })
      await rename(temporaryName(path), path)
      // A process with another clock may have deleted a part as the rest of an interrupted merge.
      await Promise.all(parts.map((file) => stat(partOf(file))))
    } catch (error) {
      await rm(temporaryName(path), { force: true })
      await rm(path, { force: true })
      throw error
    }
    return block.length
  }

  /** The oldest files that were never tried, as many as a full batch. */
  #mergeable(): Waiting[] {
    if (this.#format.merge === undefined || this.#files.length <= mergedFrom) return []
    const group: Waiting[] = []
    let bytes = 0
    for (const file of this.#files) {
      bytes += file.bytes
      if (file.isAlone || bytes > mergedBytesMax) break
      group.push(file)
    }
    return group
  }

  /** Path of the file during its insert. */
  async #mark(file: Waiting): Promise<string> {
    const path = join(this.#options.dir, file.name)
    if (this.#format.merge === undefined) return path
    file.isAlone = true
    await isRenamed(path, path + triedSuffix)
    return path + triedSuffix
  }

  async #insertOne(file: Waiting, signal: AbortSignal): Promise<void> {
    const { insert, onInserted } = this.#options
    const path = await this.#mark(file)
    const block = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    // It may have been stopped in the meantime, and an insert may only react to a later stop.
    signal.throwIfAborted()
    const began = performance.now()
    // Another process with this directory may have inserted it.
    if (block !== undefined && block.length > 0) await insert(block, file.name, signal)
    await rm(path, { force: true })
    this.#remove(file)
    if (block !== undefined) onInserted?.(file, this.#format.rowsIn(block), performance.now() - began)
  }

  async #isSetAside(file: Waiting, error: unknown): Promise<boolean> {
    if (!(error instanceof DriverError) || error.kind !== 'refused' || ++file.refusals < refusalsMax)
      return false
    const { dir, onLost } = this.#options
    const path = await this.#mark(file)
    const rows = await this.#rowsOfFile(path)
    this.#remove(file)
    const refused = { name: `${file.name}.refused`, bytes: file.bytes }
    await rename(path, join(dir, refused.name)).catch(() => {})
    this.#refused.push(refused)
    this.#bytes += refused.bytes
    onLost?.('refused', rows, file, error)
    return true
  }

  /** Drops refused files first, then the oldest; the file that is being inserted stays. */
  async #enforceLimit(): Promise<void> {
    const { dir, bytesMax, onLost } = this.#options
    while (this.#bytes > bytesMax) {
      const refused = this.#refused.shift()
      if (refused !== undefined) {
        this.#bytes -= refused.bytes
        await rm(join(dir, refused.name), { force: true })
        continue
      }
      const oldest = this.#files.find((file) => !this.#current.includes(file))
      if (oldest === undefined) return
      this.#remove(oldest)
      const path = await this.#mark(oldest)
      const rows = await this.#rowsOfFile(path)
      await rm(path, { force: true })
      onLost?.('spool_full', rows, oldest)
    }
  }

  #remove(file: Waiting): void {
    const at = this.#files.indexOf(file)
    if (at < 0) return
    this.#files.splice(at, 1)
    this.#bytes -= file.bytes
  }

  async #rowsOfFile(path: string): Promise<number> {
    try {
      await using file = await open(path)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(20), 0, 20, 0)
      return this.#format.rowsIn(buffer.subarray(0, bytesRead))
    } catch {
      return 0
    }
  }

  #report(error: unknown): void {
    if (this.#works === (error === undefined)) return
    this.#works = error === undefined
    this.#options.onState?.(error)
  }
}

/** The name of the merged file of `count` files, of which `first` is the first. */
const mergedName = (first: string, count: number, { suffix }: SpoolFormat): string =>
  `${first.slice(0, -suffix.length)}+${count}${suffix}`

/** Returns whether all are deleted. */
async function areRemoved(paths: readonly string[]): Promise<boolean> {
  const removed = await Promise.allSettled(paths.map((path) => rm(path, { force: true })))
  return removed.every(({ status }) => status === 'fulfilled')
}

function isRemoved(path: string): boolean {
  try {
    rmSync(path, { force: true })
    return true
  } catch {
    return false
  }
}

/** Returns whether the file existed. */
async function isRenamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** The number of rows of a block in Native format: the second number of its head. */
export function rowCountOf(block: Uint8Array): number {
  const values: number[] = []
  let [value, factor] = [0, 1]
  for (let at = 0; at < block.length && at < 20 && values.length < 2; at++) {
    value += (block[at]! & 127) * factor
    factor *= 128
    if (block[at]! >= 128) continue
    values.push(value)
    value = 0
    factor = 1
  }
  return values[1] ?? 0
}
