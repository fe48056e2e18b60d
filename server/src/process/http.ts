// The settings of every HTTP server of a process; and the server of a process without the api role, which serves only its
// health and its metrics.
import type { FastifyInstance } from 'fastify'
import { addHealth, type HealthDeps } from '../http/health.ts'
import { createHttpServer, type HttpDeps, type HttpObserver } from '../http/server.ts'
import { fail } from '../runtime/error.ts'
import { readOnCollect, type Metrics } from '../runtime/metrics.ts'
import type { Shared } from './shared.ts'

export function httpDeps({
  config,
  publicUrl,
  log,
  metrics,
  gate,
}: Shared): Omit<HttpDeps, 'credentials' | 'mounted'> {
  return {
    settings: {
      bodyLimitBytes: config.bodyLimitBytes,
      deliveryLimitBytes: config.deliveryLimitBytes,
      requestsInFlight: config.requestsInFlight,
      requestTimeoutMs: config.requestTimeoutSeconds * 1000,
      handlerTimeoutMs: config.handlerTimeoutSeconds * 1000,
      keepAliveTimeoutMs: config.keepAliveTimeoutSeconds * 1000,
      trustedProxies: config.trustedProxies,
      publicUrl,
      rate: { perSecond: config.rateLimitPerSecond, burst: config.rateLimitBurst },
      streams: {
        atOnce: config.streamsAtOnce,
        perTeam: config.streamsPerTeam,
        lifetimeMs: config.streamLifetimeSeconds * 1000,
      },
      deliveryRate: { perSecond: config.deliveryLimitPerSecond, burst: config.deliveryLimitPerSecond * 10 },
    },
    log,
    gate,
    observer: observerOf(metrics),
  }
}

export function healthDeps({ config, postgres, metrics, draining }: Shared): HealthDeps {
  return {
    draining,
    registry: metrics.registry,
    ping: () => postgres.ping(),
    operatorNetworks: config.operatorNetworks,
  }
}

/** Not listening yet. */
export function createHealthServer(shared: Shared): FastifyInstance {
  const server = createHttpServer({
    ...httpDeps(shared),
    credentials: { bearer: refuse, token: refuse },
    mounted: [],
  })
  addHealth(server, healthDeps(shared))
  return server
}

const refuse = () => Promise.reject(fail('unauthenticated', 'noApi'))

function observerOf(metrics: Metrics): HttpObserver {
  let inFlight = 0
  readOnCollect(metrics.httpInFlight, () => metrics.httpInFlight.set(inFlight))
  return {
    answered: (method, route, status, seconds) =>
      metrics.httpSeconds.observe({ method, route, status }, seconds),
    refused: (reason) => metrics.httpRefused.inc({ reason }),
    inFlight: (count) => {
      inFlight = count
    },
  }
}
