// `pharos apply`: from the text of the operator's file to a plan, and from an agreed plan to the database, in one
// transaction that is read back before it is committed. It prints nothing and asks nothing.
import { sql } from 'kysely'
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { applyChanges } from './apply.store.ts'
import { checkPlatform } from './check.ts'
import { resolveCredentials } from './credentials.ts'
import { readCurrent } from './current.store.ts'
import { readDocument } from './document.ts'
import { canonical, planPlatform, type Change, type Plan, type PlanOptions } from './plan.ts'
import type { Current, Desired } from './platform.ts'
import { PlatformError } from './problem.ts'

export type PlatformFile = {
  /** As it is named in messages. */
  readonly name: string
  readonly text: string
  /** The text of a file that this one names (`password_file`), relative to it. Throws when it cannot be read. */
  readonly readText: (path: string) => string
}

/** A plan that was made, and what is needed to carry out exactly this one. */
export type Prepared = { readonly plan: Plan; readonly desired: Desired; readonly options: PlanOptions }

/** Reads, checks and plans; changes nothing. Throws a PlatformError that names every mistake of the file. */
export async function preparePlatform(
  db: Db,
  file: PlatformFile,
  ring: KeyRing,
  options: PlanOptions,
): Promise<Prepared> {
  const current = await readCurrent(db)
  const document = readDocument(file.text)
  const checked = checkPlatform(document, current, options)
  const problems = [...checked.problems]
  const entries = await resolveCredentials(checked.desired.entries, checked.credentials, current, {
    ring,
    readText: file.readText,
    problem: (path, message) => void problems.push(document.problemAt(path, message)),
  })
  if (problems.length > 0) throw new PlatformError(file.name, problems)
  const desired = { ...checked.desired, entries }
  const plan = planPlatform(desired, current, options)
  const seen = checked.notices.map(
    ({ line, column, message }) => `${file.name}:${line}:${column}: ${message}`,
  )
  return { plan: { ...plan, notices: [...seen, ...plan.notices] }, desired, options }
}

/** The database was changed between the plan and its application. */
export class PlanOutdated extends Error {
  constructor() {
    super('the database was changed since the plan was made; nothing was applied, run the command again')
    this.name = 'PlanOutdated'
  }
}

/** Carries out a plan in one transaction and wakes who must know. Throws PlanOutdated when it would be another plan now. */
export async function applyPlatform(db: Db, { plan, desired, options }: Prepared, now: Date): Promise<void> {
  if (plan.changes.length === 0) return
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('pharos apply', 0))`.execute(trx)
    const before = await readCurrent(trx)
    if (canonical(planPlatform(desired, before, options).changes) !== canonical(plan.changes))
      throw new PlanOutdated()
    await applyChanges(trx, plan.changes, now)
    const after = await readCurrent(trx)
    verify(planPlatform(desired, after, { ...options, prune: false }))
    await audit(trx, plan.changes, before, after)
    if (plan.changes.some(({ kind }) => kind === 'announcement' || kind === 'region')) {
      await wake(trx, 'announcements')
    }
    if (plan.changes.some(({ kind }) => kind === 'asn')) await wake(trx, 'validations')
  })
}

/** What was written is read back: a change that is still to be made then is a mistake of ours, and is not committed. */
function verify({ changes }: Plan): void {
  const [first] = changes
  if (first === undefined) return
  throw new Error(
    `after applying, ${changes.length} changes were still to be made, first ${first.kind} ${first.key}`,
  )
}

const secretFields = new Set(['password_hash', 'secret_mac'])

async function audit(trx: Trx, changes: readonly Change[], before: Current, after: Current): Promise<void> {
  for (const change of changes) {
    const row = (change.action === 'create' ? after : before)[change.kind].get(change.key)
    const team =
      row && 'team' in row.fields ? row.fields.team : change.kind === 'team' ? change.key : undefined
    const teamId = team === undefined ? undefined : (after.team.get(team) ?? before.team.get(team))?.id
    await writeAudit(trx, {
      teamId: typeof teamId === 'number' ? teamId : null,
      actor: 'operator',
      action: `${change.kind}.${change.action}`,
      target: `${change.kind}:${row?.id ?? change.key}`,
      ...statesOf(change),
    })
  }
}

function statesOf(change: Change): { before?: object; after?: object } {
  if (change.action === 'delete') return {}
  if (change.action === 'create') return { after: shown(Object.entries(change.fields)) }
  const { changes } = change
  return {
    before: shown(changes.map(({ field, before }) => [field, before])),
    after: shown(changes.map(({ field, after }) => [field, after])),
  }
}

function shown(fields: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(fields.filter(([field]) => !secretFields.has(field)))
}
