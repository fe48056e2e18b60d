// The reconciler role: what the routers announce is made to agree with what the teams asked for.
import { createReconcilers } from '../byoip/reconcilers.ts'
import type { Component } from '../runtime/component.ts'
import type { Shared } from './shared.ts'
import { createSpeaker, routeSettings } from './speakers.ts'

export function reconcilerParts({ config, postgres, waker, log, metrics }: Shared): Component[] {
  return [
    createReconcilers({
      postgres,
      waker,
      speakerOf: ({ slug, speaker }) => createSpeaker(slug, speaker),
      routesOf: ({ slug, speaker }) => routeSettings(slug, speaker),
      log,
      metrics,
      intervalMs: config.reconcileIntervalSeconds * 1000,
    }),
  ]
}
