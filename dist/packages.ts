// The npm packages of the tree: the server's packages in package-lock.json, for the platform of the tree. They are
// copied from node_modules; only packages of another processor are downloaded.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './program.ts'
import { repository, type Arch } from './release.ts'

export type Locked = {
  readonly version?: string
  readonly link?: boolean
  readonly optional?: boolean
  readonly cpu?: readonly string[]
  readonly os?: readonly string[]
  readonly libc?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The packages of a lockfile by their folder, such as `node_modules/pg`. */
export type Lock = Readonly<Record<string, Locked>>

export const readLock = (): Lock =>
  (JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as { packages: Lock }).packages

/**
 * Returns the folders of the packages that the workspaces need, without the named packages and packages that only they
 * need.
 */
export function neededPackages(
  lock: Lock,
  workspaces: readonly string[],
  without: readonly string[],
  arch: Arch,
): string[] {
  const found = new Set<string>()
  const visit = (from: string): void => {
    const { dependencies, optionalDependencies, peerDependencies } = lock[from]!
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = without.includes(name) ? undefined : resolvePackage(lock, from, name)
      if (path === undefined || found.has(path) || !isFor(lock[path]!, arch)) continue
      found.add(path)
      visit(path)
    }
  }
  for (const workspace of workspaces) visit(workspace)
  return [...found].sort()
}

/** As Node.js does: in node_modules of the folder, then of each folder above. Optional peers may be missing. */
function resolvePackage(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in lock) return path
    if (folder === '.') return undefined
  }
}

const isFor = ({ cpu = [], os = [], libc = [] }: Locked, arch: Arch): boolean =>
  [
    [cpu, arch],
    [os, 'linux'],
    [libc, 'glibc'],
  ].every(([accepted, value]) => accepted!.length === 0 || accepted!.includes(value as string))

/** A fifth of the size, unused by the program: maps, types, and settings of their authors' tools. */
const unread = /\.(?:map|d\.[cm]?ts)$|\/\.[^/]+$/

/** Copies the packages into the same folders below `target`. */
export function copyPackages(lock: Lock, paths: readonly string[], target: string, arch: Arch): void {
  for (const path of paths) {
    const from = folderOf(lock, path, `${target}.npm`, arch)
    const filter = (file: string) =>
      !unread.test(file.slice(from.length)) && file !== join(from, 'node_modules')
    cpSync(from, join(target, path), { recursive: true, filter })
  }
}

/**
 * Returns where the package is installed; a package of another platform is downloaded, and checked against the
 * lockfile's digest.
 */
export function folderOf(lock: Lock, path: string, downloads: string, arch: Arch): string {
  if (existsSync(join(repository, path))) return join(repository, path)
  const folder = join(downloads, path.replaceAll(/[@/]/g, '-'))
  const { optional: _, ...entry } = lock[path]!
  const name = path.replace(/^.*node_modules\//, '')
  const root = { name: 'download', version: '0.0.0', dependencies: { [name]: entry.version } }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(root))
  const packages = { '': root, [`node_modules/${name}`]: entry }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...root, lockfileVersion: 3, packages }))
  // `--force`: some versions of npm refuse a package for another platform although its platform is named. Digests are checked all the same.
  const quiet = ['--force', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', ['ci', `--cpu=${arch}`, '--os=linux', '--libc=glibc', ...quiet], { cwd: folder })
  return join(folder, 'node_modules', name)
}
