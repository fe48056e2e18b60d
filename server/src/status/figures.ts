// Metrics from the database: the state of the whole installation, the same in every process. They are read on request, within the time
// of a scrape; without a database they are omitted.
import type { Db } from '../db/postgres.ts'
import { readOnCollect, type Metrics } from '../runtime/metrics.ts'
import { readFigures, type Figures } from './figures.store.ts'
import { statusProblemCodes } from '@pharos/contract/operator/status'
import { readStatus, type StatusConfig } from './status.ts'

/** A second scrape within this time returns the figures of the first. */
const freshMs = 1_000

/** Problems are counted at most once in this time: that reads more than the figures. */
const problemsFreshMs = 10_000

/** Registers the metrics of the installation, which are read from the database. */
export function watchInstallation(metrics: Metrics, db: Db, config: StatusConfig): void {
  // The registry collects all of them in one scrape; they share one read.
  const readAgain = atMostEvery(freshMs, () => read(metrics, db))
  readOnCollect(metrics.postgresUp, readAgain)
  for (const gauge of gaugesOf(metrics)) readOnCollect(gauge, readAgain)
  readOnCollect(
    metrics.problems,
    atMostEvery(problemsFreshMs, () => countProblems(metrics, db, config)),
  )
}

function atMostEvery(ms: number, work: () => Promise<void>): () => Promise<void> {
  let working: Promise<void> = Promise.resolve()
  let startedAt = -Infinity
  return () => {
    const now = performance.now()
    if (now - startedAt >= ms) {
      startedAt = now
      working = work()
    }
    return working
  }
}

async function countProblems({ problems }: Metrics, db: Db, config: StatusConfig): Promise<void> {
  const status = await readStatus(db, config).catch(() => undefined)
  problems.reset()
  if (!status) return
  for (const code of statusProblemCodes) problems.set({ code }, 0)
  for (const { code } of status.problems) problems.inc({ code })
}

function gaugesOf(metrics: Metrics) {
  const { regionChecked, regionOk, routerUp, regionNeighbors, connections, visibilityUp } = metrics
  return [
    ...plainGaugesOf(metrics),
    regionChecked,
    regionOk,
    metrics.approvalsOpen,
    routerUp,
    regionNeighbors,
    connections,
    visibilityUp,
    metrics.routesMissing,
    metrics.announcementsUnseen,
    metrics.formerRouters,
    metrics.formerRouterRoutes,
    metrics.formerRouterSeconds,
    metrics.nameServerUp,
    metrics.flowCounterRatio,
    metrics.identityProviderProblems,
  ]
}

/** Gauges without labels. */
function plainGaugesOf(metrics: Metrics) {
  const { deliveriesWaiting, deliveryWaitSeconds, mailsWaiting, mailWaitSeconds } = metrics
  return [
    deliveriesWaiting,
    deliveryWaitSeconds,
    mailsWaiting,
    mailWaitSeconds,
    metrics.webhookDeliveriesWaiting,
    metrics.restoreOpen,
    metrics.dnsAliasesFailing,
    metrics.dnsSignaturesExpire,
  ]
}

async function read(metrics: Metrics, db: Db): Promise<void> {
  const figures = await readFigures(db).catch(() => undefined)
  // Values from before the database failed must not be shown as current.
  for (const gauge of gaugesOf(metrics)) gauge.reset()
  metrics.postgresUp.set(figures ? 1 : 0)
  if (figures) show(metrics, figures)
  // A gauge without labels is 0 after its reset, which would look like a measured value.
  else for (const gauge of plainGaugesOf(metrics)) gauge.remove()
}

function show(
  metrics: Metrics,
  {
    deliveries,
    mails,
    webhooks,
    regions,
    routers,
    approvals,
    dns,
    visibility,
    unseen,
    providers,
    counterRatios,
    connections,
  }: Figures,
): void {
  metrics.deliveriesWaiting.set(deliveries.waiting)
  metrics.deliveryWaitSeconds.set(deliveries.oldest_seconds)
  metrics.mailsWaiting.set(mails.waiting)
  metrics.mailWaitSeconds.set(mails.oldest_seconds)
  metrics.webhookDeliveriesWaiting.set(webhooks.waiting)
  for (const { slug: region, last_check, last_check_result, routes_missing, formers } of regions) {
    if (last_check !== null) metrics.regionChecked.set({ region }, last_check.getTime() / 1000)
    if (last_check_result !== null) metrics.regionOk.set({ region }, last_check_result ? 1 : 0)
    metrics.routesMissing.set({ region }, routes_missing)
    metrics.formerRouters.set({ region }, formers.count)
    metrics.formerRouterRoutes.set({ region }, formers.routes)
    metrics.formerRouterSeconds.set({ region }, formers.oldest_seconds)
  }
  for (const { region, router, up, neighbors } of routers) {
    if (up === null) continue
    metrics.routerUp.set({ region, router }, up ? 1 : 0)
    if (neighbors !== null) metrics.regionNeighbors.set({ region, router }, neighbors)
  }
  for (const [problem, count] of Object.entries(providers))
    metrics.identityProviderProblems.set({ problem }, count)
  metrics.restoreOpen.set(dns.restores)
  for (const { area, subject, count } of approvals) metrics.approvalsOpen.set({ area, subject }, count)
  metrics.dnsAliasesFailing.set(dns.aliases_failing)
  if (dns.signatures_expire === null) metrics.dnsSignaturesExpire.remove()
  else metrics.dnsSignaturesExpire.set(dns.signatures_expire)
  for (const { name, up } of dns.servers)
    if (up !== null) metrics.nameServerUp.set({ server: name.slice(0, -1) }, up ? 1 : 0)
  for (const { source, up } of visibility) metrics.visibilityUp.set({ source }, up ? 1 : 0)
  for (const reason of ['not_visible', 'other_path'] as const)
    metrics.announcementsUnseen.set({ reason }, unseen[reason])
  for (const { exporter, port, ratio } of counterRatios)
    metrics.flowCounterRatio.set({ exporter, port }, ratio)
  for (const { use, state, count } of connections) metrics.connections.set({ use, state }, count)
}
