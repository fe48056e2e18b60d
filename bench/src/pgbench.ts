// Runs PostgreSQL's own pgbench: the peer of every benchmark that is mostly an SQL statement. It only creates the
// tables of `pgbench -i`.
import { execFile } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type PgbenchRun = {
  readonly databaseUrl: string
  /** A script of pgbench; without one its own `-S`, one row by its key. */
  readonly script?: string
  readonly clients: number
  readonly seconds: number
  /** Transactions per client, instead of a time: the same work on a busy machine. */
  readonly transactions?: number | undefined
  /** Initial values of each client's variables. */
  readonly variables?: Readonly<Record<string, number>>
  readonly folder: string
}

export type PgbenchResult = {
  readonly transactions: number
  readonly perSecond: number
  readonly averageMs: number
  readonly failed: number
}

/** The newest pgbench of Debian's folders, else that of the PATH: Debian's wrapper there would read clusters first. */
export function findPgbench(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = listFolder(debian).sort((a, b) => Number(b) - Number(a))
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...pathFolders()]
  return folders.map((folder) => join(folder, 'pgbench')).find(isExecutable)
}

/** Creates pgbench's own tables, with 100,000 rows for each unit of the scale. */
export async function initPgbench(databaseUrl: string, scale: number): Promise<void> {
  await run(program(), ['-i', '-q', '-s', String(scale), databaseUrl])
}

/** Prepared statements, each client on its own connection. Throws if a transaction failed. */
export async function runPgbench(options: PgbenchRun): Promise<PgbenchResult> {
  const { databaseUrl, script, clients, seconds, transactions, variables = {}, folder } = options
  const jobs = Math.min(clients, availableParallelism())
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', String(jobs)]
  args.push(...(transactions === undefined ? ['-T', String(seconds)] : ['-t', String(transactions)]))
  for (const [name, value] of Object.entries(variables)) args.push('-D', `${name}=${value}`)
  if (script === undefined) args.push('-S')
  else {
    const file = join(folder, 'script.sql')
    await writeFile(file, script)
    args.push('-f', file)
  }
  const { stdout } = await run(program(), [...args, databaseUrl], { maxBuffer: 64 * 1024 * 1024 })
  const result = parsePgbench(stdout)
  if (result.failed > 0) throw new Error(`pgbench: ${result.failed} transactions failed`)
  return result
}

/** The summary that pgbench prints. */
export function parsePgbench(text: string): PgbenchResult {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? Number.NaN)
  const perSecond = number(/^tps = ([\d.]+) \(without/m)
  if (Number.isNaN(perSecond)) throw new Error(`pgbench printed no rate: ${text}`)
  return {
    transactions: number(/^number of transactions actually processed: (\d+)/m),
    perSecond,
    averageMs: number(/^latency average = ([\d.]+) ms/m),
    failed: number(/^number of failed transactions: (\d+)/m) || 0,
  }
}

function program(): string {
  const path = findPgbench()
  if (path === undefined) throw new Error('pgbench is not installed: apt-get install postgresql')
  return path
}

const pathFolders = (): string[] => (process.env['PATH'] ?? '').split(':').filter((folder) => folder !== '')

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
