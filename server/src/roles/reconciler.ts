// The reconciler role: makes the routers announce what the teams have requested, and runs the checks of requested
// announcements against the registries.
import { join } from 'node:path'
import { readLetterVerdicts } from '../byoip/letter/letter.store.ts'
import { createKeptPlans } from '../byoip/reconcile/kept-plan.ts'
import { createReconcilers } from '../byoip/reconcile/reconcilers.ts'
import { createValidator } from '../byoip/validation/validator.ts'
import type { Component } from '../runtime/component.ts'
import { authorizationDeps } from './registries.ts'
import type { Shared } from './shared.ts'
import { createSpeakers } from './speakers.ts'

export function reconcilerParts({ config, postgres, waker, log, metrics, rpki, irr }: Shared): Component[] {
  return [
    createValidator({
      postgres,
      waker,
      rpki,
      irr,
      readLetters: readLetterVerdicts,
      authorization: authorizationDeps(config),
      irrIntervalSeconds: config.irrRecheckSeconds,
      policy: {
        onLoss: config.onValidationLoss === 'suspend' ? 'suspend' : 'warn',
        graceHours: config.validationGraceHours,
      },
      now: () => new Date(),
      log,
      metrics,
    }),
    createReconcilers({
      postgres,
      waker,
      speakersOf: createSpeakers,
      keptPlans: createKeptPlans(join(config.dataDir, 'reconciler'), config.secret),
      log,
      metrics,
      intervalMs: config.reconcileIntervalSeconds * 1000,
    }),
  ]
}
