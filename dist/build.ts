// `npm run dist [-- --arch x64] [--out folder] [--only tarball,deb,image] [--sign key]`: makes the packages of a
// release from this checkout. Builds the portal first. Needs npm; the packages also need dpkg-deb, the images apt-get.
// Unpacking needs only tar.
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { makeNodePackage, makePharosPackage, type Node } from './deb.ts'
import { makeImages, type ImageParts } from './images.ts'
import { folderOf, readLock } from './packages.ts'
import { capture, isInstalled } from './program.ts'
import { readRelease, repository, type Arch, type Release } from './release.ts'
import { signSums, SUMS, writeSums } from './sums.ts'
import { entriesBelow, tarOf } from './tar.ts'
import { makeTree } from './tree.ts'

const kinds = ['tarball', 'deb', 'image']

type Build = {
  readonly release: Release
  /** Folder of everything that is not part of the result. */
  readonly work: string
  readonly out: string
  readonly only: readonly string[]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: 'x64,arm64' },
      out: { type: 'string', default: join(repository, 'dist/out') },
      only: { type: 'string', default: kinds.join(',') },
      sign: { type: 'string' },
    },
  })
  const out = resolve(values.out)
  mkdirSync(out, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'pharos-dist-'))
  const build = { release: readRelease(), work, out, only: values.only.split(',') }
  warnIfChanged()
  requirePrograms(build.only)
  try {
    await makeAll(build, values.arch.split(',') as Arch[])
    if (values.sign !== undefined) signSums(out, values.sign)
  } finally {
    rmSync(work, { recursive: true })
  }
}

async function makeAll(build: Build, archs: readonly Arch[]): Promise<void> {
  const { release, out, work, only } = build
  const made: string[] = []
  const parts: ImageParts[] = []
  for (const arch of archs) {
    const name = `pharos-${release.version}`
    const tree = join(work, arch, name)
    say(`${arch}: the tree`)
    await makeTree(tree, arch, release)
    if (only.includes('tarball')) made.push(await makeTarball(build, tree, `${name}-linux-${arch}.tar.gz`))
    const node = only.some((kind) => kind !== 'tarball') ? nodeOf(work, arch) : undefined
    if (node && only.includes('deb')) made.push(...makeDebs(build, tree, node, arch))
    if (node) parts.push({ arch, tree, node })
  }
  if (only.includes('image')) {
    say('the images')
    made.push(...(await makeImages(work, parts, release, out)))
  }
  writeFileSync(join(out, 'compose.yaml'), capture('cat', [join(repository, 'dist/compose.yaml')]))
  await writeSums(out, [...made, 'compose.yaml'])
  for (const name of [...made, SUMS])
    say(`${String(Math.ceil(statSync(join(out, name)).size / 1e6)).padStart(5)} MB  ${name}`)
}

async function makeTarball({ release, out }: Build, tree: string, file: string): Promise<string> {
  const root = file.replace(/-linux-.*/, '/')
  const entries = [{ path: root, mode: 0o755 }, ...entriesBelow(tree, root)]
  await pipeline(
    Readable.from(tarOf(entries, release.time)),
    createGzip({ level: 9 }),
    createWriteStream(join(out, file)),
  )
  return file
}

/** The packages contain the Node.js version that the repository pins. */
function nodeOf(work: string, arch: Arch): Node {
  const [lock, path] = [readLock(), `node_modules/node-linux-${arch}`]
  return { folder: folderOf(lock, path, join(work, 'npm'), arch), version: lock[path]!.version! }
}

function makeDebs({ work, release, out }: Build, tree: string, node: Node, arch: Arch): string[] {
  say(`${arch}: the Debian packages`)
  return [makePharosPackage(work, tree, arch, release, out), makeNodePackage(work, node, arch, release, out)]
}

function warnIfChanged(): void {
  if (capture('git', ['status', '--porcelain'], { cwd: repository }) !== '')
    say('This build contains changes that are not committed: do not release it.')
}

function requirePrograms(only: readonly string[]): void {
  const unknown = only.filter((kind) => !kinds.includes(kind))
  if (unknown.length > 0)
    throw new Error(`--only: there is no ${unknown.join(', ')}; use ${kinds.join(', ')}`)
  const needed = [
    'npm',
    ...(only.includes('deb') ? ['dpkg-deb'] : []),
    ...(only.includes('image') ? ['dpkg-deb', 'apt-get'] : []),
  ]
  const missing = needed.filter((program) => !isInstalled(program))
  if (missing.length > 0)
    throw new Error(
      `${missing.join(' and ')} must be installed, on Debian or a derivative; \`--only tarball\` needs npm alone`,
    )
  if (!existsSync(join(repository, 'portal/dist/packages.json')))
    throw new Error('build the portal first: npm run build')
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

await main()
