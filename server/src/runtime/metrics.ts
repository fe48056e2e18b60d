// All metrics of the process, in one place, so that names and labels stay few and stable. Labels come from closed lists (a route's
// pattern, never its path) or from the platform file (regions, sources).
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** Reasons for lost flows: of datagrams, of sets of records, of rows. */
const flowLosses = [
  'kernel_buffer',
  'no_batch',
  'malformed',
  'repeated',
  'over_limit',
  'truncated',
  'unknown_template',
  'implausible',
  'internal',
  'time',
  'disk',
  'spool_full',
  'refused',
] as const
export type FlowLoss = (typeof flowLosses)[number]

/** The metrics of one process, in a separate registry. */
export function createMetrics() {
  const metrics = declareMetrics()
  // A counter that appears with its first increment has not increased for Prometheus: alerts would miss the first failures.
  for (const reason of ['rate_limited', 'overloaded']) metrics.httpRefused.inc({ reason }, 0)
  for (const state of ['done', 'partial', 'failed']) metrics.deliveries.inc({ state }, 0)
  for (const reason of flowLosses) metrics.flowsLost.inc({ reason }, 0)
  return metrics
}

function declareMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    ...httpMetrics(registers),
    ...loopMetrics(registers),
    ...flowStoreMetrics(registers),
    ...messageMetrics(registers),
    ...latencyMetrics(registers),
    ...regionMetrics(registers),
    ...registryMetrics(registers),
    ...visibilityMetrics(registers),
    ...dnsMetrics(registers),
    ...flowMetrics(registers),
    ...installationMetrics(registers),
  }
}

type Registers = Registry[]

const httpMetrics = (registers: Registers) => ({
  httpSeconds: new Histogram({
    name: 'pharos_http_request_duration_seconds',
    help: 'Answered requests by method, route pattern and status; its count is the number of requests.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  }),
  httpInFlight: new Gauge({
    name: 'pharos_http_requests_in_flight',
    help: 'Requests in progress.',
    registers,
  }),
  httpRefused: new Counter({
    name: 'pharos_http_requests_refused_total',
    help: 'Rejected requests: rate_limited, or overloaded because too many were in progress. Alert if the latter grows.',
    labelNames: ['reason'],
    registers,
  }),
  streams: new Gauge({
    name: 'pharos_streams',
    help: 'Open streams (GET /v3/stream) of this process.',
    registers,
  }),
})

const loopMetrics = (registers: Registers) => ({
  loopRuns: new Counter({
    name: 'pharos_loop_runs_total',
    help: 'Completed runs of each loop, by result ok or failed, or held while a restore waits for staff.',
    labelNames: ['loop', 'result'],
    registers,
  }),
  loopSeconds: new Histogram({
    name: 'pharos_loop_run_duration_seconds',
    help: 'Duration of the runs of each loop.',
    labelNames: ['loop'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
    registers,
  }),
  loopLastSuccess: new Gauge({
    name: 'pharos_loop_last_success_timestamp_seconds',
    help: 'Time of the last successful run of each loop. Alert if it is old.',
    labelNames: ['loop'],
    registers,
  }),
  loopInterval: new Gauge({
    name: 'pharos_loop_interval_seconds',
    help: 'Maximum time between two runs of each loop.',
    labelNames: ['loop'],
    registers,
  }),
})

const flowStoreMetrics = (registers: Registers) => ({
  flowStoreSeconds: new Histogram({
    name: 'pharos_flow_store_duration_seconds',
    help: 'Calls of the flow store by operation (insert, query) and result: ok, too_expensive, unreachable, postponed, refused, protocol.',
    labelNames: ['operation', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers,
  }),
  flowStoreUp: new Gauge({
    name: 'pharos_flow_store_up',
    help: 'Whether the last call of the flow store was answered; absent until this process has used it. Alert if it is 0.',
    registers,
  }),
  flowStoreBytes: new Gauge({
    name: 'pharos_flow_store_disk_bytes',
    help: 'Size on disk of each table of the flow store that this process uses, compressed.',
    labelNames: ['table'],
    registers,
  }),
  flowStoreRows: new Gauge({
    name: 'pharos_flow_store_rows',
    help: 'Rows of each table of the flow store that this process uses.',
    labelNames: ['table'],
    registers,
  }),
})

const messageMetrics = (registers: Registers) => ({
  deliveries: new Counter({
    name: 'pharos_deliveries_total',
    help: 'Deliveries of detectors that this process has processed, by result done, partial or failed.',
    labelNames: ['state'],
    registers,
  }),
  deliveriesWaiting: new Gauge({
    name: 'pharos_deliveries_waiting',
    help: 'Installation: stored deliveries that are not processed yet.',
    registers,
  }),
  deliveryWaitSeconds: new Gauge({
    name: 'pharos_deliveries_oldest_wait_seconds',
    help: 'Installation: age of the oldest unprocessed delivery; 0 without any. Alert if it grows.',
    registers,
  }),
  identityProviderProblems: new Gauge({
    name: 'pharos_identity_provider_problems',
    help: 'Installation: active identity providers of teams with a problem, by problem domain_lost or unreachable.',
    labelNames: ['problem'],
    registers,
  }),
  signIns: new Counter({
    name: 'pharos_sign_ins_total',
    help: 'Sign-ins by method password, passkey, provider, staff or break_glass, and outcome: success, refused, or of an identity provider the reason of the failure.',
    labelNames: ['method', 'outcome'],
    registers,
  }),
  scimRequests: new Counter({
    name: 'pharos_scim_requests_total',
    help: 'Requests of identity providers to /scim/v2 by outcome: success, refused, unauthenticated, rate_limited or failed.',
    labelNames: ['outcome'],
    registers,
  }),
  mails: new Counter({
    name: 'pharos_mails_total',
    help: 'Attempts of this process to send a mail, by template and outcome sent, postponed or failed. Alert if the latter grows.',
    labelNames: ['template', 'outcome'],
    registers,
  }),
  mailsWaiting: new Gauge({
    name: 'pharos_mails_waiting',
    help: 'Installation: mails neither sent nor failed.',
    registers,
  }),
  mailWaitSeconds: new Gauge({
    name: 'pharos_mails_oldest_wait_seconds',
    help: 'Installation: age of the oldest queued mail; 0 without any. Alert if it grows.',
    registers,
  }),
  webhookDeliveries: new Counter({
    name: 'pharos_webhook_deliveries_total',
    help: 'Attempts of this process to send a message, by outcome delivered, retried, failed or disabled.',
    labelNames: ['outcome'],
    registers,
  }),
  webhookDeliveriesWaiting: new Gauge({
    name: 'pharos_webhook_deliveries_waiting',
    help: 'Installation: messages to webhooks that are due and not sent yet. Alert if it grows.',
    registers,
  }),
})

const latencyMetrics = (registers: Registers) => ({
  changeToRouterSeconds: new Histogram({
    name: 'pharos_change_to_router_seconds',
    help: 'From the request of a change of an announcement or black hole until the routers of a region show it, by region.',
    labelNames: ['region'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    registers,
  }),
  changeVisibleSeconds: new Histogram({
    name: 'pharos_change_visible_seconds',
    help: 'From a change of an announcement on the routers until 80 % of the route collectors see it.',
    buckets: [5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800],
    registers,
  }),
  dnsChangeServedSeconds: new Histogram({
    name: 'pharos_dns_change_served_seconds',
    help: 'From a change of a zone until all its name servers serve it.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    registers,
  }),
  detectionToRuleSeconds: new Histogram({
    name: 'pharos_detection_to_rule_seconds',
    help: 'From the first report of an attack until a scrubber holds a rule against it that was written since.',
    buckets: [10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200],
    registers,
  }),
})

const regionMetrics = (registers: Registers) => ({
  routes: new Gauge({
    name: 'pharos_region_routes',
    help: 'Routes of each region that this process reconciles: desired, observed on its routers, and waiting for approval.',
    labelNames: ['region', 'state'],
    registers,
  }),
  routesMissing: new Gauge({
    name: 'pharos_region_routes_missing',
    help: 'Installation: desired routes of each region that do not reach its neighbors. Alert if it is not 0.',
    labelNames: ['region'],
    registers,
  }),
  formerRouters: new Gauge({
    name: 'pharos_former_routers',
    help: 'Installation: routers that the region no longer has and that are not empty yet.',
    labelNames: ['region'],
    registers,
  }),
  formerRouterRoutes: new Gauge({
    name: 'pharos_former_router_routes',
    help: 'Installation: routes on these routers at their last check; before the first one, those that they may have.',
    labelNames: ['region'],
    registers,
  }),
  formerRouterSeconds: new Gauge({
    name: 'pharos_former_router_oldest_seconds',
    help: 'Installation: time since the region lost the oldest of these routers; 0 without any. Alert if it grows.',
    labelNames: ['region'],
    registers,
  }),
  routerUp: new Gauge({
    name: 'pharos_router_up',
    help: 'Installation: 1 if the last run could read and change the router, else 0. Alert if it is 0.',
    labelNames: ['region', 'router'],
    registers,
  }),
  regionNeighbors: new Gauge({
    name: 'pharos_region_neighbors',
    help: 'Installation: established BGP sessions of each router. Alert if it is 0: its routes reach no neighbor.',
    labelNames: ['region', 'router'],
    registers,
  }),
  regionChecked: new Gauge({
    name: 'pharos_region_last_check_timestamp_seconds',
    help: 'Installation: time of the last comparison of each region with its routers.',
    labelNames: ['region'],
    registers,
  }),
  regionOk: new Gauge({
    name: 'pharos_region_last_check_ok',
    help: 'Installation: 1 if the last comparison of the region with its routers succeeded and the next is not overdue, else 0. Alert if it is 0.',
    labelNames: ['region'],
    registers,
  }),
})

const registryMetrics = (registers: Registers) => ({
  registryUp: new Gauge({
    name: 'pharos_registry_up',
    help: '1 if this process can use the source of ROAs or route objects for checks, else 0. Alert if none is 1.',
    labelNames: ['kind', 'source'],
    registers,
  }),
  registrySuspicious: new Gauge({
    name: 'pharos_registry_suspicious',
    help: '1 if the source is empty or lost more than 20 % at once and is not used until confirmed. Alert if it is 1.',
    labelNames: ['kind', 'source'],
    registers,
  }),
  registryAnswered: new Gauge({
    name: 'pharos_registry_answered_timestamp_seconds',
    help: 'Time of the last confirmation or answer of each source.',
    labelNames: ['kind', 'source'],
    registers,
  }),
  vrps: new Gauge({
    name: 'pharos_rpki_vrps',
    help: 'Validated ROA payloads of each source in this process.',
    labelNames: ['source'],
    registers,
  }),
})

const visibilityMetrics = (registers: Registers) => ({
  visibilityRoutes: new Gauge({
    name: 'pharos_visibility_routes',
    help: 'Routes of route collectors that this process stores; 0 unless it follows the sources of visibility.',
    registers,
  }),
  visibilityUp: new Gauge({
    name: 'pharos_visibility_up',
    help: 'Installation: 1 if the source of visibility has current data, else 0. Alert if none is 1.',
    labelNames: ['source'],
    registers,
  }),
  announcementsUnseen: new Gauge({
    name: 'pharos_announcements_unseen',
    help: 'Installation: announcements that hardly any route collector sees (not_visible), or none through us (other_path). Alert if it is not 0.',
    labelNames: ['reason'],
    registers,
  }),
})

const dnsMetrics = (registers: Registers) => ({
  nameServerUp: new Gauge({
    name: 'pharos_name_server_up',
    help: 'Installation: 1 if the name server answered when it was last asked for serials, else 0. Alert if it is 0.',
    labelNames: ['server'],
    registers,
  }),
  dnsAliasesFailing: new Gauge({
    name: 'pharos_dns_aliases_failing',
    help: 'Installation: ALIAS records whose target was not resolved when it was last asked for. The last addresses are served. Alert if it is above 10.',
    registers,
  }),
  dnsSignaturesExpire: new Gauge({
    name: 'pharos_dns_signatures_expire_timestamp_seconds',
    help: 'Installation: when the first signature of a zone expires; they are renewed 14 days before. Alert at 7 days.',
    registers,
  }),
})

const flowMetrics = (registers: Registers) => ({
  flowsListening: new Gauge({
    name: 'pharos_flows_listening',
    help: '1 if this process receives flows, else 0; 0 too if netflow_listen and sflow_listen are off.',
    registers,
  }),
  flowDatagrams: new Counter({
    name: 'pharos_flow_datagrams_total',
    help: 'Decoded datagrams of exporters, by protocol.',
    labelNames: ['protocol'],
    registers,
  }),
  flows: new Counter({
    name: 'pharos_flows_total',
    help: 'Flows that this process has decoded.',
    registers,
  }),
  flowsLost: new Counter({
    name: 'pharos_flows_lost_total',
    help: 'What was lost, by reason. Datagrams: kernel_buffer, no_batch, malformed, repeated, over_limit. Sets of records: truncated, unknown_template. Rows: implausible, internal, time, disk, spool_full, refused. Alert if it grows, except internal and repeated.',
    labelNames: ['reason'],
    registers,
  }),
  flowsUnsplit: new Counter({
    name: 'pharos_flows_unsplit_total',
    help: 'Flows of 90 seconds or more that were stored in one minute, since a batch had too many of them.',
    registers,
  }),
  flowRatesAmbiguous: new Counter({
    name: 'pharos_flow_rates_ambiguous_total',
    help: 'Records of options whose complete pairs of elements have two sampling rates.',
    registers,
  }),
  flowCounterRatio: new Gauge({
    name: 'pharos_flow_counter_ratio',
    help: 'Installation: octets of the flows of a port divided by those of its interface, in the last hour that could be judged.',
    labelNames: ['exporter', 'port'],
    registers,
  }),
  detectorOverflows: new Counter({
    name: 'pharos_detector_overflows_total',
    help: 'Flows and targets that the table of the detector had no row for. Alert if it grows.',
    registers,
  }),
  flowSpoolFiles: new Gauge({
    name: 'pharos_flow_spool_files',
    help: 'Batches of flows that this process has not inserted yet. Alert if it grows.',
    registers,
  }),
  flowSpoolBytes: new Gauge({
    name: 'pharos_flow_spool_bytes',
    help: 'Size of these batches; beyond flow_spool_bytes the oldest are dropped.',
    registers,
  }),
  flowDelaySeconds: new Histogram({
    name: 'pharos_flow_delay_seconds',
    help: 'From the first flow of a batch until its rows can be queried.',
    buckets: [0.5, 1, 1.5, 2, 3, 5, 10, 30, 60, 300],
    registers,
  }),
})

const installationMetrics = (registers: Registers) => ({
  passwordHashesWaiting: new Gauge({
    name: 'pharos_password_hashes_waiting',
    help: 'Sign-ins that wait for a password hash.',
    registers,
  }),
  restoreOpen: new Gauge({
    name: 'pharos_restore_open',
    help: 'Installation: 1 while a restored database waits for staff and nothing is sent, else 0. Alert if it is 1.',
    registers,
  }),
  approvalsOpen: new Gauge({
    name: 'pharos_approvals_open',
    help: 'Installation: changes that need the approval of staff, by area and for routes by region. Alert if there is one.',
    labelNames: ['area', 'subject'],
    registers,
  }),
  postgresUp: new Gauge({
    name: 'pharos_postgres_up',
    help: '1 if PostgreSQL answered while these metrics were read, else 0.',
    registers,
  }),
  problems: new Gauge({
    name: 'pharos_problems',
    help: 'Installation: problems that pharos status reports, by code. Alert if one without an alert of its own is not 0.',
    labelNames: ['code'],
    registers,
  }),
  connections: new Gauge({
    name: 'pharos_postgres_connections',
    help: 'Installation: connections of all processes to PostgreSQL, by use and state.',
    labelNames: ['use', 'state'],
    registers,
  }),
})

/** Sets the gauge from `read` whenever the metrics are requested; a promise is awaited and must not reject. */
export function readOnCollect(gauge: Gauge<string>, read: () => void | Promise<void>): void {
  Object.assign(gauge, { collect: read })
}

/** Adds memory, processor time, event loop delay and garbage collection of this process. Once for each process. */
export function collectProcessMetrics(metrics: Metrics): void {
  collectDefaultMetrics({ register: metrics.registry })
}
