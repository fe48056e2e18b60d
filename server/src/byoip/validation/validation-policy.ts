// What the operator wants to happen when an announced prefix fails its checks and goes on failing. By default nothing but
// words; a suspension goes the way of every withdrawal, through the reconciler and its guard.
import { writeAudit } from '../../db/audit.ts'
import type { Db } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { setSuspended } from '../announcement/suspend-announcement.ts'
import { isFailing } from './validation.ts'
import type { Finding, Subject } from './validation.store.ts'

export type Policy = {
  readonly onLoss: 'warn' | 'suspend'
  /** How long a check has failed before the announcement is suspended. */
  readonly graceHours: number
}

/** The reason that stands at an announcement which the policy suspended, and by which it may resume it. */
const policyReason = 'validation'

export async function applyPolicy(
  db: Db,
  policy: Policy,
  subjects: readonly Subject[],
  findings: readonly Finding[],
  now: Date,
): Promise<void> {
  if (policy.onLoss === 'warn') return
  const found = new Map(findings.map((finding) => [finding.subject.id, finding]))
  for (const subject of subjects) {
    const suspend = decide(policy, subject, found.get(subject.id), now)
    if (suspend === undefined) continue
    await db.transaction().execute(async (trx) => {
      const reason = suspend ? policyReason : null
      await setSuspended(trx, subject.teamId, subject.id, suspend, reason, now, 'validator')
      await writeAudit(trx, {
        teamId: subject.teamId,
        actor: 'pharos',
        action: suspend ? 'announcement.suspend' : 'announcement.resume',
        target: `announcement:${subject.id}`,
        after: { reason: policyReason },
      })
      await wake(trx, 'announcements')
    })
  }
}

/** True to suspend, false to resume, undefined to leave it. What staff suspended is theirs. */
function decide(
  policy: Policy,
  subject: Subject,
  finding: Finding | undefined,
  now: Date,
): boolean | undefined {
  const clearance = finding?.clearance ?? subject.clearance
  if (subject.suspended)
    return subject.suspendedReason === policyReason && clearance === 'passed' ? false : undefined
  if (!subject.enabled || clearance === 'passed') return undefined
  const graceEnds = now.getTime() - policy.graceHours * 3_600_000
  const judged = new Map(finding?.checks.map((check) => [check.name, check]))
  const failing = subject.checks.filter(
    (check) => isFailing(check) && isFailing(judged.get(check.name) ?? check),
  )
  return failing.some(({ since }) => since.getTime() <= graceEnds) ? true : undefined
}
