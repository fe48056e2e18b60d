// The validator's runs: which announcements are checked and in which order, and the policy for checks that keep failing. A run
// reads, evaluates and saves the differences, and keeps no state; the next run is the retry.
import type { Db } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { findOut, soughtKinds, type FindOutDeps, type LetterVerdicts } from './find-out.ts'
import { applyPolicy, type Policy } from './validation-policy.ts'
import {
  readSubjectsAfter,
  readSubjectsDue,
  readSubjectsDueForProof,
  readSubjectsInside,
  saveFindings,
  type Finding,
  type Subject,
} from './validation.store.ts'

export type ValidateDeps = FindOutDeps & {
  readonly db: Db
  readonly readLetters: (db: Db, announcementIds: readonly number[]) => Promise<LetterVerdicts>
  readonly policy: Policy
  readonly now: () => Date
}

export type ValidationReport = {
  judged: number
  /** Announcements with a check that changed from valid to another state. */
  lost: number
  passed: number
  changed: number
}

/** Announcements that are evaluated and saved together. */
const atOnce = 500

/** Announcements whose proofs are queried in one run: a registry that does not answer takes seconds for each. */
const proofsAtOnce = 128

/** Evaluates every announcement, the oldest first. */
export async function validateAll(deps: ValidateDeps, signal?: AbortSignal): Promise<ValidationReport> {
  return judgeEach(deps, signal, (after) => readSubjectsAfter(deps.db, after, atOnce))
}

/** Evaluates the announcements that a change of these prefixes affects. */
export async function validateTouched(
  deps: ValidateDeps,
  prefixes: readonly Prefix[],
  signal?: AbortSignal,
): Promise<ValidationReport> {
  return judgeEach(deps, signal, (after) => readSubjectsInside(deps.db, prefixes, after, atOnce))
}

/** Queries the routing registries and the proofs that are due. */
export async function validateDue(deps: ValidateDeps, signal?: AbortSignal): Promise<ValidationReport> {
  const report = noReport()
  await judge(deps, await readSubjectsDue(deps.db, deps.now(), atOnce), report, signal)
  const kinds = soughtKinds(deps.authorization)
  if (kinds.length > 0)
    await judge(deps, await readSubjectsDueForProof(deps.db, kinds, deps.now(), proofsAtOnce), report, signal)
  return report
}

async function judgeEach(
  deps: ValidateDeps,
  signal: AbortSignal | undefined,
  read: (after: number) => Promise<readonly Subject[]>,
): Promise<ValidationReport> {
  const report = noReport()
  for (let after = 0; ;) {
    const subjects = await read(after)
    await judge(deps, subjects, report, signal)
    if (subjects.length < atOnce || signal?.aborted) break
    after = subjects.at(-1)!.id
  }
  return report
}

const noReport = (): ValidationReport => ({ judged: 0, lost: 0, passed: 0, changed: 0 })

async function judge(
  deps: ValidateDeps,
  subjects: readonly Subject[],
  report: ValidationReport,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (subjects.length === 0) return
  const { db } = deps
  const letters = await deps.readLetters(
    db,
    subjects.map(({ id }) => id),
  )
  const findings = await findOut(deps, subjects, letters, deps.now(), signal)
  report.judged += subjects.length
  for (const finding of findings) count(finding, report)
  if (findings.length > 0) {
    await db.transaction().execute((trx) => saveFindings(trx, findings))
  }
  await applyPolicy(db, deps.policy, subjects, findings, deps.now())
}

function count({ subject, checks, clearance }: Finding, report: ValidationReport): void {
  const before = new Map(subject.checks.map(({ name, state }) => [name, state]))
  if (checks.some(({ name, state }) => state !== before.get(name))) report.changed++
  if (checks.some(({ name, state }) => state !== 'valid' && before.get(name) === 'valid')) report.lost++
  if (clearance === 'passed' && subject.clearance !== 'passed') report.passed++
}
