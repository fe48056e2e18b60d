// What this process sees of the registries: one view of the RPKI and one of the IRR, shared by its roles. Each process that
// needs them has its own, since a view is a cache and never the truth.
import { createIrr, type Irr } from '../byoip/irr.ts'
import { createRpki, type Rpki } from '../byoip/rpki.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { createIrrSource } from './irr-sources.ts'
import { createVrpSources } from './registries.ts'

/** Inert until started; without sources in the configuration every answer is `unavailable`. Throws on a bad URL. */
export function createRegistryViews(
  config: Config,
  log: Log,
  metrics: Metrics,
): { readonly rpki: Rpki; readonly irr: Irr } {
  return {
    rpki: createRpki({ sources: createVrpSources(config.rpkiSources, { log }), log }),
    irr: createIrr({ sources: config.irrSources.map(createIrrSource), log, metrics }),
  }
}
