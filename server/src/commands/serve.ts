// `pharos serve`: runs one or more roles until it is stopped.
import { parseArgs } from 'node:util'
import { migrate, pendingMigrations } from '../db/migrate.ts'
import type { Postgres } from '../db/postgres.ts'
import { allRoles, openDatabase, runRole, type Role, type Serving } from '../roles/serve.ts'
import type { Config } from '../runtime/config.ts'
import { Failure } from '../runtime/error.ts'
import { createLog, type Log } from '../runtime/log.ts'
import { untilStopped } from '../runtime/signals.ts'
import { CommandFailure, emptyDataDir, UsageError, type Command } from './command.ts'

export const serve: Command = {
  name: 'serve',
  usage: '[--role all|api|reconciler|collector|nameserver]...',
  summary: 'run the server, all roles or some',
  async run({ args, env, config: read }) {
    const roles = parseRoles(args)
    const newDataDir = emptyDataDir(env)
    const config = read()
    const log = createLog(config)
    if (newDataDir !== undefined) log.warn({ data_dir: newDataDir }, 'creating a new database')
    const postgres = await openDatabase(config, log)
    await fitSchema(config, postgres, log)
    await serveUntilStopped(config, postgres, roles, log)
  },
}

/** Serves until a signal, and then stops PostgreSQL too; `ready` is called when everything runs, with a signal of the end. */
export async function serveUntilStopped(
  config: Config,
  postgres: Postgres,
  roles: readonly Role[],
  log: Log,
  ready: (serving: Serving, stopping: AbortSignal) => void = () => {},
): Promise<void> {
  const stopped = untilStopped()
  const serving = await runRole(config, roles, log, postgres)
  log.info({ roles, url: serving.url, dns: serving.dns }, 'serving')
  const stopping = new AbortController()
  ready(serving, stopping.signal)
  const signal = await stopped
  log.info({ signal, drain_seconds: config.drainSeconds }, 'stopping')
  stopping.abort()
  await serving.drain()
  if (!(await serving.stop()))
    throw new CommandFailure('Not everything stopped in time. Committed data is safe.')
}

/**
 * The embedded database belongs to this process, which migrates it. A shared database is only migrated explicitly, by
 * `pharos migrate`, before the new processes start; one that does not answer yet is waited for.
 */
async function fitSchema(config: Config, postgres: Postgres, log: Log): Promise<void> {
  try {
    const client = await postgres.directConnection()
    try {
      if (config.databaseUrl === null) return void (await migrate(client, { steps: 'all' }))
      const pending = await pendingMigrations(client)
      if (pending.length > 0)
        throw new CommandFailure(`The database lacks ${pending.join(', ')}: run pharos migrate first.`)
    } finally {
      await client.end()
    }
  } catch (error) {
    if (!(error instanceof Failure)) {
      await postgres.stop()
      throw error
    }
    log.warn({ error }, 'the database does not answer yet')
  }
}

function parseRoles(args: readonly string[]): readonly Role[] {
  const { values } = parseArgs({ args: [...args], options: { role: { type: 'string', multiple: true } } })
  const named = (values.role ?? ['all']).flatMap((value) => value.split(','))
  const unknown = named.filter((name) => name !== 'all' && !allRoles.includes(name as Role))
  if (unknown.length > 0) {
    throw new UsageError(`There is no role ${unknown.join(', ')}; roles are all, ${allRoles.join(', ')}.`)
  }
  return named.includes('all') ? allRoles : (named as Role[])
}
