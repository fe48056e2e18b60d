// Builds the portal if its sources have changed since the last build.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

const compress = promisify(brotliCompress)
const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'portal/dist')
/**
 * The build becomes `portal/dist` when it is complete: a server that starts in the meantime has the previous build, or
 * no portal.
 */
const fresh = join(root, `node_modules/.cache/portal-${process.pid}`)
const STAMP = '.built'
const inputs = [
  'scripts/build-portal.mjs',
  'portal/{src,public}/**/*.*',
  'portal/{index.html,vite.config.ts}',
  'contract/src/*.ts',
  'package-lock.json',
]

/** Resolves when `portal/dist` is built from the current sources. */
export async function buildPortal() {
  const hash = hashOfInputs()
  if (isBuiltFrom(hash)) return
  process.stderr.write('Building the portal ...\n')
  // Loaded only for a build: importing it takes longer than comparing the sources.
  const { build } = await import('vite')
  const output = { outDir: fresh, emptyOutDir: true }
  const built = await build({ root: join(root, 'portal'), logLevel: 'warn', build: output })
  await pack()
  writePages()
  writePackages(built)
  writeFileSync(join(fresh, STAMP), hash)
  replace(hash)
}

function isBuiltFrom(hash) {
  const stamp = join(dist, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
}

function replace(hash) {
  const old = `${fresh}-old`
  try {
    if (existsSync(dist)) renameSync(dist, old)
    renameSync(fresh, dist)
  } catch (error) {
    // Another process has built the same.
    if (!isBuiltFrom(hash)) throw error
  } finally {
    for (const folder of [old, fresh]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes a compressed copy beside each text file, so that no request waits for the compression. */
async function pack() {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  const packOne = async (name) => {
    const file = join(fresh, name)
    writeFileSync(`${file}.br`, await compress(readFileSync(file), { params }))
  }
  await Promise.all(globSync('assets/*.{js,css}', { cwd: fresh }).map(packOne))
}

/** Writes the paths of the pages for the server, which answers other addresses with the status 404. */
function writePages() {
  const source = readFileSync(join(root, 'portal/src/pages.tsx'), 'utf8')
  const paths = [...source.matchAll(/^ {4}path: '(\/[^']*)',$/gm)].map(([, path]) => path)
  if (paths.length < 10) throw new Error('portal/src/pages.tsx: the paths of the pages were not found')
  writeFileSync(join(fresh, 'pages.json'), JSON.stringify(paths))
}

/** Writes the packages whose code is part of the build, for the licenses and the bill of materials of a release. */
function writePackages({ output }) {
  const ids = output.flatMap(({ moduleIds = [] }) => moduleIds)
  const places = ids.flatMap(
    (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\0', '')) ?? [],
  )
  const packages = [...new Set(places)].map((place) => {
    const { name, version, license } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
    return { name, version, license }
  })
  packages.sort((a, b) => (a.name < b.name ? -1 : 1))
  writeFileSync(join(fresh, 'packages.json'), JSON.stringify(packages))
}

function hashOfInputs() {
  const hash = createHash('sha256')
  for (const file of globSync(inputs, { cwd: root }).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

if (import.meta.main) await buildPortal()
