// A PostgreSQL with backups by pgBackRest, as docs/operating/backup.md shows it: full backups and the write-ahead log, in a repository in its
// folder. It can be put back to any time since the first backup.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { changeOwner, clusterEnv, OWNER, socketUrl } from '../../server/src/db/embedded-cluster.ts'
import { end, run, type RunningServer } from '../../server/src/db/embedded-server.ts'
import { asUser } from '../../server/src/db/embedded-user.ts'
import { createDebianCluster } from '../../server/src/db/testing-debian.ts'
import { programPath } from './program.ts'
import { waitFor } from './wait.ts'

export type BackedUpPostgres = {
  readonly databaseUrl: string
  /** A full backup. */
  backup(): Promise<void>
  /** The server's time, as text: a target of `restore`. */
  now(): Promise<string>
  /** Stops the server, restores it to that time, and resolves when it takes changes. Later changes are lost. */
  restore(time: string): Promise<void>
  query<Row extends object>(text: string): Promise<Row[]>
  [Symbol.asyncDispose](): Promise<void>
}

/** The settings of docs/operating/backup.md, with the paths of the folder. */
export const pgbackrestSettings = (paths: {
  readonly repository: string
  readonly logs: string
  readonly locks: string
  readonly spool: string
  readonly data: string
  readonly socket: string
  readonly user: string
}): string => `[global]
repo1-path=${paths.repository}
repo1-retention-full=2
start-fast=y
log-path=${paths.logs}
lock-path=${paths.locks}
spool-path=${paths.spool}

[pharos]
pg1-path=${paths.data}
pg1-socket-path=${paths.socket}
pg1-user=${paths.user}
`

/** The lines of postgresql.conf of docs/operating/backup.md. */
export const archiveSettings = (command: string): string => `archive_mode = on
archive_command = '${command} --stanza=pharos archive-push %p'
archive_timeout = 60
`

/** Starts it in the folder, which must exist, with the repository and without a backup. */
export async function startBackedUpPostgres(folder: string): Promise<BackedUpPostgres> {
  const file = join(folder, 'pgbackrest.conf')
  const program = programPath('pgbackrest')
  const settings = archiveSettings(`${program} --config=${file}`)
  const cluster = createDebianCluster(folder, { settings, temporary: false })
  const { dataDir, socketDir, runAs } = cluster
  const [repository, logs] = [join(folder, 'repository'), join(folder, 'logs')]
  for (const path of [repository, logs]) {
    mkdirSync(path, { mode: 0o700 })
    changeOwner(path, runAs)
  }
  writeFileSync(
    file,
    pgbackrestSettings({
      repository,
      logs,
      locks: logs,
      spool: logs,
      data: dataDir,
      socket: socketDir,
      user: OWNER,
    }),
  )
  changeOwner(file, runAs)
  changeOwner(folder, runAs)
  const databaseUrl = socketUrl(socketDir, OWNER)

  async function pgbackrest(...args: readonly string[]): Promise<void> {
    const wanted = [`--config=${file}`, '--stanza=pharos', '--log-level-console=warn', ...args]
    const { command, args: all, options } = asUser(runAs, program, wanted)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = spawn(command, all, {
      ...options,
      cwd: '/',
      env: clusterEnv(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    child.on('error', reject)
    child.on('close', (status) => {
      if (status === 0) resolve()
      else reject(new Error(`pgbackrest ${args.join(' ')} failed: ${output}`))
    })
    return promise
  }

  async function query<Row extends object>(text: string): Promise<Row[]> {
    const client = new Client({ connectionString: databaseUrl })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async function now(): Promise<string> {
    const [row] = await query<{ time: string }>('select clock_timestamp()::text as time')
    return row!.time
  }

  let running: RunningServer = await run(cluster)
  try {
    await pgbackrest('stanza-create')
    await pgbackrest('check')
  } catch (error) {
    await end(running)
    throw error
  }
  return {
    databaseUrl,
    query,
    now,
    async backup() {
      await pgbackrest('--type=full', 'backup')
      const [stopped] = (await now()).split('.')
      // The time of a backup is in whole seconds, and a target must be later.
      await waitFor('the next second', async () => !(await now()).startsWith(stopped!))
    },
    async restore(time) {
      await end(running)
      await pgbackrest('--delta', '--type=time', `--target=${time}`, '--target-action=promote', 'restore')
      running = await run(cluster)
      await waitFor('PostgreSQL is promoted', async () => {
        const [row] = await query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
        return row?.standby === false
      })
    },
    [Symbol.asyncDispose]: () => end(running),
  }
}
