// The files of migrations: plain SQL, named by a number and a title, and numbered without gaps. A file after the
// baseline begins with its phase and the oldest release that works on the schema after it:
//
// -- phase: expand
//   -- runs with: 0.2.0
//
// An expand step only adds, so that the previous release still works; a contract step removes what only that release
// needed.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isVersion } from '../runtime/version.ts'

export type Phase = 'expand' | 'contract'

export type Migration = {
  readonly number: number
  /** `001-core.sql` */
  readonly file: string
  readonly sql: string
  readonly sha256: string
  /** Null for a step of the baseline. */
  readonly phase: Phase | null
  /** The oldest release that works on the schema after this step. */
  readonly runsWith: string | null
}

/** The database and the migrations do not match; the message contains the solution. */
export class MigrationError extends Error {}

export const migrationsFolder = fileURLToPath(new URL('migrations', import.meta.url))

/** Steps up to this one make the schema of the first release, 0.2.0: no older release works on it, and they have no phase. */
export const baseline = 12

/** The files of a folder in the order of their numbers. */
export function listMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  const migrations = files.sort().map((file) => readMigration(folder, file))
  for (const [index, { number, file }] of migrations.entries()) {
    if (number !== index + 1) {
      throw new MigrationError(
        `${file}: migrations are numbered 001, 002, ... without gaps; number ${index + 1} is expected.`,
      )
    }
  }
  return migrations
}

function readMigration(folder: string, file: string): Migration {
  const number = /^(\d{3})-[a-z0-9-]+\.sql$/.exec(file)?.[1]
  if (number === undefined)
    throw new MigrationError(`${file}: a migration is named NNN-title.sql, lower case.`)
  const sql = readFileSync(join(folder, file), 'utf8')
  const sha256 = createHash('sha256').update(sql).digest('hex')
  return { number: Number(number), file, sql, sha256, ...readHead(file, Number(number), sql) }
}

function readHead(file: string, number: number, sql: string): Pick<Migration, 'phase' | 'runsWith'> {
  const [, phase, runsWith = ''] = /^-- phase: (expand|contract)\n-- runs with: (\S+)\n/.exec(sql) ?? []
  if (phase !== undefined && isVersion(runsWith)) return { phase: phase as Phase, runsWith }
  if (number <= baseline && !sql.startsWith('-- phase:')) return { phase: null, runsWith: null }
  throw new MigrationError(
    `${file}: begin with the lines "-- phase: expand" or "-- phase: contract", and "-- runs with: " with the oldest release that ` +
      'works on the schema afterwards, such as 0.2.0.',
  )
}
