// `pharos serve`: runs one or more roles until it is stopped.
import { parseArgs } from 'node:util'
import { migrate, pendingMigrations } from '../db/migrate.ts'
import type { Postgres } from '../db/postgres.ts'
import { openDatabase, runRole, type Serving } from '../process/serve.ts'
import { allRoles, type Role } from '../runtime/role.ts'
import type { Config } from '../runtime/config.ts'
import { Failure } from '../runtime/error.ts'
import { createLog, type Log } from '../runtime/log.ts'
import { untilStopped } from '../runtime/signals.ts'
import { acceptOption, checkKeyFile, checkKeys, reportLost } from './lost-keys.ts'
import { CommandFailure, emptyDataDir, UsageError, type Command } from './command.ts'

export const serve: Command = {
  name: 'serve',
  usage: '[--role all|api|reconciler|collector|nameserver]... [--accept-lost-secrets]',
  summary: `run the server, all roles or some

--accept-lost-secrets starts although no key of PHAROS_SECRET opens some values of the database, and logs what stops working. It is
needed once.`,
  async run({ args, env, config: read }) {
    const { roles, acceptsLoss } = parse(args)
    const newDataDir = emptyDataDir(env)
    const lost = await checkKeyFile(env, { isAccepted: acceptsLoss })
    const config = read()
    const log = createLog(config)
    if (newDataDir !== undefined) log.warn({ data_dir: newDataDir }, 'creating a new database')
    reportLost(log, lost)
    const postgres = await openDatabase(config, log)
    await fitDatabase(config, postgres, log, acceptsLoss)
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
 * Stops PostgreSQL and throws if its schema or its values belong to another release or key; waits for a database that
 * does not answer.
 */
async function fitDatabase(
  config: Config,
  postgres: Postgres,
  log: Log,
  acceptsLoss: boolean,
): Promise<void> {
  try {
    await fitSchema(config, postgres)
    await checkKeys(postgres.owner, config.secret, { isAccepted: acceptsLoss, log })
  } catch (error) {
    if (!(error instanceof Failure)) {
      await postgres.stop()
      throw error
    }
    log.warn({ error }, 'the database does not answer yet')
  }
}

/**
 * The embedded database belongs to this process, which migrates it. A shared database is only migrated explicitly, by
 * `pharos migrate`, before the new processes start.
 */
async function fitSchema({ databaseUrl }: Config, postgres: Postgres): Promise<void> {
  const client = await postgres.directConnection()
  try {
    if (databaseUrl === null) return void (await migrate(client, { steps: 'all' }))
    const pending = await pendingMigrations(client)
    if (pending.length > 0)
      throw new CommandFailure(`The database lacks ${pending.join(', ')}: run pharos migrate first.`)
  } finally {
    await client.end()
  }
}

function parse(args: readonly string[]): { roles: readonly Role[]; acceptsLoss: boolean } {
  const options = { role: { type: 'string', multiple: true }, ...acceptOption } as const
  const { values } = parseArgs({ args: [...args], options })
  const named = (values.role ?? ['all']).flatMap((value) => value.split(','))
  const unknown = named.filter((name) => name !== 'all' && !allRoles.includes(name as Role))
  if (unknown.length > 0) {
    throw new UsageError(`There is no role ${unknown.join(', ')}; roles are all, ${allRoles.join(', ')}.`)
  }
  const roles = named.includes('all') ? allRoles : (named as Role[])
  return { roles, acceptsLoss: values['accept-lost-secrets'] }
}
