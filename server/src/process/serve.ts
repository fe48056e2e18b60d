// One process with one or more roles: opens the shared parts first, then the parts of each role, in the order of the
// modules; they stop in the reverse order. A module's parts.ts decides which parts run in which role.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import * as alert from '../alert/parts.ts'
import * as audit from '../audit/parts.ts'
import * as byoip from '../byoip/parts.ts'
import * as collector from '../collector/parts.ts'
import * as db from '../db/parts.ts'
import type { Postgres } from '../db/postgres.ts'
import { openPostgres } from '../db/postgres.ts'
import { createWaker } from '../db/wake.ts'
import * as dns from '../dns/parts.ts'
import * as events from '../events/parts.ts'
import type { ListenAddress } from '../flow/datagram-source.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import { openFlowStore } from '../flow/parts.ts'
import * as approval from '../approval/parts.ts'
import * as inventory from '../inventory/parts.ts'
import * as mail from '../mail/parts.ts'
import * as notification from '../notification/parts.ts'
import * as platform from '../platform/parts.ts'
import { createRegistryViews } from '../registry/parts.ts'
import * as report from '../report/parts.ts'
import * as setup from '../setup/parts.ts'
import { createRestoreGate } from '../restore/parts.ts'
import { startComponents, type Component, type Running } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { listenBySetting } from '../runtime/listen-problem.ts'
import type { Log } from '../runtime/log.ts'
import { collectProcessMetrics, createMetrics } from '../runtime/metrics.ts'
import { allRoles, type Role } from '../runtime/role.ts'
import { SigningKeys } from '../session/signing-keys.ts'
import * as shield from '../shield/parts.ts'
import { watchInstallation } from '../status/figures.ts'
import { createProcessReport } from '../status/process-report.ts'
import * as team from '../team/parts.ts'
import * as webhook from '../webhook/parts.ts'
import { createApi } from './api.ts'
import { createHealthServer } from './http.ts'
import { createShared, type Parts, type Shared } from './shared.ts'

export type Serving = Running & {
  /** Reports that it is not ready, and resolves after the drain time for load balancers; immediately if it is 0. */
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
  const shared = createShared({
    config,
    postgres: open,
    waker: createWaker(open),
    log,
    metrics,
    draining: draining.signal,
    ...views,
    flowStore: flowStore.store,
    gate,
  })
  collectProcessMetrics(shared.metrics)
  watchInstallation(shared.metrics, open.owner, config)
  const { zones, flows, modules } = createModules(shared)
  const http = httpParts(shared, roles.includes('api'))
  const running = await startComponents(
    [
      { name: 'postgresql', stop: () => open.stop() },
      // Before all sending parts.
      gate,
      flowStore.part,
      { name: 'waker', start: () => shared.waker.start(), stop: () => shared.waker.stop() },
      ...(roles.some((role) => role === 'api' || role === 'reconciler') ? [views.rpki, views.irr] : []),
      ...allRoles
        .filter((role) => roles.includes(role))
        .flatMap((role) => modules.flatMap((module) => module[role]?.() ?? [])),
      ...http.parts,
      createProcessReport({ ...shared, roles, readFlowStore: () => flowStore.store.report() }),
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
    dns: zones.address(),
    flows: flows.addresses,
    flowStore: flowStore.store,
  }
}

/** The modules, in the order in which their parts start. */
function createModules(shared: Shared) {
  const zones = dns.parts(shared)
  const flows = collector.parts(shared)
  const modules: readonly Parts[] = [
    db.parts(shared),
    audit.parts(shared),
    inventory.parts(shared),
    team.parts(shared),
    mail.parts(shared),
    byoip.parts(shared),
    zones,
    shield.parts(shared),
    approval.parts(shared),
    alert.parts(shared),
    notification.parts(shared),
    platform.parts(shared),
    events.parts(shared),
    webhook.parts(shared),
    report.parts(shared),
    setup.parts(shared),
    flows,
  ]
  return { zones, flows, modules }
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
  const { front, ring, config, log } = shared
  const signingKeys = new SigningKeys(front, ring, (error) =>
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
