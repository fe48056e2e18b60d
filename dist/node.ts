// The Node.js that the packages carry: the npm package that the repository pins, for any processor.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './program.ts'
import { repository, type Arch } from './release.ts'
import { quiet } from './tree.ts'

export type Node = { readonly folder: string; readonly version: string }

/** Installs it in an empty folder, checked against the digest of package-lock.json. */
export function installNode(folder: string, arch: Arch): Node {
  const name = `node-linux-${arch}`
  const path = `node_modules/${name}`
  const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; optional?: boolean }>
  }
  const { optional: _, ...entry } = packages[path]!
  const root = { name: 'pharos-node', version: entry.version, dependencies: { [name]: entry.version } }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(root))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...root, lockfileVersion: 3, requires: true, packages: { '': root, [path]: entry } }),
  )
  run('npm', ['ci', `--cpu=${arch}`, '--os=linux', ...quiet], { cwd: folder })
  return { folder: join(folder, path), version: entry.version }
}
