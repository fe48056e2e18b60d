// `npm run <command>`: puts the packages in place, then runs the command under the Node that this repository pins.
// It runs on any Node from 20 on, so it uses nothing newer and imports nothing that has to be installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules/.pharos-lock')
const NODE_MAJOR_MIN = 24

/** What each command runs, one after the other; the words after the command follow each. */
const commands = {
  start: [['scripts/build-portal.mjs'], ['server/src/main.ts', 'start']],
  build: [['scripts/build-portal.mjs']],
  pharos: [['server/src/main.ts']],
  test: [['scripts/test.mjs']],
  check: [['scripts/check.mjs']],
  lab: [['scripts/build-portal.mjs'], ['lab/src/main.ts']],
  bench: [['bench/src/main.ts']],
  generate: [['server/src/db/generate.ts'], ['server/src/http/generate-openapi.ts']],
  format: [['node_modules/oxfmt/bin/oxfmt']],
}

const [command = '', ...words] = process.argv.slice(2)
if (!Object.hasOwn(commands, command)) {
  fail(`usage: npm run <command> -- [words]\ncommands: ${Object.keys(commands).join(', ')}`, 64)
}
if (!isInstalled()) install()
const node = findNode()
for (const args of commands[command]) {
  const status = await run(node, [...args, ...words])
  if (status !== 0) process.exit(status)
}

/** Whether node_modules is what the lockfile says: by our stamp or, after somebody's own `npm install`, by npm's list. */
function isInstalled() {
  if (!existsSync(join(root, 'node_modules'))) return false
  const hash = lockHash()
  if (read(stamp) === hash) return true
  if (!matchesLock()) return false
  writeStamp(hash)
  return true
}

function matchesLock() {
  const wanted = JSON.parse(read(join(root, 'package-lock.json')) ?? '{}').packages ?? {}
  const installed = JSON.parse(read(join(root, 'node_modules/.package-lock.json')) ?? '{}').packages ?? {}
  return Object.entries(wanted).every(([path, { version, link, optional }]) => {
    if (!path.startsWith('node_modules/')) return true
    const found = installed[path]
    return found ? link || found.version === version : optional
  })
}

function install() {
  process.stderr.write('Installing the packages (npm ci) ...\n')
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  const npm = process.env.npm_execpath
  const options = { cwd: root, stdio: ['ignore', 2, 2] }
  const result = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, options)
  if (result.error) fail(`npm cannot be run (${result.error.message}). Install Node.js 20 or later with npm.`)
  if (result.status !== 0)
    fail('The packages could not be installed: npm says why above.', result.status ?? 1)
  writeStamp(lockHash())
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** A read-only folder is no obstacle: the next start compares again. */
function writeStamp(hash) {
  try {
    writeFileSync(stamp, hash)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** The pinned Node of this platform, or the running one where there is none and it is new enough. */
function findNode() {
  const pinned = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (existsSync(pinned) && spawnSync(pinned, ['--version']).status === 0) return pinned
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) return process.execPath
  fail(
    `Pharos needs Node.js ${NODE_MAJOR_MIN} or later. This is ${process.version}, and the repository brings none for ` +
      `${process.platform}-${process.arch}.`,
  )
}

/** Resolves with the exit status. The child has our terminal; signals that are sent to us alone are passed on. */
function run(program, args) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' })
  const passOn = (signal) => {
    // Ctrl-C reaches the child by itself: twice would mean "at once".
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, passOn)
  return new Promise((resolve) => {
    child.on('error', (error) => fail(error.message))
    child.on('exit', (status, signal) => {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, passOn)
      if (signal === null) resolve(status ?? 1)
      else process.kill(process.pid, signal)
    })
  })
}

function fail(message, status = 1) {
  process.stderr.write(`${message}\n`)
  process.exit(status)
}
