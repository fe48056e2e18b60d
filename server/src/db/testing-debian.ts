// A PostgreSQL of Debian's packages, for tests on the lowest version that Pharos supports. Only tests import this file.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changeOwner, clusterEnv, OWNER, socketUrl, type Cluster } from './embedded-cluster.ts'
import { end, run } from './embedded-server.ts'
import { asUser, chooseRunAs } from './embedded-user.ts'
import type { Binaries } from './embedded-binaries.ts'
import { lowestMajor } from './migrate.ts'

export type DebianPostgres = { readonly databaseUrl: string; [Symbol.asyncDispose](): Promise<void> }

const folderOfVersions = '/usr/lib/postgresql'

/**
 * Returns the lowest installed version that Pharos supports; undefined if it is not installed. Debian 12 has 15, Debian
 * 13 has 17.
 */
export function findDebianPostgres(): Binaries | undefined {
  const [major] = listFolders(folderOfVersions)
    .map(Number)
    .filter((version) => version >= lowestMajor)
    .toSorted((a, b) => a - b)
  if (major === undefined) return undefined
  const bin = join(folderOfVersions, String(major), 'bin')
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), major: String(major) }
}

/**
 * For the `skip` of tests. With PHAROS_TEST_REQUIRE_PEERS=1 tests are never skipped, so that a missing server fails
 * them.
 */
export function skipWithoutDebianPostgres(): string | false {
  if (findDebianPostgres() !== undefined || process.env.PHAROS_TEST_REQUIRE_PEERS === '1') return false
  return 'the package postgresql is not installed'
}

/** Starts an empty server behind a unix socket; its data is removed with it. `settings`: further lines of postgresql.conf. */
export async function startDebianPostgres(settings = ''): Promise<DebianPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-debian-'))
  const cluster = createDebianCluster(folder, { settings, temporary: true })
  const { socketDir } = cluster
  const running = await run(cluster)
  return {
    databaseUrl: socketUrl(socketDir, OWNER),
    async [Symbol.asyncDispose]() {
      await end(running)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Creates the data directory of a server in the folder, which must exist. `temporary`: a crash of the machine may lose its data. */
export function createDebianCluster(
  folder: string,
  { settings, temporary }: { readonly settings: string; readonly temporary: boolean },
): Cluster {
  const binaries = findDebianPostgres()
  if (binaries === undefined)
    throw new Error('PostgreSQL is not installed: as root, apt-get install postgresql')
  const [dataDir, socketDir] = [join(folder, 'data'), join(folder, 'socket')]
  const runAs = chooseRunAs(dataDir, binaries)
  const cluster: Cluster = { dataDir, socketDir, logFile: join(folder, 'log'), binaries, runAs, temporary }
  for (const path of [folder, dataDir, socketDir]) {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    changeOwner(path, runAs)
  }
  createDataDir(cluster)
  appendFileSync(join(dataDir, 'postgresql.conf'), settings)
  return cluster
}

/**
 * The embedded server uses a locale provider that PostgreSQL has from version 17 on; C.UTF-8 of libc sorts the same.
 */
function createDataDir({ binaries, runAs, dataDir }: Cluster): void {
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8']
  const wanted = ['-D', dataDir, '-U', OWNER, '--auth=trust', '--no-sync', ...locale]
  const { command, args, options } = asUser(runAs, binaries.initdb, wanted)
  const { status, stderr } = spawnSync(command, args, { ...options, cwd: '/', env: clusterEnv() })
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
}

function listFolders(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
