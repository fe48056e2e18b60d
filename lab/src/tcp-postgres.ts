// A PostgreSQL that listens on TCP, like a server on a separate machine; the embedded one never does.
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { findBinaries } from '../../server/src/db/embedded-binaries.ts'
import { clusterEnv, ensureDataDir, changeOwner, OWNER } from '../../server/src/db/embedded-cluster.ts'
import { answers } from '../../server/src/db/embedded-server.ts'
import { asUser, chooseRunAs } from '../../server/src/db/embedded-user.ts'
import { freePort } from './address.ts'
import { isRunning, killProgram } from './program.ts'
import { waitFor } from './wait.ts'

export type TcpPostgres = {
  readonly databaseUrl: string
  /** Ends it as a crash does, and resolves when it answers again. */
  crash(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts it at the address, open to anyone who can reach that. Its data is kept in `folder`. */
export async function startTcpPostgres(folder: string, address: string): Promise<TcpPostgres> {
  const dataDir = join(folder, 'postgres')
  const socketDir = join(folder, 'socket')
  mkdirSync(socketDir)
  const binaries = findBinaries()
  const runAs = chooseRunAs(dataDir, binaries)
  changeOwner(socketDir, runAs)
  const logFile = join(folder, 'postgres.log')
  await ensureDataDir({ dataDir, socketDir, logFile, binaries, runAs, temporary: true })
  appendFileSync(join(dataDir, 'pg_hba.conf'), `host all all ${address}/24 trust\n`)
  const port = await freePort(address, 5432)
  const settings = [
    `listen_addresses=${address}`,
    `port=${port}`,
    `unix_socket_directories=${socketDir}`,
    'fsync=off',
  ]
  const args = ['-D', dataDir, ...settings.flatMap((setting) => ['-c', setting])]
  const { command, args: all, options } = asUser(runAs, binaries.postgres, args)
  const databaseUrl = `postgresql://${OWNER}@${address}:${port}/postgres`
  let child: ChildProcess
  const start = async (): Promise<void> => {
    const log = openSync(logFile, 'a')
    // The kernel ends it when this process dies for any reason.
    const started = spawn('setpriv', ['--pdeathsig', 'INT', '--', command, ...all], {
      ...options,
      cwd: '/',
      env: clusterEnv(),
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    child = started
    try {
      await waitFor(`PostgreSQL at ${address} answers`, () => isUp(started, databaseUrl, logFile))
    } catch (error) {
      await killProgram(started, 'SIGQUIT')
      throw error
    }
  }
  await start()
  return {
    databaseUrl,
    async crash() {
      await killProgram(child, 'SIGQUIT')
      await start()
    },
    [Symbol.asyncDispose]: () => killProgram(child, 'SIGQUIT'),
  }
}

function isUp(child: ChildProcess, databaseUrl: string, logFile: string): Promise<boolean> {
  if (!isRunning(child)) throw new Error(`PostgreSQL ended, see ${logFile}`)
  return answers(databaseUrl)
}
