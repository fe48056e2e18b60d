// Builds the portal where what it is made from has changed since the last time; else it says nothing and is quick.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'portal/dist')
const stamp = join(dist, '.built')
const inputs = [
  'scripts/build-portal.mjs',

  'portal/{src,public}/**/*.*',
  'portal/{index.html,vite.config.ts}',
  'contract/src/*.ts',
  'package-lock.json',
]

/** Resolves when `portal/dist` is what the sources say. */
export async function buildPortal() {
  const hash = hashOfInputs()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  process.stderr.write('Building the portal ...\n')
  await build({ root: join(root, 'portal'), logLevel: 'warn' })
  pack()
  writeFileSync(stamp, hash)
}

/** Beside each file that is text, the same packed: nobody waits for it when it is asked for. */
function pack() {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  for (const name of globSync('assets/*.{js,css}', { cwd: dist })) {
    const file = join(dist, name)
    writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params }))
  }
}

function hashOfInputs() {
  const hash = createHash('sha256')
  for (const file of globSync(inputs, { cwd: root }).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

if (import.meta.main) await buildPortal()
