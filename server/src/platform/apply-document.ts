// A platform document over HTTP: the planner and the transaction of `pharos apply`. It must not read files, and takes no secrets:
// a digest of the body is stored for its Idempotency-Key.
import type { applyPlatformRoute, PlatformPlan } from '@pharos/contract/operator/platform'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { auditOf } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { StaffOperation } from '../operation/operation.ts'
import { errorAt, fail, failWith } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import {
  applyLocked,
  lockPlatform,
  PlanOutdated,
  preparePlatform,
  type ApplyAuthor,
  type Prepared,
} from './engine/apply.ts'
import { requireApproved } from './approved-deletions.ts'
import { documentOf } from './engine/document.ts'
import { isOfMachine } from './engine/element.ts'
import { evidenceOfHeld } from './engine/guard.ts'
import { platformKinds } from './kinds/index.ts'
import { planAsData } from './engine/print.ts'
import { PlatformError, type Path } from './engine/problem.ts'

export type ApplyDeps = { readonly db: Db; readonly ring: KeyRing }

export function applyDocument(
  { db, ring }: ApplyDeps,
  operation: StaffOperation,
  body: BodyOf<typeof applyPlatformRoute>,
  { prune = false, ...approved }: QueryOf<typeof applyPlatformRoute>,
): Promise<ChangeAnswer<PlatformPlan>> {
  const refused = findRefused(body)
  if (refused.length > 0) throw failWith('invalid', refused.slice(0, errorsMax))
  const options = { prune, enforce: false }
  return runOwnerChange(db, operation, async (trx) => {
    await lockPlatform(trx)
    const document = documentOf('body', body)
    const prepared = await preparePlatform(
      platformKinds,
      trx,
      document,
      { ring, readText: noFiles },
      options,
    ).catch(explain)
    if (!operation.dryRun) requireApproved(prepared, approved)
    await applyAs(trx, prepared, authorOf(operation)).catch(explain)
    return { body: presentPlan(prepared, !operation.dryRun) }
  })
}

/** A document over HTTP names no files. */
export const noFiles = (): never => {
  throw fail('internal', 'unexpected')
}

export function authorOf(operation: StaffOperation): ApplyAuthor {
  const { teamId: _, ...author } = auditOf(operation)
  return author
}

/** At the time of the transaction: an assignment of a port that begins later would not be read back in it. */
export async function applyAs(trx: Trx, prepared: Prepared, author: ApplyAuthor): Promise<void> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(trx)
  await applyLocked(platformKinds, trx, prepared, rows[0]!.now, author)
}

const errorsMax = 100

function explain(error: unknown): never {
  throw documentFailure(error, (path) => path)
}

/** The answer for a document that is not accepted; `placeOf` returns the place in the body for a path of the document. */
export function documentFailure(error: unknown, placeOf: (path: Path) => Path): unknown {
  if (error instanceof PlanOutdated) return fail('conflict', 'planOutdated')
  if (!(error instanceof PlatformError)) return error
  return failWith(
    'invalid',
    error.problems
      .slice(0, errorsMax)
      .map(({ path, message }) => errorAt(['body', ...placeOf(path)], 'document', { problem: message })),
  )
}

/** Returns an error for each part that is not accepted over HTTP, at any depth: settings of drivers name files too. */
function findRefused(body: Readonly<Record<string, unknown>>): ProblemError[] {
  return Object.entries(body).flatMap(([section, elements]) => {
    if (section === 'users') return [errorAt(['body', section], 'usersInDocument')]
    const names = secretNamesOf(section)
    return findFields(elements, [section], (name) => names.has(name) || isOfMachine(name)).map((path) =>
      errorAt(['body', ...path], 'secretInDocument'),
    )
  })
}

function secretNamesOf(section: string): ReadonlySet<string> {
  const fields = platformKinds.kinds
    .filter((kind) => kind.section === section)
    .flatMap((kind) => Object.values(kind.fields))
  return new Set(
    fields.flatMap(({ secret }) => (secret ? [secret.name, ...(secret.alternatives ?? [])] : [])),
  )
}

/** The depth of JSON is limited when it is parsed. */
export function findFields(value: unknown, path: Path, isWanted: (name: string) => boolean): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => {
    const at = [...path, Array.isArray(value) ? Number(name) : name]
    return !Array.isArray(value) && isWanted(name) ? [at] : findFields(part, at, isWanted)
  })
}

export function presentPlan({ plan, held }: Prepared, applied: boolean): PlatformPlan {
  const { changes, unchanged, notices } = planAsData(platformKinds, plan)
  return {
    applied,
    changes: changes.map(({ action, kind, key, fields = {}, changes: changed }) => ({
      action,
      kind,
      key,
      fields: changed
        ? changed.map(({ field, before = null, after = null }) => ({ field: field!, before, after }))
        : Object.entries(fields).map(([field, after]) => ({ field, before: null, after })),
    })),
    unchanged: Object.values(unchanged).reduce((sum, count) => sum + count, 0),
    notices: [...notices],
    held: held.map(({ kind, deletions, limit }) => ({ kind, deletions, limit })),
    evidence: held.length === 0 ? null : evidenceOfHeld(held),
  }
}
