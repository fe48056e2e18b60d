// Queries the routes from before a subscription, a few prefixes at a time and one request at a time. A table from before the
// subscription would hide the changes between both, so it is queried again later.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CollectorRoute } from '../../byoip/visibility/visibility-source.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Log } from '../../runtime/log.ts'
import { parseBgpState, routesIn } from '../collectors/bgp-state.ts'
import { fetchExport } from '../vrp-json/fetch.ts'

export type TableLimits = {
  readonly tablePrefixesMax: number
  /** Delay before a failed or too old table is queried again. */
  readonly tableRetryMs: number
  readonly tableTimeoutMs: number
  readonly tableOctetsMax: number
}

export type TableDeps = {
  readonly now: () => Date
  readonly log: Log
  readonly onTable: (prefix: Prefix, routes: readonly CollectorRoute[], at: Date) => void
}

type Waiting = { readonly since: Date; readonly dueMs: number }

export class TableQueue {
  readonly #url: URL
  readonly #limits: TableLimits
  readonly #deps: TableDeps
  readonly #waiting = new Map<Prefix, Waiting>()
  readonly #abort = new AbortController()
  #work: Promise<void> | undefined

  constructor(url: URL, limits: TableLimits, deps: TableDeps) {
    this.#url = url
    this.#limits = limits
    this.#deps = deps
  }

  /** Queues prefixes that are subscribed since that time. */
  add(prefixes: readonly Prefix[], since: Date): void {
    for (const prefix of prefixes) this.#waiting.set(prefix, { since, dueMs: 0 })
    if (!this.#abort.signal.aborted) this.#work ??= this.#run().finally(() => (this.#work = undefined))
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#work
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    while (this.#waiting.size > 0 && !signal.aborted) {
      const now = performance.now()
      const due = [...this.#waiting].filter(([, { dueMs }]) => dueMs <= now)
      if (due.length === 0) {
        const nextMs = Math.min(...[...this.#waiting.values()].map(({ dueMs }) => dueMs))
        await sleep(nextMs - now, undefined, { signal }).catch(() => {})
      } else await this.#query(due.slice(0, this.#limits.tablePrefixesMax))
    }
  }

  async #query(batch: readonly (readonly [Prefix, Waiting])[]): Promise<void> {
    const { signal } = this.#abort
    const url = new URL(this.#url)
    url.searchParams.set('resource', batch.map(([prefix]) => prefix).join(','))
    const { tableTimeoutMs: timeoutMs, tableOctetsMax: octetsMax } = this.#limits
    try {
      const fetched = await fetchExport({ kind: 'http', url }, undefined, { timeoutMs, octetsMax, signal })
      const state = parseBgpState(JSON.parse(fetched?.text ?? ''))
      if (signal.aborted) return
      for (const [prefix, { since }] of batch) {
        const routes = routesIn(state, prefix)
        if (!routes || state.at < since) continue
        this.#waiting.delete(prefix)
        this.#deps.onTable(prefix, routes, state.at)
      }
    } catch (error) {
      if (!signal.aborted) this.#deps.log.warn({ error }, 'table of routes not read; it is queried again')
    }
    const dueMs = performance.now() + this.#limits.tableRetryMs
    for (const [prefix, { since }] of batch)
      if (this.#waiting.has(prefix)) this.#waiting.set(prefix, { since, dueMs })
  }
}
