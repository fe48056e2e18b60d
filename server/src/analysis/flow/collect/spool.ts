// The spool between the collector and the flow store: a batch is a file, and its name is the token of its insert, so that a file that is
// inserted again after a crash counts once. The spool is bounded: the oldest files are dropped, and counted.
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DriverError } from '../../../runtime/driver-error.ts'
import type { FlowStore } from '../flow-store.ts'

/** `openedMs`: when its first row was received; of a file of a former run, when it was written. */
export type SpoolFile = { readonly name: string; readonly bytes: number; readonly openedMs?: number }

export type SpoolOptions = {
  readonly dir: string
  readonly bytesMax: number
  readonly insert: (block: Uint8Array, token: string, signal: AbortSignal) => Promise<void>
  /** Of the files; by default blocks of flows. */
  readonly format?: SpoolFormat
  readonly onInserted?: (file: SpoolFile, rows: number, ms: number) => void
  /** Rows that are lost: the spool was full, or the store does not accept the file. */
  readonly onLost?: (reason: 'spool_full' | 'refused', rows: number, file: SpoolFile, error?: unknown) => void
  /** Once for each change between working and not. */
  readonly onState?: (error: unknown) => void
}

export type SpoolFormat = {
  readonly suffix: string
  /** The number of rows in a file, from its first octets. */
  readonly rowsIn: (head: Uint8Array) => number
}

export type Spool = {
  /** Files that wait, their size, and when the first row of the oldest one was received. */
  readonly waiting: { readonly files: number; readonly bytes: number; readonly sinceMs?: number }
  /** Takes a file that was written to the directory. */
  add(file: SpoolFile): void
  /** Creates the directory, or throws. Inserts the files that are there, the oldest first, and from then on what is added. */
  start(): void
  /** Resolves when the insert in progress has ended; waits up to `drainMs` for the others. */
  stop(drainMs: number): Promise<void>
  /** Resolves when no file waits; for tests. */
  drained(): Promise<void>
}

export const flowTable = 'flows'
const temporarySuffix = '.tmp'
const blocks: SpoolFormat = { suffix: '.native', rowsIn: rowsOf }
const retryMinMs = 500
const retryMaxMs = 30_000
/** A file that is refused this often is set aside: others may be accepted. */
const refusalsMax = 3
const staleTemporaryMs = 60_000

/** The name of batch `number` of a collector. A collector has a new id in every run. */
export const spoolName = (collector: string, number: number, { suffix } = blocks): string =>
  `${collector}-${number}${suffix}`

/** The collector in the name of a file. */
export const collectorOf = (name: string): string => name.slice(0, name.indexOf('-'))

/** Where a file is written before it has its name: a half-written one is never inserted. */
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

type Waiting = SpoolFile & { refusals: number }

class FileSpool implements Spool {
  readonly #options: SpoolOptions
  readonly #format: SpoolFormat
  readonly #stopping = new AbortController()
  #files: Waiting[] = []
  /** Set aside, but still in the way of the bound. */
  #refused: SpoolFile[] = []
  #bytes = 0
  #current: Waiting | undefined
  #run: Promise<void> | undefined
  #wake = Promise.withResolvers<void>()
  #idle: (() => void)[] = []
  #isDraining = false
  #works = true

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#format = options.format ?? blocks
  }

  get waiting() {
    const sinceMs = this.#files[0]?.openedMs
    return { files: this.#files.length, bytes: this.#bytes, ...(sinceMs === undefined ? {} : { sinceMs }) }
  }

  add(file: SpoolFile): void {
    this.#files.push({ ...file, refusals: 0 })
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
    const found: (Waiting & { readonly written: number })[] = []
    const known = new Set(this.#files.map(({ name }) => name))
    for (const name of readdirSync(dir)) {
      const stats = statSync(join(dir, name), { throwIfNoEntry: false })
      if (stats === undefined || known.has(name)) continue
      if (name.endsWith(this.#format.suffix))
        found.push({ name, bytes: stats.size, refusals: 0, written: stats.mtimeMs, openedMs: stats.mtimeMs })
      else if (name.endsWith(`${this.#format.suffix}.refused`))
        this.#refused.push({ name, bytes: stats.size })
      else if (name.endsWith(temporarySuffix) && Date.now() - stats.mtimeMs > staleTemporaryMs)
        void rm(join(dir, name), { force: true })
    }
    found.sort((a, b) => a.written - b.written || a.name.localeCompare(b.name, 'en', { numeric: true }))
    this.#files = [...found, ...this.#files]
    for (const { bytes } of [...found, ...this.#refused]) this.#bytes += bytes
  }

  async #insertAll(): Promise<void> {
    const { signal } = this.#stopping
    let failures = 0
    while (!signal.aborted) {
      const file = this.#files[0]
      if (file === undefined) {
        for (const resolve of this.#idle.splice(0)) resolve()
        if (this.#isDraining) return
        await this.#wake.promise
        this.#wake = Promise.withResolvers<void>()
        continue
      }
      this.#current = file
      try {
        await this.#insertOne(file, signal)
        failures = 0
        this.#report(undefined)
      } catch (error) {
        if (signal.aborted) return
        if (await this.#isSetAside(file, error)) continue
        this.#report(error)
        // While it stops, the files stay for the next run.
        if (this.#isDraining) return
        await sleep(Math.min(retryMinMs * 2 ** failures++, retryMaxMs), undefined, { signal }).catch(() => {})
      } finally {
        this.#current = undefined
      }
    }
  }

  async #insertOne(file: Waiting, signal: AbortSignal): Promise<void> {
    const { dir, insert, onInserted } = this.#options
    const path = join(dir, file.name)
    const block = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    // It may have been stopped meanwhile, and an insert may only listen for a stop that follows.
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
    const rows = await this.#rowsOfFile(file.name)
    this.#remove(file)
    const refused = { name: `${file.name}.refused`, bytes: file.bytes }
    await rename(join(dir, file.name), join(dir, refused.name)).catch(() => {})
    this.#refused.push(refused)
    this.#bytes += refused.bytes
    onLost?.('refused', rows, file, error)
    return true
  }

  /** Drops refused files first, then the oldest; the one that is being inserted stays. */
  async #enforceLimit(): Promise<void> {
    const { dir, bytesMax, onLost } = this.#options
    while (this.#bytes > bytesMax) {
      const refused = this.#refused.shift()
      if (refused !== undefined) {
        this.#bytes -= refused.bytes
        await rm(join(dir, refused.name), { force: true })
        continue
      }
      const oldest = this.#files.find((file) => file !== this.#current)
      if (oldest === undefined) return
      this.#remove(oldest)
      const rows = await this.#rowsOfFile(oldest.name)
      await rm(join(dir, oldest.name), { force: true })
      onLost?.('spool_full', rows, oldest)
    }
  }

  #remove(file: Waiting): void {
    const at = this.#files.indexOf(file)
    if (at < 0) return
    this.#files.splice(at, 1)
    this.#bytes -= file.bytes
  }

  async #rowsOfFile(name: string): Promise<number> {
    try {
      await using file = await open(join(this.#options.dir, name))
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

/** The number of rows of a block in Native format: the second number of its head. */
export function rowsOf(block: Uint8Array): number {
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
