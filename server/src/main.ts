// `pharos <command>`: finds the command, runs it, and converts errors into messages and an exit code. Exit codes: 0
// done, 1 failed, 2 wrong usage; `pharos status` defines its own in commands/status.ts.
import { CommandFailure, UsageError, type Command } from './commands/command.ts'
import { readConfiguration } from './commands/configuration.ts'
import { commands } from './commands/index.ts'
import { LostKeyError } from './db/lost-keys.ts'
import { MigrationError } from './db/migrate.ts'
import { ConfigError } from './runtime/config.ts'
import { ListenError } from './runtime/listen-problem.ts'
import { endProcess } from './runtime/signals.ts'
import { Failure } from './runtime/error.ts'
import { version } from './runtime/version.ts'

const [name = 'help', ...args] = process.argv.slice(2)
const { env } = process

async function main(): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') return print(help())
  if (name === 'version' || name === '--version') return print(`${version}\n`)
  const command = commands.find((one) => one.name === name)
  if (!command) return fail(`There is no command ${name}.\n\n${help()}`, 2)
  if (args.includes('--help') || args.includes('-h')) return print(usage(command))
  try {
    const exitCode = await command.run({
      args,
      env,
      config: (from = env) => readConfiguration(from),
      out: (text) => void print(text),
    })
    return exitCode ?? 0
  } catch (error) {
    return explain(command, error)
  }
}

/** Expected errors print their message; any other error is a bug and prints its stack. */
function explain(command: Command, error: unknown): number {
  if (error instanceof UsageError || isParseArgsError(error)) {
    return fail(`${(error as Error).message}\n\n${usage(command)}`, 2)
  }
  if (error instanceof ConfigError) return fail(`${error.message}\n`, 2)
  if (expected.some((kind) => error instanceof kind)) {
    const code = error instanceof CommandFailure ? error.exitCode : 1
    return fail(`${(error as Error).message}\n`, code)
  }
  return fail(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`, 1)
}

/** Errors whose message is sufficient. */
const expected = [CommandFailure, Failure, ListenError, LostKeyError, MigrationError]

const isParseArgsError = (error: unknown): boolean =>
  String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS')

function help(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary.split('\n', 1)[0]}`)
  return `pharos <command>\n\n${lines.join('\n')}\n\npharos <command> --help prints the details of a command.\n`
}

const usage = ({ name, usage, summary }: Command): string => `pharos ${name} ${usage}\n\n${summary}\n`

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function fail(text: string, code: number): number {
  process.stderr.write(text)
  return code
}

endProcess(await main())
