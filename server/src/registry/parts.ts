// Wires the registries: one view of the RPKI and one of the IRR, shared by the roles of the process. Each process has
// its own views, because a view is a cache.
import { irrDrivers } from '../drivers/irr-sources.ts'
import { vrpDrivers } from '../drivers/vrp-sources.ts'
import type { Config } from '../runtime/config.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import type { Log } from '../runtime/log.ts'
import { readOnCollect, type Metrics } from '../runtime/metrics.ts'
import { createIrr, type Irr } from './irr.ts'
import { createRpki, type Rpki } from './rpki.ts'

/** Creates the views, not started yet; without sources every answer is `unavailable`. Throws a ConfigError if a source is not valid. */
export function createRegistryViews(
  config: Config,
  log: Log,
  metrics: Metrics,
): { readonly rpki: Rpki; readonly irr: Irr } {
  const confirmMs = config.registryConfirmSeconds * 1000
  const vrpSources = fromSetting('rpki_sources', () =>
    vrpDrivers.createAll(config.rpkiSources, { log, confirmMs, now: () => new Date() }),
  )
  const irrSources = fromSetting('irr_sources', () => irrDrivers.createAll(config.irrSources, { confirmMs }))
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

/** Reads the gauges from the views at each scrape, so that they are never stale. */
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
