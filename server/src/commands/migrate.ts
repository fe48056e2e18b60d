// `pharos migrate`: migrates the database to the schema of this version.
import { migrate as migrateDatabase } from '../db/migrate.ts'
import type { Postgres } from '../db/postgres.ts'
import { rejectArguments, withPostgres, type Command } from './command.ts'

export const migrate: Command = {
  name: 'migrate',
  usage: '',
  summary: 'migrate the database to the schema of this version',
  run(context) {
    rejectArguments(context)
    const work = async (postgres: Postgres) => {
      const { applied, version } = await migrateSchema(postgres)
      for (const file of applied) context.out(`applied ${file}\n`)
      context.out(`The database is at version ${version}.\n`)
    }
    return withPostgres(context, work, (dataDir) => context.out(`Creating a new database in ${dataDir}.\n`))
  },
}

export async function migrateSchema(postgres: Postgres): ReturnType<typeof migrateDatabase> {
  const client = await postgres.directConnection()
  try {
    return await migrateDatabase(client)
  } finally {
    await client.end()
  }
}
