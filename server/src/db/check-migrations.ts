// Finds statements of expand migrations that the release before does not survive, or that keep a table locked while every row is written.
// They belong into a contract migration; a backfill is a loop of the code that works in batches.
import { compareVersions, version as ownVersion } from '../runtime/version.ts'
import type { Migration } from './migration-file.ts'

const rules: readonly { readonly pattern: RegExp; readonly problem: string }[] = [
  { pattern: /\bdrop\b(?! not null\b)/, problem: 'drops what the release before may use' },
  { pattern: /\brename\b/, problem: 'renames what the release before may use' },
  { pattern: /\bset not null\b/, problem: 'refuses rows that the release before writes' },
  { pattern: /\balter (column )?\S+ (set data )?type\b/, problem: 'changes the type of a column' },
  {
    pattern: /^(with\b.*\s)?(update|delete from|truncate)\b|\bdo .*\b(update|delete from)\b/s,
    problem: 'writes every row at once',
  },
  {
    pattern: /\badd column (if not exists )?\S+(?=[^,]* not null)(?![^,]* default\b)/,
    problem: 'adds a column that the release before does not fill',
  },
  {
    pattern: /\badd (constraint \S+ )?(check|foreign key)\b(?!.*\bnot valid\b)/s,
    problem: 'checks every row: add the constraint as not valid',
  },
]

/** Returns a line for each statement that an expand migration may not have, and for a release that does not exist yet. */
export function checkMigrations(migrations: readonly Migration[], version = ownVersion): string[] {
  return migrations.flatMap(({ file, sql, phase, runsWith }) => {
    const early =
      runsWith !== null && compareVersions(runsWith, version) > 0
        ? [`${file}: runs with ${runsWith}, but this is ${version}: raise the version in package.json first`]
        : []
    return phase === 'expand'
      ? [...early, ...statementsOf(sql).flatMap((text) => problemsOf(file, text))]
      : early
  })
}

function problemsOf(file: string, statement: string): string[] {
  const found = rules.filter(({ pattern }) => pattern.test(withoutReplacedConstraints(statement)))
  return found.map(({ problem }) => `${file}: ${problem}: ${statement.slice(0, 80)}`)
}

/** A constraint that is dropped and added under its name in one statement becomes wider. */
const withoutReplacedConstraints = (statement: string): string =>
  statement.replaceAll(/\bdrop constraint (if exists )?(\S+?),?(?=\s)/g, (text, _, name: string) =>
    new RegExp(`\\badd constraint ${name}\\s`).test(statement) ? '' : text,
  )

/** Returns the statements in lower case, without comments and texts, and without the bodies of functions, which run later. */
function statementsOf(sql: string): string[] {
  const bare = sql
    .replaceAll(/--.*$|\/\*[^]*?\*\//gm, ' ')
    .replaceAll(/(\bfunction\b[^;$]*?)\$(\w*)\$[^]*?\$\2\$/gi, '$1 ')
    .replaceAll(/'(?:[^']|'')*'/g, ' ')
  const parts = bare.replaceAll(/\$(\w*)\$[^]*?\$\1\$/g, (body) => body.replaceAll(';', ' ')).split(';')
  return parts.map((text) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase()).filter((text) => text !== '')
}
