// The operator's policy for an announced prefix whose checks keep failing: report it (default), or suspend it. A suspension
// is applied like every withdrawal, by the reconciler behind its guard.
import { writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { isFailing } from './validation.ts'
import { lockUndecided, type CheckEvaluation, type Subject } from './validation.store.ts'

export type Policy = {
  readonly onLoss: 'warn' | 'suspend'
  /** Hours for which a check must have failed before the announcement is suspended. */
  readonly graceHours: number
}

/** Suspends the announcement for failing checks, or resumes it; the caller writes the audit log and wakes the reconciler. */
export type Suspend = (
  trx: Trx,
  subject: Pick<Subject, 'teamId' | 'id'>,
  isSuspended: boolean,
  now: Date,
) => Promise<unknown>

/** Suspends announcements whose checks have failed for too long, and resumes them once all checks pass. */
export async function applyPolicy(
  { db, policy, suspend }: { readonly db: Db; readonly policy: Policy; readonly suspend: Suspend },
  subjects: readonly Subject[],
  evaluations: readonly CheckEvaluation[],
  now: Date,
): Promise<void> {
  if (policy.onLoss === 'warn') return
  const found = new Map(evaluations.map((evaluation) => [evaluation.subject.id, evaluation]))
  for (const subject of subjects) {
    const isSuspended = decide(policy, subject, found.get(subject.id), now)
    if (isSuspended === undefined) continue
    await db.transaction().execute(async (trx) => {
      // Staff or the team may have decided since the announcement was read, which is before the registries were queried.
      if (!(await lockUndecided(trx, subject))) return
      await suspend(trx, subject, isSuspended, now)
      await writeAudit(trx, {
        teamId: subject.teamId,
        actor: 'pharos',
        action: isSuspended ? 'announcement.suspend' : 'announcement.resume',
        target: `announcement:${subject.id}`,
        after: { by: 'validation' },
      })
      await wake(trx, 'announcements')
    })
  }
}

/**
 * Returns true to suspend, false to resume, undefined for no change. Only staff resume announcements that staff
 * suspended.
 */
function decide(
  policy: Policy,
  subject: Subject,
  evaluation: CheckEvaluation | undefined,
  now: Date,
): boolean | undefined {
  const clearance = evaluation?.clearance ?? subject.clearance
  if (subject.suspendedBy !== null)
    return subject.suspendedBy === 'validation' && clearance === 'passed' ? false : undefined
  if (!subject.enabled || clearance === 'passed') return undefined
  const graceEnds = now.getTime() - policy.graceHours * 3_600_000
  const evaluated = new Map(evaluation?.checks.map((check) => [check.name, check]))
  const failing = subject.checks.filter(
    (check) => isFailing(check) && isFailing(evaluated.get(check.name) ?? check),
  )
  return failing.some(({ since }) => since.getTime() <= graceEnds) ? true : undefined
}
