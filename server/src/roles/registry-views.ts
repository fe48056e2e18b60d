// What this process sees of the registries: one view of the RPKI and one of the IRR, shared by its roles. Each process that
// needs them has its own, since a view is a cache and never the truth.
import { createIrr, type Irr } from '../registry/irr.ts'
import { createRpki, type Rpki } from '../registry/rpki.ts'
import { ConfigError, type Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import { readOnCollect, type Metrics } from '../runtime/metrics.ts'
import { createIrrSource } from '../drivers/irr/url.ts'
import { createVrpSources } from '../drivers/vrp-sources.ts'

/** Inert until started; without sources in the configuration every answer is `unavailable`. Throws ConfigError on a bad URL. */
export function createRegistryViews(
  config: Config,
  log: Log,
  metrics: Metrics,
): { readonly rpki: Rpki; readonly irr: Irr } {
  const confirmMs = config.registryConfirmSeconds * 1000
  const vrpSources = told('rpki_sources', () => createVrpSources(config.rpkiSources, { log, confirmMs }))
  const irrSources = told('irr_sources', () =>
    config.irrSources.map((url) => createIrrSource(url, confirmMs)),
  )
  const rpki = createRpki({ sources: vrpSources, log })
  const irr = createIrr({
    sources: irrSources,
    log,
    metrics,
    confirmSeconds: config.registryConfirmSeconds,
  })
  watchRegistries(metrics, rpki, irr)
  return { rpki, irr }
}

/** The gauges are read from the views whenever somebody asks, so that they cannot be stale. */
function watchRegistries(metrics: Metrics, rpki: Rpki, irr: Irr): void {
  readOnCollect(metrics.registryUp, () => {
    for (const { name: source, state } of rpki.status().sources)
      metrics.registryUp.set({ kind: 'rpki', source }, state === 'current' ? 1 : 0)
    for (const { name: source, error } of irr.status())
      metrics.registryUp.set({ kind: 'irr', source }, error === null ? 1 : 0)
  })
  readOnCollect(metrics.registrySuspicious, () => {
    for (const { name: source, suspicious } of rpki.status().sources)
      metrics.registrySuspicious.set({ kind: 'rpki', source }, suspicious ? 1 : 0)
    for (const { name: source, state } of irr.status())
      metrics.registrySuspicious.set({ kind: 'irr', source }, state === 'suspicious' ? 1 : 0)
  })
  readOnCollect(metrics.registryAnswered, () => {
    for (const { name: source, asOf } of rpki.status().sources) note({ kind: 'rpki', source }, asOf)
    for (const { name: source, lastAnswered } of irr.status()) note({ kind: 'irr', source }, lastAnswered)
  })
  readOnCollect(metrics.vrps, () => {
    for (const { name: source, vrps } of rpki.status().sources) metrics.vrps.set({ source }, vrps)
  })

  function note(labels: { kind: string; source: string }, at: Date | null): void {
    if (at !== null) metrics.registryAnswered.set(labels, at.getTime() / 1000)
  }
}

/** What is wrong with a URL is a mistake in the configuration, and told as one. */
function told<T>(setting: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new ConfigError([`${setting}: ${(error as Error).message}`])
  }
}
