// Follows the log of a BIRD that records every change of a route. It sees each change, however short it lasts, which
// polling the table does not.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { waitFor } from './wait.ts'

export type BirdChange = {
  /** Milliseconds since 1970 with fractions: when BIRD handled the UPDATE. */
  readonly atMs: number
  /** `announced` for a new route and for a replacement; `removed` when no route is left. */
  readonly kind: 'announced' | 'removed'
  readonly prefix: string
}

/** Follows the file from its current end; recorded changes accumulate until `clear`. */
export class BirdLog {
  readonly #file: number
  #changes: BirdChange[] = []
  #first = new Map<string, BirdChange>()
  #restarts = 0
  readonly #session: string[] = []
  #position: number
  #rest = ''

  constructor(file: string) {
    this.#file = openSync(file, 'r')
    this.#position = fstatSync(this.#file).size
  }

  get changes(): readonly BirdChange[] {
    this.#read()
    return this.#changes
  }

  /** The prefixes that were without a route at any time. */
  get lost(): string[] {
    return this.changes.filter(({ kind }) => kind === 'removed').map(({ prefix }) => prefix)
  }

  /** Resolves with the first change of that kind and prefix, including earlier ones. */
  async saw(kind: BirdChange['kind'], prefix: string, timeoutMs?: number): Promise<BirdChange> {
    const ask = (): BirdChange | undefined => {
      this.#read()
      return this.#first.get(`${kind} ${prefix}`)
    }
    return this.#wait(`BIRD sees ${prefix} ${kind}`, ask, timeoutMs)
  }

  /** Resolves after this number of graceful restarts of the neighbor; routes that were not announced again are removed by then. */
  async sawRestarts(count: number, timeoutMs?: number): Promise<void> {
    const ask = (): boolean => {
      this.#read()
      return this.#restarts >= count
    }
    await this.#wait(`BIRD sees ${count} restarts`, ask, timeoutMs)
  }

  /** Deletes the recorded changes. */
  clear(): void {
    this.#read()
    this.#changes = []
    this.#first = new Map()
    this.#restarts = 0
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  /** A failure contains the state of the session. */
  async #wait<T>(what: string, ask: () => T | undefined | false, timeoutMs?: number): Promise<T> {
    try {
      return await waitFor(what, ask, { timeoutMs, everyMs: 5 })
    } catch (error) {
      throw new Error([(error as Error).message, ...this.#session].join('\n'), { cause: error })
    }
  }

  #read(): void {
    const size = fstatSync(this.#file).size
    if (size <= this.#position) return
    const octets = Buffer.alloc(size - this.#position)
    this.#position += readSync(this.#file, octets, 0, octets.length, this.#position)
    const lines = (this.#rest + octets.toString('latin1')).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
  }

  #take(line: string): void {
    const change = parseBirdChange(line)
    if (change) {
      const key = `${change.kind} ${change.prefix}`
      this.#changes.push(change)
      if (!this.#first.has(key)) this.#first.set(key, change)
    } else if (line.includes('> pharos: ')) {
      if (line.includes('Neighbor graceful restart done')) this.#restarts++
      this.#session.push(line)
      if (this.#session.length > 40) this.#session.shift()
    }
  }
}

/** `2026-01-31 01:02:03.004005 <TRACE> pharos.ipv4 > added [best] 192.0.2.0/24 0L 2G unreachable`; BIRD runs in UTC. */
export function parseBirdChange(line: string): BirdChange | undefined {
  const match =
    /^(\S+) (\S+)(\d{3}) <TRACE> pharos\.ipv[46] > (added|updated|removed(?= \[sole\])) (?:\[\w+\] )?(\S+)/.exec(
      line,
    )
  if (!match) return undefined
  const [, date, time, micros, verb, prefix] = match
  const atMs = Date.parse(`${date}T${time}Z`) + Number(micros) / 1000
  return { atMs, kind: verb === 'removed' ? 'removed' : 'announced', prefix: prefix! }
}
