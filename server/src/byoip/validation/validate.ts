// The validator's runs: which announcements are checked and in which order, and the policy for checks that keep failing. A run
// reads, evaluates and saves the differences, and keeps no state; the next run is the retry.
import type { Db } from '../../db/postgres.ts'
import { writeRows } from '../../db/write-rows.ts'
import type { Prefix } from '../../net/prefix.ts'
import { evaluateChecks, type EvaluateChecksDeps, type LetterVerdicts } from './evaluate-checks.ts'
import { queriedKinds } from './query-registries.ts'
import { applyPolicy, type Policy, type Suspend } from './validation-policy.ts'
import {
  readSubjectsAfter,
  readSubjectsDue,
  readSubjectsDueForProof,
  readSubjectsInside,
  readSubjectsRequested,
  saveEvaluations,
  type CheckEvaluation,
  type Subject,
} from './validation.store.ts'

export type ValidateDeps = EvaluateChecksDeps & {
  readonly db: Db
  readonly readLetters: (db: Db, announcementIds: readonly number[]) => Promise<LetterVerdicts>
  readonly policy: Policy
  readonly suspend: Suspend
  readonly now: () => Date
}

export type ValidationReport = {
  evaluated: number
  /** Announcements with a check that changed from valid to another state. */
  lost: number
  passed: number
  changed: number
  /** Announcements with a result that the database refuses: they keep the former result. */
  refused: number
}

/** Announcements that are evaluated and saved together. */
const batchSize = 500

/** Announcements whose proofs are queried in one run: a registry that does not answer takes seconds for each. */
const proofBatchSize = 128

/** Queries of one batch end after this time; three batches of a run stay below the limit of the run. */
const batchQueriesMs = 45_000

/** Evaluates every announcement, the oldest first. */
export async function validateAll(deps: ValidateDeps, signal?: AbortSignal): Promise<ValidationReport> {
  return evaluateEach(deps, signal, (after) => readSubjectsAfter(deps.db, after, batchSize))
}

/** Evaluates the announcements that a change of these prefixes affects. */
export async function validateTouched(
  deps: ValidateDeps,
  prefixes: readonly Prefix[],
  signal?: AbortSignal,
): Promise<ValidationReport> {
  return evaluateEach(deps, signal, (after) => readSubjectsInside(deps.db, prefixes, after, batchSize))
}

/** Queries the routing registries, and the proofs that were requested or are due. */
export async function validateDue(deps: ValidateDeps, signal?: AbortSignal): Promise<ValidationReport> {
  const report = noReport()
  await evaluateBatch(deps, await readSubjectsRequested(deps.db, batchSize), report, signal)
  await evaluateBatch(deps, await readSubjectsDue(deps.db, deps.now(), batchSize), report, signal)
  const kinds = queriedKinds(deps.authorization)
  if (kinds.length > 0)
    await evaluateBatch(
      deps,
      await readSubjectsDueForProof(deps.db, kinds, deps.now(), proofBatchSize),
      report,
      signal,
    )
  return report
}

async function evaluateEach(
  deps: ValidateDeps,
  signal: AbortSignal | undefined,
  read: (after: number) => Promise<readonly Subject[]>,
): Promise<ValidationReport> {
  const report = noReport()
  for (let after = 0; ;) {
    const subjects = await read(after)
    await evaluateBatch(deps, subjects, report, signal)
    if (subjects.length < batchSize || signal?.aborted) break
    after = subjects.at(-1)!.id
  }
  return report
}

const noReport = (): ValidationReport => ({
  evaluated: 0,
  lost: 0,
  passed: 0,
  changed: 0,
  refused: 0,
})

async function evaluateBatch(
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
  const evaluations = await evaluateChecks(deps, subjects, letters, deps.now(), queriesUntil(signal))
  report.evaluated += subjects.length
  for (const evaluation of evaluations) count(evaluation, report)
  const saved = new Set<number>()
  const refused = await db.transaction().execute((trx) =>
    writeRows(trx, evaluations, async (some) => {
      for (const id of await saveEvaluations(trx, some)) saved.add(id)
    }),
  )
  report.refused += refused.length
  const changed = new Set(evaluations.map(({ subject }) => subject.id).filter((id) => !saved.has(id)))
  const unchanged = subjects.filter(({ id }) => !changed.has(id))
  await applyPolicy(deps, unchanged, evaluations, deps.now())
  signal?.throwIfAborted()
}

function queriesUntil(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(batchQueriesMs)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

function count({ subject, checks, clearance }: CheckEvaluation, report: ValidationReport): void {
  const before = new Map(subject.checks.map(({ name, state }) => [name, state]))
  if (checks.some(({ name, state }) => state !== before.get(name))) report.changed++
  if (checks.some(({ name, state }) => state !== 'valid' && before.get(name) === 'valid')) report.lost++
  if (clearance === 'passed' && subject.clearance !== 'passed') report.passed++
}
