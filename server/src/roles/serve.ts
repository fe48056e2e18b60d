// One process with one or more roles: opens the shared parts first, then the parts of each role, in this order; they
// stop in the reverse order. This is the only place that decides which parts run in which role.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { ListenAddress } from '../flow/datagram-source.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import type { Postgres } from '../db/postgres.ts'
import { openPostgres } from '../db/postgres.ts'
import { createWaker } from '../db/wake.ts'
import { startComponents, type Component, type Running } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { listenBySetting } from '../runtime/listen-problem.ts'
import type { Log } from '../runtime/log.ts'
import { collectProcessMetrics, createMetrics } from '../runtime/metrics.ts'
import { SigningKeys } from '../session/signing-keys.ts'
import { createApi } from './api.ts'
import { asnProofsPart } from './asn-proofs.ts'
import { auditPart } from './audit.ts'
import { collectorParts } from './collector.ts'
import { domainsPart } from './domains.ts'
import { watchInstallation } from './figures.ts'
import { openFlowStore } from './flow-store.ts'
import { createFlows } from './flows.ts'
import { dnsPublishParts } from './dns-publish.ts'
import { dnssecParts } from './dnssec.ts'
import { createHealthServer } from './http.ts'
import { mailPart } from './mail.ts'
import { approvalAlertsPart } from './approvals.ts'
import { netboxParts } from './netbox.ts'
import { notificationsPart } from './notifications.ts'
import { maintenancePart } from './maintenance.ts'
import { createNameserver } from './nameserver.ts'
import { processReportPart, type Role } from './process-report.ts'
import { reconcilerParts } from './reconciler.ts'
import { createRegistryViews } from './registries.ts'
import { createRestoreGate } from './restore.ts'
import type { Shared } from './shared.ts'
import { reportsParts } from './reports.ts'
import { blackholePart } from './blackholes.ts'
import { shieldParts } from './shield.ts'
import { visibilityParts } from './visibility.ts'

export type { Role } from './process-report.ts'
export const allRoles: readonly Role[] = ['api', 'reconciler', 'collector', 'nameserver']

export type Serving = Running & {
  /** Reports that it is not ready, and resolves when load balancers have had the time to notice; or at once, without that time. */
  drain(): Promise<void>
  /** The URL at which it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string | undefined
  /** The address and port at which it answers DNS, such as `127.0.0.1:8053`. */
  readonly dns: string | undefined
  /** The addresses at which it receives flows, in the order of netflow_listen and sflow_listen. */
  readonly flows: () => readonly ListenAddress[]
  readonly flowStore: FlowStore
}

/** Starts the roles; if one cannot start, stops all of them and throws. `postgres` may be passed already open. */
export async function runRole(
  config: Config,
  roles: readonly Role[],
  log: Log,
  postgres?: Postgres,
): Promise<Serving> {
  const open = postgres ?? (await openDatabase(config, log))
  const metrics = createMetrics()
  const draining = new AbortController()
  const views = createRegistryViews(config, log, metrics)
  const flowStore = openFlowStore(config, roles, { log, metrics })
  const gate = createRestoreGate(config, open, log, metrics)
  const shared: Shared = {
    config,
    postgres: open,
    waker: createWaker(open),
    log,
    metrics,
    draining: draining.signal,
    ...views,
    flowStore: flowStore.store,
    gate,
  }
  collectProcessMetrics(shared.metrics)
  watchInstallation(shared.metrics, open.owner, config)
  const nameserver = createNameserver(shared)
  const flows = createFlows(shared)
  const http = httpParts(shared, roles.includes('api'))
  const running = await startComponents(
    [
      { name: 'postgresql', stop: () => open.stop() },
      // Before everything that sends.
      gate,
      flowStore.part,
      { name: 'waker', start: () => shared.waker.start(), stop: () => shared.waker.stop() },
      ...(roles.some((role) => role === 'api' || role === 'reconciler') ? [views.rpki, views.irr] : []),
      ...(roles.includes('reconciler')
        ? [
            maintenancePart(shared),
            auditPart(shared),
            asnProofsPart(shared),
            domainsPart(shared),
            mailPart(shared),
            ...reconcilerParts(shared),
            ...visibilityParts(shared),
            ...dnsPublishParts(shared, nameserver.applyStep),
            ...dnssecParts(shared),
            ...shieldParts(shared),
            blackholePart(shared),
            approvalAlertsPart(shared),
            notificationsPart(shared),
            ...netboxParts(shared),
          ]
        : []),
      ...(roles.includes('collector')
        ? [...collectorParts(shared), ...reportsParts(shared), ...flows.parts]
        : []),
      ...(roles.includes('nameserver') ? [nameserver.part] : []),
      ...http.parts,
      processReportPart(shared, roles, () => flowStore.store.report()),
    ],
    { log, stopTimeoutMs: config.shutdownTimeoutSeconds * 1000 },
  )
  return {
    ...running,
    async drain() {
      draining.abort()
      await sleep(config.drainSeconds * 1000)
    },
    url: http.url(),
    dns: nameserver.address(),
    flows: flows.addresses,
    flowStore: flowStore.store,
  }
}

/** A server takes over an embedded PostgreSQL that a command runs; a command never that of a server. */
export function openDatabase(
  config: Config,
  log: Log,
  { takesOver } = { takesOver: true },
): Promise<Postgres> {
  return openPostgres({
    databaseUrl: config.databaseUrl ?? undefined,
    dataDir: config.dataDir,
    takesOver,
    teamConnections: config.databasePoolSize,
    log: (message) => log.info(message),
  })
}

/** The api role serves all its operations; a process without it serves its health at the same address. */
function httpParts(shared: Shared, isApi: boolean): { parts: Component[]; url: () => string | undefined } {
  const { postgres, config, log } = shared
  const signingKeys = new SigningKeys(postgres.front, config.secret, (error) =>
    log.warn({ err: error }, 'signing keys not reloaded'),
  )
  const keysPart = { name: 'signing keys', start: () => signingKeys.start(), stop: () => signingKeys.stop() }
  const listening = listenPart(
    isApi ? createApi({ ...shared, signingKeys }) : createHealthServer(shared),
    config,
  )
  return { parts: [...(isApi ? [keysPart] : []), listening.part], url: listening.url }
}

function listenPart(server: FastifyInstance, { host, port }: Config) {
  let url: string | undefined
  const part: Component = {
    name: 'http',
    start: async () => {
      const options = { host, port, listenTextResolver: () => 'listening' }
      url = await listenBySetting('port', () => server.listen(options))
    },
    stop: () => server.close(),
  }
  return { part, url: () => url }
}
