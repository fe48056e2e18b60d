// All metrics of the process, in one place, so that names and labels stay few and stable. Labels come from closed lists (a route's
// pattern, never its path) or from the platform file (regions, sources).
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
    loopInterval: new Gauge({
      name: 'pharos_loop_interval_seconds',
      help: 'How long each loop waits at most between two runs.',
      labelNames: ['loop'],
      registers,
    }),
    deliveries: new Counter({
      name: 'pharos_deliveries_total',
      help: 'Deliveries of detectors that this process has read, by result done or failed.',
      labelNames: ['state'],
      registers,
    }),
    deliveriesWaiting: new Gauge({
      name: 'pharos_deliveries_waiting',
      help: 'Deliveries that are stored and not yet read, of the whole installation.',
      registers,
    }),
    deliveryWaitSeconds: new Gauge({
      name: 'pharos_deliveries_oldest_wait_seconds',
      help: 'How long the oldest of them has waited; 0 without any. Alarm when it grows.',
      registers,
    }),
    mails: new Counter({
      name: 'pharos_mails_total',
      help: 'Attempts of this process to send a mail, by template and outcome sent, postponed or failed.',
      labelNames: ['template', 'outcome'],
      registers,
    }),
    mailsWaiting: new Gauge({
      name: 'pharos_mails_waiting',
      help: 'Mails neither sent nor failed, of the whole installation.',
      registers,
    }),
    mailWaitSeconds: new Gauge({
      name: 'pharos_mails_oldest_wait_seconds',
      help: 'How long the oldest of them has waited; 0 without any. Alarm when it grows.',
      registers,
    }),
    webhookDeliveries: new Counter({
      name: 'pharos_webhook_deliveries_total',
      help: 'Attempts of this process to send a message, by outcome delivered, retried, failed or disabled.',
      labelNames: ['outcome'],
      registers,
    }),
    streams: new Gauge({
      name: 'pharos_streams',
      help: 'Open streams (GET /v3/stream) of this process.',
      registers,
    }),
    webhookDeliveriesWaiting: new Gauge({
      name: 'pharos_webhook_deliveries_waiting',
      help: 'Messages to webhooks that are due and not yet sent, of the whole installation. Alarm when it grows.',
      registers,
    }),
    routes: new Gauge({
      name: 'pharos_region_routes',
      help: 'Routes of each region: desired, observed on its routers, and held by the guard.',
      labelNames: ['region', 'state'],
      registers,
    }),
    routerUp: new Gauge({
      name: 'pharos_router_up',
      help: 'Installation: 1 if the last run could read and change the router, else 0. Alarm when it is 0.',
      labelNames: ['region', 'router'],
      registers,
    }),
    regionNeighbors: new Gauge({
      name: 'pharos_region_neighbors',
      help: 'Installation: established BGP sessions of each router. Alert if it is 0: its routes reach no neighbor.',
      labelNames: ['region', 'router'],
      registers,
    }),
    registryUp: new Gauge({
      name: 'pharos_registry_up',
      help: '1 while this process can judge by the source of ROAs or route objects, else 0. Alarm when none is 1.',
      labelNames: ['kind', 'source'],
      registers,
    }),
    registrySuspicious: new Gauge({
      name: 'pharos_registry_suspicious',
      help: '1 while the source is empty or lost more than 20 % at once and is not used until confirmed. Alarm when 1.',
      labelNames: ['kind', 'source'],
      registers,
    }),
    registryAnswered: new Gauge({
      name: 'pharos_registry_answered_timestamp_seconds',
      help: 'When each of them last confirmed what it holds, or answered.',
      labelNames: ['kind', 'source'],
      registers,
    }),
    vrps: new Gauge({
      name: 'pharos_rpki_vrps',
      help: 'Validated ROA payloads that this process holds of each source.',
      labelNames: ['source'],
      registers,
    }),
    passwordHashesWaiting: new Gauge({
      name: 'pharos_password_hashes_waiting',
      help: 'Sign-ins that wait for a password hash.',
      registers,
    }),
    regionChecked: new Gauge({
      name: 'pharos_region_last_check_timestamp_seconds',
      help: 'When each region was last compared with its router, by whatever process. Alarm when it grows old.',
      labelNames: ['region'],
      registers,
    }),
    regionOk: new Gauge({
      name: 'pharos_region_last_check_ok',
      help: '1 when the last attempt to compare the region with its router succeeded, else 0.',
      labelNames: ['region'],
      registers,
    }),
    holdsOpen: new Gauge({
      name: 'pharos_holds_open',
      help: 'Holds that wait for a human, by region. Alarm when there is one.',
      labelNames: ['region'],
      registers,
    }),
    postgresUp: new Gauge({
      name: 'pharos_postgres_up',
      help: '1 when PostgreSQL answered while these metrics were read, else 0.',
      registers,
    }),
    connections: new Gauge({
      name: 'pharos_postgres_connections',
      help: 'Connections of all processes to PostgreSQL, by use and state.',
      labelNames: ['use', 'state'],
      registers,
    }),
  }
}

/** Has the gauge set by `read` whenever the metrics are asked for; a promise is waited for, and must not reject. */
export function readOnCollect(gauge: Gauge<string>, read: () => void | Promise<void>): void {
  Object.assign(gauge, { collect: read })
}

/** Adds memory, processor time, event loop delay and garbage collection of this process. Once for each process. */
export function collectProcessMetrics(metrics: Metrics): void {
  collectDefaultMetrics({ register: metrics.registry })
}
