// What an installation needs before it serves customers, computed from its settings and its elements.
import type { SetupProgress, SetupStep, updateSetupProgressRoute } from '@pharos/contract/operator/setup'
import { setupSteps } from '@pharos/contract/operator/setup'
import type { BodyOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { StaffOperation } from '../operation/operation.ts'
import { findProgress, saveDismissed } from './setup.store.ts'

export type ProgressDeps = {
  readonly db: Db
  readonly publicUrl: string
  /** Whether a mail server is configured. */
  readonly sendsMail: boolean
}

export const getSetupProgress = (deps: ProgressDeps): Promise<SetupProgress> => readProgress(deps, deps.db)

async function readProgress({ publicUrl, sendsMail }: ProgressDeps, db: Db | Trx): Promise<SetupProgress> {
  const { dismissed, ...found } = await findProgress(db)
  const done: Readonly<Record<SetupStep, boolean>> = {
    ...found,
    public_url: publicUrl.startsWith('https://'),
    mail: sendsMail,
  }
  return {
    steps: setupSteps.map((step) => ({ step, done: done[step] })),
    dismissed,
  }
}

export const updateSetupProgress = (
  deps: ProgressDeps,
  operation: StaffOperation,
  { dismissed }: BodyOf<typeof updateSetupProgressRoute>,
): Promise<ChangeAnswer<SetupProgress>> =>
  runOwnerChange(deps.db, operation, async (trx) => {
    const before = await readProgress(deps, trx)
    await saveDismissed(trx, dismissed)
    const body = await readProgress(deps, trx)
    if (before.dismissed !== body.dismissed)
      await writeAudit(trx, {
        ...auditOf(operation),
        teamId: null,
        action: 'setup.update',
        target: 'setup',
        before: { dismissed: before.dismissed },
        after: { dismissed: body.dismissed },
      })
    return { before, body }
  })
