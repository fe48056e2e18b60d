// What is counted about the process, in one place, so that names and labels stay few and stable. Labels come from
// closed lists (a route's pattern, never its path) or from the operator's file (regions, sources).
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** The metrics of one process, in a registry of their own. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    httpSeconds: new Histogram({
      name: 'pharos_http_request_duration_seconds',
      help: 'Answered requests by method, route pattern and status; its count is the number of requests.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers,
    }),
    httpInFlight: new Gauge({
      name: 'pharos_http_requests_in_flight',
      help: 'Requests that are being worked on.',
      registers,
    }),
    httpRefused: new Counter({
      name: 'pharos_http_requests_refused_total',
      help: 'Requests turned away: rate_limited, or overloaded because too much was in flight.',
      labelNames: ['reason'],
      registers,
    }),
    loopRuns: new Counter({
      name: 'pharos_loop_runs_total',
      help: 'Runs of each loop that ended, by result ok or failed.',
      labelNames: ['loop', 'result'],
      registers,
    }),
    loopSeconds: new Histogram({
      name: 'pharos_loop_run_duration_seconds',
      help: 'How long a run of each loop took.',
      labelNames: ['loop'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
      registers,
    }),
    loopLastSuccess: new Gauge({
      name: 'pharos_loop_last_success_timestamp_seconds',
      help: 'When a run of each loop last ended well. Alarm when it grows old.',
      labelNames: ['loop'],
      registers,
    }),
    deliveries: new Counter({
      name: 'pharos_deliveries_total',
      help: 'Deliveries of detectors that were worked on, by what became of them: done or failed.',
      labelNames: ['state'],
      registers,
    }),
    routes: new Gauge({
      name: 'pharos_region_routes',
      help: 'Routes of each region: desired, observed on the router, and held by the guard.',
      labelNames: ['region', 'state'],
      registers,
    }),
    passwordHashesWaiting: new Gauge({
      name: 'pharos_password_hashes_waiting',
      help: 'Sign-ins that wait for a password hash.',
      registers,
    }),
    poolConnections: new Gauge({
      name: 'pharos_postgres_pool_connections',
      help: 'Connections to PostgreSQL by state: in_use, idle; waiting are the callers without one.',
      labelNames: ['state'],
      registers,
    }),
  }
}

/** What is read of a pool of connections when the metrics are asked for; `pg.Pool` has it. */
export type WatchedPool = {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
}

/** Reads the pool whenever the metrics are asked for. */
export function watchPool(metrics: Metrics, pool: WatchedPool): void {
  readOnCollect(metrics.poolConnections, () => {
    metrics.poolConnections.set({ state: 'in_use' }, pool.totalCount - pool.idleCount)
    metrics.poolConnections.set({ state: 'idle' }, pool.idleCount)
    metrics.poolConnections.set({ state: 'waiting' }, pool.waitingCount)
  })
}

/** Has the gauge set by `read` whenever the metrics are asked for. */
export function readOnCollect(gauge: Gauge<string>, read: () => void): void {
  Object.assign(gauge, { collect: read })
}

/** Adds memory, processor time, event loop delay and garbage collection of this process. Once for each process. */
export function collectProcessMetrics(metrics: Metrics): void {
  collectDefaultMetrics({ register: metrics.registry })
}
