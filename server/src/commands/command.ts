// The type of a command of `pharos`. A command writes its result to `out`, throws errors, and does not know the process: main.ts
// converts errors into messages and exit codes.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findEmbeddedPostgres } from '../db/embedded-binaries.ts'
import type { Postgres } from '../db/postgres.ts'
import { openDatabase } from '../process/serve.ts'
import { createLog } from '../runtime/log.ts'
import type { Config, Environment } from '../runtime/config.ts'
import { describeConfiguration } from './configuration.ts'
import { checkKeyFile } from './lost-keys.ts'

export type Command = {
  readonly name: string
  /** Arguments, such as `-f <file> [--dry-run]`. */
  readonly usage: string
  readonly summary: string
  /** Resolves with an exit code; undefined for 0. */
  run(context: CommandContext): Promise<number | void>
}

export type CommandContext = {
  /** Arguments after the command's name. */
  readonly args: readonly string[]
  readonly env: Environment
  /** Reads the configuration, from another environment if given; throws a ConfigError. */
  readonly config: (env?: Environment) => Config
  /** Results, for the terminal or a pipe. */
  readonly out: (text: string) => void
}

/** The caller used a command wrongly: its usage is shown. */
export class UsageError extends Error {}

/** An expected end without success: only the message is printed. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** For a command that takes no arguments. */
export function rejectArguments({ args }: CommandContext): void {
  if (args.length > 0) throw new UsageError(`This command takes no arguments, not even ${args.join(' ')}.`)
}

/** Called with the data directory before a command creates a new database in it. */
export type OnNewDatabase = (dataDir: string) => void

/**
 * Opens the database for one piece of work: a running server's if there is one. Unless `onNew` is given, a data
 * directory without a database is refused: the command was probably run in another folder than the server.
 */
export async function withPostgres<T>(
  context: CommandContext,
  work: (postgres: Postgres, config: Config) => Promise<T>,
  onNew: OnNewDatabase = refuseNew,
): Promise<T> {
  const env = { PHAROS_LOG_FORMAT: 'text', PHAROS_LOG_LEVEL: 'warn', ...context.env }
  const dataDir = emptyDataDir(env)
  // Before the configuration is read, which creates the secret in the data directory.
  if (dataDir !== undefined) onNew(dataDir)
  else await checkKeyFile(env)
  const config = context.config(env)
  const postgres = await openDatabase(config, createLog(config), { takesOver: false })
  try {
    return await work(postgres, config)
  } finally {
    await postgres.stop()
  }
}

/**
 * Returns the data directory if it is used and has no database yet. Throws a ConfigError if it would be used, and there is no embedded
 * PostgreSQL.
 */
export function emptyDataDir(env: Environment): string | undefined {
  const settings = new Map(describeConfiguration(env).map(({ name, value }) => [name, value]))
  if (settings.get('database_url') !== null) return undefined
  findEmbeddedPostgres()
  const dataDir = resolve(String(settings.get('data_dir')))
  return existsSync(join(dataDir, 'postgres')) ? undefined : dataDir
}

const refuseNew: OnNewDatabase = (dataDir) => {
  throw new CommandFailure(
    `The data directory ${dataDir} has no database. Run the command in the folder where the server was started, or ` +
      'set PHAROS_DATA_DIR or DATABASE_URL as for the server. pharos serve and pharos apply create a new database.',
    2,
  )
}
