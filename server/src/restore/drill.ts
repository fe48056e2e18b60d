// Checks a restored copy of the database beside the live one: whether Pharos could continue with it. Every transaction
// is read-only, and no data is sent.
import { counted } from '@pharos/contract/counted'
import type { Head } from '../audit/seal.store.ts'
import { verifyAudit } from '../audit/verify.ts'
import { countRows } from '../db/lost-keys.store.ts'
import { pendingMigrations } from '../db/migrate.ts'
import type { Db, Postgres } from '../db/postgres.ts'
import { openAll } from '../db/reseal.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { findPlace, findWritten, listObjects, listTableSizes } from './drill.store.ts'
import { readSeen } from './gate.store.ts'

export type DrillDeps = {
  /** Opened with a statement timeout that suits a complete read of the largest table. */
  readonly copy: Postgres
  readonly live: Postgres
  readonly ring: KeyRing
}

export type DrillOptions = {
  readonly maxAgeMs?: number
  /** See VerifyOptions of audit/verify.ts. */
  readonly retiredKeys?: ReadonlySet<string>
}

export type DrillCheck = {
  readonly name: string
  /** The findings, a line for each. */
  readonly results: readonly string[]
  /** Empty if the copy passes. */
  readonly problems: readonly string[]
}

/** Number of rows from which a live table must not be empty in a good copy. */
const rowsExpected = 100
const shownMax = 10

/** Whether both addresses lead to the same database; false if the live one does not answer. Rejects if the copy does not. */
export async function isSameDatabase({ copy, live }: Pick<DrillDeps, 'copy' | 'live'>): Promise<boolean> {
  const place = await reading(copy.owner, findPlace)
  return place === (await reading(live.owner, findPlace).catch(() => undefined))
}

/** Runs every check, even after a failed one. */
export async function drillRestore(deps: DrillDeps, options: DrillOptions): Promise<DrillCheck[]> {
  const checks = {
    migrations: checkMigrations,
    age: checkAge,
    keys: checkKeys,
    audit: checkAudit,
    schema: checkSchema,
    rows: checkRows,
  }
  const done: DrillCheck[] = []
  for (const [name, check] of Object.entries(checks)) {
    const outcome = await check(deps, options).catch((error: Error) => ({
      results: [],
      problems: [`not checked: ${error.message}`],
    }))
    done.push({ name, ...outcome })
  }
  return done
}

type Outcome = Omit<DrillCheck, 'name'>

const reading = <T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> =>
  db.transaction().setAccessMode('read only').setIsolationLevel('repeatable read').execute(work)

async function checkMigrations({ copy }: DrillDeps): Promise<Outcome> {
  const client = await copy.directConnection()
  try {
    await client.query('set default_transaction_read_only = on')
    const pending = await pendingMigrations(client)
    if (pending.length === 0) return { results: ['the schema is that of this release'], problems: [] }
    return {
      results: [],
      problems: [`run pharos migrate after this restore: it lacks ${pending.join(', ')}`],
    }
  } finally {
    await client.end()
  }
}

/** The time between the newest row of the copy and now: the loss of a restore. */
async function checkAge({ copy, live }: DrillDeps, { maxAgeMs }: DrillOptions): Promise<Outcome> {
  const { written } = await reading(copy.owner, findWritten)
  const copied = await reading(copy.owner, (db) => readSeen(db, undefined))
  if (written === null) return { results: [], problems: ['the copy was never used by Pharos'] }
  const { now } = await reading(live.owner, findWritten)
  const found = await reading(live.owner, (db) => readSeen(db, copied.head ?? undefined))
  const ageMs = now.getTime() - written.getTime()
  const problems = [
    ...(copied.installation === found.installation ? [] : ['it is the copy of another installation']),
    ...chainProblems(copied.head, found),
    ...(maxAgeMs !== undefined && ageMs > maxAgeMs ? [`the copy is older than ${spanOf(maxAgeMs)}`] : []),
  ]
  const newer = (found.head?.sequence ?? 0) - (copied.head?.sequence ?? 0)
  return {
    results: [
      `${spanOf(ageMs)}: written until ${written.toISOString()}; the live audit log is ${newer} entries ahead`,
    ],
    problems,
  }
}

/** The retention deletes the oldest seals of the live database only. */
function chainProblems(
  head: Head | null,
  { contained, first }: { readonly contained: boolean | null; readonly first: number | null },
): string[] {
  if (head === null || contained === true || (first !== null && head.sequence < first)) return []
  return ['the live audit log does not contain the newest entry of the copy']
}

async function checkKeys({ copy, ring }: DrillDeps): Promise<Outcome> {
  const counts = await reading(copy.owner, (db) => openAll(db, ring))
  return {
    results: counts.map(
      ({ noun, opened, givenUp }) =>
        `${noun}: ${opened} opened${givenUp === 0 ? '' : `, ${givenUp} given up before`}`,
    ),
    problems: counts.flatMap(({ noun, failed, error }) =>
      failed === 0 ? [] : [`${failed} ${noun}: ${error}`],
    ),
  }
}

async function checkAudit({ copy, ring }: DrillDeps, { retiredKeys }: DrillOptions): Promise<Outcome> {
  const { right, notCheckable, broken, brokenCount } = await reading(copy.owner, (db) =>
    verifyAudit({ db, ring }, retiredKeys ? { retiredKeys } : {}),
  )
  const [first] = broken
  return {
    results: [
      `${counted(right, 'entry is', 'entries are')} unchanged, ${counted(notCheckable, 'is', 'are')} not checkable`,
    ],
    problems: first
      ? [
          `${brokenCount} errors in the chain, the first: ${first.kind} at seal ${first.sequence ?? 'none'}, entry ${first.entryId ?? 'none'}`,
        ]
      : [],
  }
}

/** `pg_dump` keeps no roles, and a restore that reported errors may lack an index, a policy or a right. */
async function checkSchema({ copy, live }: DrillDeps): Promise<Outcome> {
  const found = new Set((await reading(copy.owner, listObjects)).map(({ name }) => name))
  const isGone = (name: string) => !found.has(name)
  const missing = (await reading(live.owner, listObjects))
    .filter(
      ({ name, table }) =>
        isGone(name) && (name === `table ${table}` || table === '' || !isGone(`table ${table}`)),
    )
    .map(({ name }) => name)
  if (missing.length === 0) return { results: [counted(found.size, 'object')], problems: [] }
  const others = missing.length > shownMax ? ` and ${missing.length - shownMax} more` : ''
  return { results: [], problems: [`missing: ${missing.slice(0, shownMax).join(', ')}${others}`] }
}

/** Counts exactly in the copy, which reads every page of it. */
async function checkRows({ copy, live }: DrillDeps): Promise<Outcome> {
  const expected = new Map((await reading(live.owner, listTableSizes)).map(({ name, rows }) => [name, rows]))
  const results: string[] = []
  const problems: string[] = []
  for (const { name } of await reading(copy.owner, listTableSizes)) {
    const count = await reading(copy.owner, (db) => countRows(db, name))
    const inLive = expected.get(name) ?? null
    results.push(`${name}: ${count}${inLive === null ? '' : `, live about ${inLive}`}`)
    if (count === 0 && inLive !== null && inLive >= rowsExpected) problems.push(`${name} is empty`)
  }
  return { results, problems }
}

function spanOf(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 120) return `${minutes} min`
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`
}
