// A database with the schema of this version, for commands that use it.
import { migrate, pendingMigrations } from '../db/migrate.ts'
import type { Postgres } from '../db/postgres.ts'
import type { Config } from '../runtime/config.ts'
import { CommandFailure, withPostgres, type CommandContext, type OnNewDatabase } from './command.ts'

/**
 * Opens the database for one piece of work. An embedded database is migrated first, as the server would do; a shared
 * database is only migrated explicitly, by `pharos migrate`, and refused until then. `onNew`: see withPostgres.
 */
export function withSchema<T>(
  context: CommandContext,
  work: (postgres: Postgres, config: Config) => Promise<T>,
  onNew?: OnNewDatabase,
): Promise<T> {
  const migrated = async (postgres: Postgres, config: Config) => {
    const client = await postgres.directConnection()
    try {
      if (config.databaseUrl === null) await migrate(client)
      else refusePending(await pendingMigrations(client))
    } finally {
      await client.end()
    }
    return work(postgres, config)
  }
  return withPostgres(context, migrated, onNew)
}

function refusePending(pending: readonly string[]): void {
  if (pending.length > 0)
    throw new CommandFailure(`The database lacks ${pending.join(', ')}: run pharos migrate first.`)
}
