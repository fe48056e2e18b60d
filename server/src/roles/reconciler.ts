// The reconciler role: makes the routers announce what the teams have requested, and runs the checks of requested
// announcements against the registries.
import { join } from 'node:path'
import { readLetterVerdicts } from '../byoip/letter/letter.store.ts'
import { createHandedFiles } from '../byoip/regions/handed-routes.ts'
import { createLastKnownRoutesFiles } from '../byoip/regions/last-known-routes.ts'
import { createReconcilers } from '../byoip/regions/reconcilers.ts'
import { suspendByValidation } from '../byoip/announcement/suspend-announcement.ts'
import { createValidator } from '../byoip/validation/validator.ts'
import type { ReportDifferences } from '../byoip/regions/closed-run.ts'
import type { Db } from '../db/postgres.ts'
import { saveDifferences, saveProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import { authorizationDeps } from './registries.ts'
import type { Shared } from './shared.ts'
import { createSpeakers } from './speakers.ts'

export function reconcilerParts({
  config,
  postgres,
  waker,
  log,
  metrics,
  gate,
  rpki,
  irr,
}: Shared): Component[] {
  return [
    createValidator({
      postgres,
      waker,
      rpki,
      irr,
      readLetters: readLetterVerdicts,
      authorization: authorizationDeps(config),
      irrIntervalSeconds: config.irrRecheckSeconds,
      suspend: suspendByValidation,
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
      lastKnownRoutes: createLastKnownRoutesFiles(join(config.dataDir, 'reconciler'), config.secret),
      handedFiles: createHandedFiles(join(config.dataDir, 'agents'), config.secret),
      gate,
      report: reportRegion(postgres.owner),
      log,
      metrics,
      intervalMs: config.reconcileIntervalSeconds * 1000,
    }),
  ]
}

const reportRegion =
  (db: Db): ReportDifferences =>
  async ({ region: source, ...found }) => {
    if (found.problem !== null) return saveProblem(db, { area: 'routes', source, problem: found.problem })
    await saveDifferences(db, { area: 'blackholes', source, differences: found.blackholes })
    await saveDifferences(db, { area: 'routes', source, differences: found.routes })
  }
