// `pharos migrate`: migrates the database to the schema of this version, in two parts of which older processes run through the first.
import { parseArgs } from 'node:util'
import { migrate as migrateDatabase, type MigrateOptions } from '../db/migrate.ts'
import type { Postgres } from '../db/postgres.ts'
import { withPostgres, type Command } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  usage: '[--finish]',
  summary: `migrate the database to the schema of this version

Run it before the first process of a new release starts: those of the release before continue to run. When the last of them has been
replaced, --finish removes what only they needed. Until then they can be started again (docs/operating/upgrade.md).`,
  run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: { finish: { type: 'boolean', default: false } },
    })
    const work = async (postgres: Postgres) => {
      const result = await migrateSchema(postgres, { steps: values.finish ? 'finish' : 'expand' })
      for (const file of result.applied) context.out(`applied ${file}\n`)
      context.out(`The database is at version ${result.version}.\n`)
      if (result.waiting.length > 0) {
        context.out(
          `${result.waiting.join(', ')}: run pharos migrate --finish when every process runs this release.\n`,
        )
      }
    }
    return withPostgres(context, work, (dataDir) => context.out(`Creating a new database in ${dataDir}.\n`))
  },
}

/** Migrates on a separate connection; see `migrate` of db/migrate.ts. */
export async function migrateSchema(
  postgres: Postgres,
  options: MigrateOptions,
): ReturnType<typeof migrateDatabase> {
  const client = await postgres.directConnection()
  try {
    return await migrateDatabase(client, options)
  } finally {
    await client.end()
  }
}
