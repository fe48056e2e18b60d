// `pharos drill restore`: checks a restored copy of the database, for cron. Exit codes: 0 the copy passes, 1 a check
// failed, 2 no check ran.
import { parseArgs } from 'node:util'
import { openPostgres, type Postgres } from '../db/postgres.ts'
import { drillRestore, isSameDatabase, type DrillCheck } from '../restore/drill.ts'
import { readKeylessConfiguration } from './configuration.ts'
import {
  CommandFailure,
  emptyDataDir,
  UsageError,
  withPostgres,
  type Command,
  type CommandContext,
} from './command.ts'
import { parseList, parseSpan } from './parse-arguments.ts'

const undetermined = 2
/** Statements of the copy may take an hour. */
const timeoutFactor = 60

export const drill: Command = {
  name: 'drill',
  usage: 'restore --database-url <URL> [--max-age <span>] [--retired-key <id,...>]',
  summary: `check a restored copy of the database, beside the live one of the settings

  migrations  the schema of the copy is that of this release
  age         time since the copy was written, and audit entries that only the live database has
  keys        PHAROS_SECRET decrypts every encrypted value of every kind
  audit       the chain of seals is unchanged
  schema      tables, indexes, rules and rights of the live database exist
  rows        number of rows of each table; none that has many rows is empty

  --max-age      also fail if the copy is older, such as 26h or 7d
  --retired-key  keys that have been removed from PHAROS_SECRET: audit entries sealed with them are skipped

  Reads only: neither database is changed, and nothing is sent. Exit codes: 0 the copy passes, 1 a check failed, 2 nothing was
  checked. docs/operating/backup.md has an example for cron.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'restore') return drillCopy(context, args)
    throw new UsageError(verb === undefined ? 'Add restore.' : `pharos drill has no command ${verb}.`)
  },
}

async function drillCopy(context: CommandContext, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'database-url': { type: 'string' },
      'max-age': { type: 'string' },
      'retired-key': { type: 'string', multiple: true },
    },
  })
  const { 'database-url': url, 'max-age': maxAge, 'retired-key': retired } = values
  if (url === undefined) throw new UsageError('Add --database-url with the address of the copy.')
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new UsageError('--database-url: an address begins with postgres://.')
  const options = {
    ...(maxAge === undefined ? {} : { maxAgeMs: parseSpan('--max-age', maxAge) }),
    ...(retired === undefined ? {} : { retiredKeys: new Set(parseList(retired)) }),
  }
  requireKey(context)
  return withPostgres(context, async (live, { secret }) => {
    await using copy = await openPostgres({ databaseUrl: url, dataDir: '', timeoutFactor })
    await requireOther(copy, live)
    const checks = await drillRestore({ copy, live, ring: secret }, options)
    context.out(checks.map(described).join(''))
    const failed = checks.filter(({ problems }) => problems.length > 0)
    context.out(
      failed.length === 0
        ? 'The copy can be restored.\n'
        : `Failed: ${failed.map(({ name }) => name).join(', ')}\n`,
    )
    return failed.length === 0 ? 0 : 1
  })
}

/** Without a key, the command would create a key that opens no value. A folder without a database is refused anyway. */
function requireKey({ env }: CommandContext): void {
  if (emptyDataDir(env) !== undefined) return
  const { newSecretPath: path } = readKeylessConfiguration(env)
  if (path === undefined) return
  throw new CommandFailure(
    `There is no key: set PHAROS_SECRET as for the server, or provide the key file ${path}.`,
    undetermined,
  )
}

async function requireOther(copy: Postgres, live: Postgres): Promise<void> {
  const isSame = await isSameDatabase({ copy, live }).catch((error: Error) => {
    throw new CommandFailure(`The copy was not checked: ${error.message}`, undetermined)
  })
  if (isSame)
    throw new CommandFailure('--database-url leads to the live database, not to a copy of it.', undetermined)
}

function described({ name, results, problems }: DrillCheck): string {
  const lines = [...problems.map((problem) => `FAILED ${problem}`), ...results]
  return `${name}\n${lines.map((line) => `  ${line}\n`).join('')}`
}
