// From a platform document to a plan, and from a plan to the database: in one transaction that is read back before it is
// committed. It must not print or ask.
import { counted } from '@pharos/contract/counted'
import { sql } from 'kysely'
import { writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { checkPlatform } from './check.ts'
import { rowsByKey } from './define-kind.ts'
import type { PlatformDocument } from './document.ts'
import type {
  PlatformChange,
  Create,
  Current,
  ElementFieldChange,
  Fields,
  Kind,
  PlanOptions,
  Row,
} from './kind.ts'
import { canonical, planPlatform, type Desired, type ApplyPlan } from './plan.ts'
import { PlatformError, type Problem } from './problem.ts'
import { findHeldDeletions, type HeldDeletions } from './guard.ts'
import type { Registry } from './registry.ts'
import { readOwners, saveOwners, withoutOwner, withOwners } from './owners.ts'
import { resolveSecrets, type SecretDeps } from './secrets.ts'
import { readRows } from './table.store.ts'

/** A plan, and the inputs to apply exactly this plan. */
export type Prepared = {
  readonly document: PlatformDocument
  readonly plan: ApplyPlan
  readonly desired: Desired
  readonly options: PlanOptions
  /** Deletions that need approval because there are many. */
  readonly held: readonly HeldDeletions[]
}

/**
 * Checks the document and plans the changes. Throws a PlatformError with every problem of the document or, if it is
 * valid, of its plan.
 */
export async function preparePlatform(
  registry: Registry,
  db: Db | Trx,
  document: PlatformDocument,
  deps: SecretDeps,
  options: PlanOptions,
): Promise<Prepared> {
  const current = renameRows(registry, await readCurrent(registry, db), options)
  const { desired, secrets, ...checked } = checkPlatform(registry, document, current, options)
  const problems: Problem[] = [...checked.problems]
  const add = (path: Problem['path'], message: string) =>
    void problems.push(document.locate({ path, message }))
  const entries = await resolveSecrets(registry, desired.entries, secrets, current, deps, add)
  if (problems.length > 0) throw new PlatformError(document.name, problems)
  const resolved = { ...desired, entries }
  const plan = planPlatform(registry, resolved, current, options)
  await refuseObjections(registry, db, { document, desired: resolved }, plan.changes)
  const notices = checked.notices.map((notice) => new PlatformError(document.name, [notice]).message)
  return {
    document,
    plan: { ...plan, notices: [...notices, ...plan.notices] },
    desired: resolved,
    options,
    held: findHeldDeletions(registry, plan, resolved, current, options),
  }
}

/** Throws a PlatformError with every objection of the kinds to the changes. */
async function refuseObjections(
  { kinds }: Registry,
  db: Db | Trx,
  { document, desired }: Pick<Prepared, 'document' | 'desired'>,
  changes: readonly PlatformChange[],
): Promise<void> {
  const problems: Problem[] = []
  for (const kind of kinds) {
    const ofKind = changes.filter((change) => change.kind === kind.name)
    const updates = ofKind.filter((change) => change.action === 'update')
    const created = ofKind.filter((change) => change.action === 'create')
    if (!kind.objectionsTo || updates.length + created.length === 0) continue
    for (const { key, field, message } of await kind.objectionsTo(db, updates, created)) {
      const entry = desired.entries.find((one) => one.kind === kind.name && one.key === key)
      problems.push(document.locate({ path: entry ? [...entry.path, field] : [kind.section], message }))
    }
  }
  if (problems.length > 0) throw new PlatformError(document.name, problems)
}

/** Reads all rows of the kinds. They are consistent in a transaction with the lock of `applyPlatform`. */
export async function readCurrent({ kinds }: Pick<Registry, 'kinds'>, db: Db | Trx): Promise<Current> {
  const rows = new Map<string, ReadonlyMap<string, Row>>()
  const removed = new Set<string>()
  const owners = await readOwners(db, kinds)
  for (const kind of kinds) {
    const read = withOwners(await readRows(db, kind), owners)
    rows.set(kind.name, new Map(read.map((row) => [row.key, row])))
    for (const key of (await kind.readRemoved?.(db)) ?? []) removed.add(`${kind.name} ${key}`)
  }
  return { rows, removed }
}

/**
 * Renames the rows to the current keys of the source, so that a renamed element is an update instead of a deletion and
 * a creation. References follow.
 */
function renameRows({ kinds }: Registry, { rows, removed }: Current, { renamed }: PlanOptions): Current {
  if (!renamed || renamed.size === 0) return { rows, removed }
  const keyOf = (kind: string, key: string): string => renamed.get(`${kind} ${key}`) ?? key
  const valueOf = (kind: Kind, field: string, value: unknown): unknown => {
    const { reference } = kind.fields[field]!
    if (!reference || kind.identity.includes(field)) return value
    const target = reference.kind.name
    if (typeof value === 'string') return keyOf(target, value)
    return Array.isArray(value) ? value.map((one) => keyOf(target, String(one))) : value
  }
  const renamedRow = (kind: Kind, row: Row): Row => ({
    ...row,
    key: keyOf(kind.name, row.key),
    fields: Object.fromEntries(
      Object.entries(row.fields).map(([field, value]) => [field, valueOf(kind, field, value)]),
    ),
  })
  return {
    rows: new Map(
      kinds.map((kind) => [
        kind.name,
        new Map(
          [...rowsByKey({ rows, removed }, kind).values()]
            .map((row) => renamedRow(kind, row))
            .map((row) => [row.key, row]),
        ),
      ]),
    ),
    removed,
  }
}

/** The database was changed between the plan and its application. */
export class PlanOutdated extends Error {
  constructor() {
    super('The database was changed since the plan was made. Nothing was applied; run the command again.')
    this.name = 'PlanOutdated'
  }
}

/** Applies a plan in one transaction and wakes the loops concerned. Throws PlanOutdated if it would be another plan now. */
export async function applyPlatform(
  registry: Registry,
  db: Db,
  prepared: Prepared,
  now: Date,
  author: ApplyAuthor = { actor: 'operator' },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockPlatform(trx)
    await applyLocked(registry, trx, prepared, now, author)
  })
}

/** The author of the changes in the audit log. */
export type ApplyAuthor = Omit<AuditEntry, 'teamId' | 'action' | 'target' | 'before' | 'after'>

/** Prevents other applications of a plan until the end of the transaction. */
export async function lockPlatform(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('pharos apply', 0))`.execute(trx)
}

/** Like `applyPlatform`, in a transaction that has called `lockPlatform`. A plan without changes names the file as the manager. */
export async function applyLocked(
  registry: Registry,
  trx: Trx,
  prepared: Prepared,
  now: Date,
  author: ApplyAuthor,
): Promise<void> {
  const { document, plan, desired, options } = prepared
  const before = renameRows(registry, await readCurrent(registry, trx), options)
  const { changes } = planPlatform(registry, desired, before, options)
  if (contentOf(changes) !== contentOf(plan.changes)) throw new PlanOutdated()
  await refuseObjections(registry, trx, { document, desired }, changes)
  await applyChanges(registry, trx, changes, now)
  const after = await saveOwners(registry, trx, prepared, changes, await readCurrent(registry, trx))
  const { removals: _, ...remaining } = options
  verify(planPlatform(registry, desired, after, { ...remaining, prune: false }))
  await writeAudits(registry, trx, changes, before, after, author)
  for (const name of new Set(changes.map(({ kind }) => registry.get(kind).wakes)))
    if (name) await wake(trx, name)
}

/** A plan as text for comparison, without rows: loops write to them too. */
function contentOf(changes: readonly PlatformChange[]): string {
  return canonical(changes.map((change) => ({ ...change, row: null })))
}

/** Creates and updates kind by kind, then deletes, in the order of the plan. */
async function applyChanges(
  { kinds, get }: Registry,
  trx: Trx,
  changes: readonly PlatformChange[],
  now: Date,
): Promise<void> {
  for (const kind of kinds) await kind.prepare?.(trx, changes)
  for (const kind of kinds) {
    const changesOfKind = changes.filter((change) => change.kind === kind.name)
    const created = changesOfKind.filter((change): change is Create => change.action === 'create')
    if (created.length > 0) await kind.create(trx, created, now)
    for (const change of changesOfKind)
      if (change.action === 'update') await kind.update(trx, withoutOwner(kind, change), now)
  }
  for (const change of changes) if (change.action === 'delete') await get(change.kind).delete(trx, change.row)
}

/**
 * Throws if a change is still planned after all were applied, which is a bug, so that the transaction is rolled back.
 */
function verify({ changes }: ApplyPlan): void {
  const [first] = changes
  if (!first) return
  throw new Error(
    `after applying, ${counted(changes.length, 'change is', 'changes are')} still planned, first ${first.kind} ${first.key}`,
  )
}

const auditedAtOnce = 1000

async function writeAudits(
  registry: Registry,
  trx: Trx,
  changes: readonly PlatformChange[],
  before: Current,
  after: Current,
  author: ApplyAuthor,
): Promise<void> {
  const entries = changes.flatMap((change): AuditEntry[] => {
    const kind = registry.get(change.kind)
    const row = change.action === 'create' ? rowsByKey(after, kind).get(change.key)! : change.row
    const teamId = teamIdOf(kind, row, before, after)
    const entry = {
      ...author,
      action: `${change.kind}.${change.action}`,
      target: `${change.kind}:${row.id}`,
    }
    const states = statesOf(kind, change)
    const movedTo = change.action === 'update' ? rowsByKey(after, kind).get(change.key) : undefined
    const receiver = movedTo && teamIdOf(kind, movedTo, before, after)
    if (receiver === undefined || receiver === teamId) return [{ ...entry, teamId, ...states }]
    // Each team reads its own former or new state, but not the other team.
    return [
      { ...entry, teamId, before: states.before },
      { ...entry, teamId: receiver, after: states.after },
    ]
  })
  for (let at = 0; at < entries.length; at += auditedAtOnce)
    await writeAudit(trx, ...entries.slice(at, at + auditedAtOnce))
}

/** The team whose admins see the entry; null for kinds that only staff see. */
function teamIdOf(kind: Kind, row: Row, before: Current, after: Current): number | null {
  if (kind.name === 'team') return row.id as number
  const [field, target] =
    Object.entries(kind.fields).find(([, { reference }]) => reference?.kind.name === 'team') ?? []
  if (field === undefined) return null
  const { kind: team } = target!.reference!
  const key = row.fields[field] as string
  return (
    ((rowsByKey(after, team).get(key) ?? rowsByKey(before, team).get(key))?.id as number | undefined) ?? null
  )
}

function statesOf(kind: Kind, change: PlatformChange): { before?: Fields; after?: Fields } {
  const publicOf = (values: readonly (readonly [string, unknown])[]): Fields =>
    Object.fromEntries(values.filter(([name]) => !kind.fields[name]?.secret))
  const valuesOf = (changes: readonly ElementFieldChange[], side: 'before' | 'after') =>
    publicOf(changes.map((one) => [one.field, one[side]]))
  if (change.action === 'delete') return {}
  if (change.action === 'create') return { after: publicOf(Object.entries(change.fields)) }
  return { before: valuesOf(change.changes, 'before'), after: valuesOf(change.changes, 'after') }
}
