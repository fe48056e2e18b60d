// An IRR source that reads a registry dump from a file. The file is checked every second; while a new version is
// invalid, is being written, is empty or is much smaller than before, the last valid version is used and the problem is
// reported.
import type { IrrSource } from '../../registry/irr-source.ts'
import type { Asn } from '../../net/asn.ts'
import { isSuspiciousLoss, isLargeDifference } from '../../registry/objects/loss.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { type Dump, type FileState, fileState, readDump } from './dump-file.ts'
import type { DumpIndex } from './dump-index.ts'

export type DumpSourceConfig = {
  readonly file: string
  /** The registries to use, in order of preference; an empty list means all registries in the dump. */
  readonly sources?: readonly string[]
  /** Interval of checks of the file. */
  readonly pollMs?: number
  /** A file that was changed more recently than this is treated as being written. */
  readonly settleMs?: number
  /**
   * How long a dump that is empty, or lost more than 20 % of its objects, must stay so before it is used. 0: without
   * delay.
   */
  readonly confirmMs?: number
  /** Maximum wait of a query for the first read. */
  readonly timeoutMs?: number
}

const byDefault = { sources: [], pollMs: 1_000, settleMs: 1_000, timeoutMs: 8_000, confirmMs: 3_600_000 }

/** Reads the dump on the first query. */
export function createDumpSource(config: DumpSourceConfig): IrrSource {
  return new DumpSource({ ...byDefault, ...config })
}

type CurrentDump = { readonly dump: Dump; readonly state: string }

class DumpSource implements IrrSource {
  readonly name: string
  readonly label = 'IRR dump'
  readonly #config: Required<DumpSourceConfig>
  readonly #closing = new AbortController()
  /** Settles once a dump was read or has failed. */
  readonly #first = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #current: CurrentDump | undefined
  /** A dump that is not used yet; `size`, and since when it has had about that many objects. */
  #withheld:
    | (CurrentDump & { readonly size: number; readonly sinceMs: number; readonly until: Date })
    | undefined
  #failure: string | undefined
  /** The version of the file that was read last, successfully or not, and the version at the last check. */
  #read: string | undefined
  #seen: string | undefined

  constructor(config: Required<DumpSourceConfig>) {
    this.#config = config
    this.name = `file:${config.file}`
  }

  async routeObjects(prefix: Prefix, signal: AbortSignal) {
    return (await this.#index(signal)).covering(prefix)
  }

  async autNum(asn: Asn, signal: AbortSignal) {
    return (await this.#index(signal)).autNum(asn)
  }

  async asSetMembers(name: string, signal: AbortSignal) {
    return (await this.#index(signal)).asSetMembers(name)
  }

  async serial(signal: AbortSignal) {
    await this.#index(signal)
    return this.#current!.state
  }

  isSuspicious(): boolean {
    return this.#withheld !== undefined
  }

  problems(): readonly string[] {
    const { badObjects = 0, problems = [] } = this.#current?.dump ?? {}
    const count = badObjects > problems.length ? [`${badObjects} objects could not be read, such as:`] : []
    return [...(this.#failure === undefined ? [] : [this.#failure]), ...count, ...problems]
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort(new DriverError('unreachable', `${this.name}: closed`))
    await this.#polling
  }

  async #index(signal: AbortSignal): Promise<DumpIndex> {
    signal.throwIfAborted()
    this.#closing.signal.throwIfAborted()
    this.#startPolling()
    if (!this.#current && this.#failure === undefined) await this.#waitForFirst(signal)
    if (this.#current) return this.#current.dump.index
    throw new DriverError('unreachable', this.#failure ?? `${this.name}: it is still being read`)
  }

  async #waitForFirst(signal: AbortSignal): Promise<void> {
    const timeout = AbortSignal.timeout(this.#config.timeoutMs)
    const any = AbortSignal.any([signal, this.#closing.signal, timeout])
    const aborted = Promise.withResolvers<void>()
    any.addEventListener('abort', () => aborted.resolve(), { once: true })
    await Promise.race([this.#first.promise, aborted.promise])
    signal.throwIfAborted()
    this.#closing.signal.throwIfAborted()
  }

  #startPolling(): void {
    if (this.#timer) return
    this.#timer = setInterval(() => this.#startPoll(), this.#config.pollMs)
    this.#timer.unref()
    this.#startPoll()
  }

  #startPoll(): void {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined
    })
  }

  async #poll(): Promise<void> {
    try {
      const state = await fileState(this.#config.file)
      if (!state) return this.#fail('the file does not exist')
      if (state.text === this.#current?.state) this.#failure = this.#withheld = undefined
      if (state.text === this.#withheld?.state) return this.#useOrWithhold(this.#withheld)
      if (state.text === this.#read || !this.#isSettled(state)) return
      this.#read = state.text
      await this.#readFile(state)
    } catch (error) {
      this.#fail((error as Error).message)
    }
  }

  /** Unchanged since the last check, or for a while by the local clock, which may differ from that of the file system. */
  #isSettled(state: FileState): boolean {
    const isSame = state.text === this.#seen
    this.#seen = state.text
    return isSame || Date.now() - state.modifiedMs >= this.#config.settleMs
  }

  async #readFile(state: FileState): Promise<void> {
    const { file, sources } = this.#config
    const dump = await readDump(file, sources, this.#closing.signal)
    const after = await fileState(file)
    if (after?.text !== state.text) {
      this.#read = undefined
      return this.#fail('the file changed while it was read')
    }
    this.#useOrWithhold({ dump, state: state.text })
  }

  /** Uses the dump, or withholds it. */
  #useOrWithhold(next: CurrentDump): void {
    const before = this.#current?.dump.index.size
    const { size: after } = next.dump.index
    if (!isSuspiciousLoss(before, after)) return this.#use(next)
    const { confirmMs } = this.#config
    const nowMs = performance.now()
    const { size, sinceMs, until } =
      this.#withheld && !isLargeDifference(this.#withheld.size, after)
        ? this.#withheld
        : { size: after, sinceMs: nowMs, until: new Date(Date.now() + confirmMs) }
    if (nowMs - sinceMs >= confirmMs) return this.#use(next)
    this.#withheld = { ...next, size, sinceMs, until }
    const instead = before === undefined ? '' : ` instead of ${before}`
    this.#fail(`it has ${after} objects${instead}; not used until ${until.toISOString()}`)
  }

  #use(next: CurrentDump): void {
    this.#current = next
    this.#withheld = undefined
    this.#failure = undefined
    this.#first.resolve()
  }

  #fail(what: string): void {
    if (this.#closing.signal.aborted) return
    const kept = this.#current ? '; the last valid one is used' : ''
    this.#failure = `${this.name}: ${what}${kept}`
    this.#first.resolve()
  }
}
