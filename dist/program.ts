// Runs the programs that a build needs. Each must succeed.
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'

type Options = { readonly cwd?: string; readonly env?: Readonly<Record<string, string | undefined>> }

const outputMax = 64 * 1024 * 1024

/** Runs a program; its output is printed only if it fails. */
export function run(program: string, args: readonly string[], options: Options = {}): void {
  capture(program, args, options)
}

/** Runs a program and returns its output. */
export function capture(program: string, args: readonly string[], { cwd, env }: Options = {}): string {
  const result = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: outputMax,
  })
  if (result.error || result.status !== 0) throw new Error(failureOf(program, args, result))
  return result.stdout
}

function failureOf(program: string, args: readonly string[], result: SpawnSyncReturns<string>): string {
  if (result.error) return `${program} cannot be run: ${result.error.message}`
  return `${program} ${args.join(' ')} failed (status ${result.status}):\n${result.stderr}${result.stdout}`
}

/** Whether a program is installed. */
export const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0
