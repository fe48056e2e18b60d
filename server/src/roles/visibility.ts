// Wires the visibility monitor: a part of the reconciler role, if a source is configured.
import { createVisibilityMonitor } from '../byoip/visibility/visibility-monitor.ts'
import { visibilityDrivers } from '../drivers/visibility-sources.ts'
import type { Component } from '../runtime/component.ts'
import { fromSetting } from './config-error.ts'
import type { Shared } from './shared.ts'

/** Returns no part without a source: nothing is connected to, and nothing is stored. */
export function visibilityParts(shared: Shared): Component[] {
  const { config, log } = shared
  const ourAsn = config.providerAsn
  const sources = fromSetting('visibility_sources', () =>
    visibilityDrivers.createAll(config.visibilitySources, { log, ourAsn, now: () => new Date() }),
  )
  if (sources.length === 0) return []
  const now = () => new Date()
  return [createVisibilityMonitor({ ...shared, sources, ourAsn, now })]
}
