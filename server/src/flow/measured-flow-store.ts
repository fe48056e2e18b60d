// A flow store with its metrics, and the report of a process about it.
import { DriverError, QueryTooExpensive } from '../runtime/driver-error.ts'
import type { Log } from '../runtime/log.ts'
import { readOnCollect, type Metrics } from '../runtime/metrics.ts'
import type { FlowStore } from './flow-store.ts'

/** The report of a process about its flow store. */
export type FlowStoreReport = {
  /**
   * `unused`: not opened by this process yet. `missing`: the installation has no store, and no server is configured.
   */
  readonly state: 'unused' | 'up' | 'down' | 'missing'
  readonly kind: 'embedded' | 'server'
  /** Error of the last call, if it failed. */
  readonly error: string | null
  /** When it came up or went down. */
  readonly since: string | null
}

export type ObservedFlowStore = FlowStore & { report(): FlowStoreReport }

/**
 * Measures every call, and logs when the store stops answering and when it answers again. An installation without ClickHouse (`isMissing`)
 * is supported: its calls fail, and that is no failure of the store.
 */
export function withMetrics(
  store: FlowStore,
  kind: FlowStoreReport['kind'],
  log: Log,
  metrics: Metrics,
  isMissing = false,
): ObservedFlowStore {
  let report: FlowStoreReport = { state: 'unused', kind, error: null, since: null }
  const change = (state: 'up' | 'down', error: string | null) => {
    metrics.flowStoreUp.set(state === 'up' ? 1 : 0)
    if (report.state === state) return
    if (state === 'down') log.warn({ reason: error }, 'flow store unavailable')
    else if (report.state === 'down') log.warn({ down_since: report.since }, 'flow store available again')
    report = { state, kind, error, since: new Date().toISOString() }
  }
  const measured = async <T>(operation: 'insert' | 'query', call: Promise<T>): Promise<T> => {
    const start = performance.now()
    const done = (result: string) =>
      metrics.flowStoreSeconds.observe({ operation, result }, (performance.now() - start) / 1000)
    try {
      const result = await call
      change('up', null)
      done('ok')
      return result
    } catch (error) {
      const result = resultOf(error)
      // A statement that is refused or too expensive was answered.
      if (isMissing) report = missing(report, error)
      else if (error instanceof DriverError && result !== 'refused') change('down', error.message)
      done(result)
      throw error
    }
  }
  readFigures(store, () => report.state === 'up', metrics)
  return {
    probe: () => measured('query', store.probe()),
    insert: (table, block, token, signal) => measured('insert', store.insert(table, block, token, signal)),
    query: (sql, params, limits) => measured('query', store.query(sql, params, limits)),
    command: (sql, params) => measured('query', store.command(sql, params)),
    close: () => store.close(),
    report: () => report,
  }
}

const missing = ({ kind, since }: FlowStoreReport, error: unknown): FlowStoreReport => ({
  kind,
  state: 'missing',
  error: (error as Error).message,
  since: since ?? new Date().toISOString(),
})

function resultOf(error: unknown): string {
  if (error instanceof QueryTooExpensive) return 'too_expensive'
  return error instanceof DriverError ? error.kind : 'failed'
}

type TableSize = { readonly table: string; readonly bytes: number; readonly rows: number }

const tableSizes = `select table, sum(bytes_on_disk) as bytes, sum(rows) as rows from system.parts
  where active and database = currentDatabase() and table != 'migrations' group by table`

/** A second scrape within this time returns the figures of the first. */
const freshMs = 1_000

/** Sizes of the tables, read with each scrape while the store is up: a scrape must not start it. */
function readFigures(store: FlowStore, isUp: () => boolean, metrics: Metrics): void {
  const { flowStoreUp, flowStoreBytes, flowStoreRows } = metrics
  const read = async () => {
    const sizes = isUp() ? await store.query<TableSize>(tableSizes, {}, { seconds: 2 }).catch(() => []) : []
    flowStoreBytes.reset()
    flowStoreRows.reset()
    for (const { table, bytes, rows } of sizes) {
      flowStoreBytes.set({ table }, bytes)
      flowStoreRows.set({ table }, rows)
    }
  }
  let reading: Promise<void> = Promise.resolve()
  let readAt = -Infinity
  const readAgain = () => {
    if (performance.now() - readAt >= freshMs) {
      readAt = performance.now()
      reading = read()
    }
    return reading
  }
  flowStoreUp.remove()
  // The registry collects both in one scrape; they share one read.
  for (const gauge of [flowStoreBytes, flowStoreRows]) readOnCollect(gauge, readAgain)
}
