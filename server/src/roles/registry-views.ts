// What this process sees of the registries: one view of the RPKI and one of the IRR, shared by its roles. Each process that
// needs them has its own, since a view is a cache and never the truth.
import { createIrr, type Irr } from '../byoip/irr.ts'
import { createRpki, type Rpki } from '../byoip/rpki.ts'
import { ConfigError, type Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { createIrrSource } from './irr-sources.ts'
import { createVrpSources } from './registries.ts'

/** Inert until started; without sources in the configuration every answer is `unavailable`. Throws ConfigError on a bad URL. */
export function createRegistryViews(
  config: Config,
  log: Log,
  metrics: Metrics,
): { readonly rpki: Rpki; readonly irr: Irr } {
  const vrpSources = told('rpki_sources', () => createVrpSources(config.rpkiSources, { log }))
  const irrSources = told('irr_sources', () => config.irrSources.map(createIrrSource))
  return {
    rpki: createRpki({ sources: vrpSources, log }),
    irr: createIrr({ sources: irrSources, log, metrics }),
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
