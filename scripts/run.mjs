// `npm run <command>`: installs the packages, then runs the command under the Node that this repository pins. It runs
// on any Node from 20 on, so it uses only features of Node 20 and imports no installed packages.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeFlags, nodeMajorMin } from '../server/bin/runtime.mjs'
import { installPackages, missingPackages } from './debian-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules/.pharos-lock')
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
const PARENT_POLL_MS = 500
/** The one library of the pinned Node that a small Debian does not have. */
const LIBRARY = { file: 'libatomic.so.1', package: 'libatomic1' }
const platform = `${process.platform}-${process.arch}`
/** An older Node, installed only where the pinned one does not start and the machine's is too old. */
const spare = {
  folder: 'scripts/spare-node',
  node: `scripts/spare-node/node_modules/node-${platform}/bin/node`,
}

const server = [...nodeFlags, 'server/src/main.ts']

/**
 * The programs of each command, run one after the other; the arguments of the command follow each. The bench runs loops of the server
 * in its own process.
 */
const commands = {
  start: [[...server, 'start']],
  dev: [['scripts/dev.mjs']],
  build: [['scripts/build-portal.mjs']],
  dist: [['scripts/build-portal.mjs'], ['dist/build.ts']],
  pharos: [server],
  test: [['scripts/test.mjs']],
  'test:long': [['scripts/test.mjs', '--long']],
  check: [['scripts/check.mjs']],
  lab: [['scripts/build-portal.mjs'], ['lab/src/main.ts']],
  bench: [[...nodeFlags, 'bench/src/main.ts']],
  generate: [
    ['server/src/db/generate.ts'],
    ['server/test/support/recording/write-examples.ts'],
    ['server/src/http/generate-documents.ts'],
  ],
  format: [['node_modules/oxfmt/bin/oxfmt']],
}

const parent = process.ppid
const [command = '', ...words] = process.argv.slice(2)
if (!Object.hasOwn(commands, command)) {
  fail(`usage: npm run <command> -- [words]\ncommands: ${Object.keys(commands).join(', ')}`, 64)
}
if (!isInstalled()) await install()
if (command === 'start') process.stderr.write('The packages are installed. Loading the server ...\n')
const node = findNode()
for (const args of commands[command]) {
  const status = await run(node, [...args, ...words])
  if (status !== 0) process.exit(status)
}

/** Whether node_modules matches the lockfile: by our stamp or, after a manual `npm install`, by npm's list. */
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

async function install() {
  process.stderr.write(`Installing the packages (npm ci)${sizeOfChdb()} ...\n`)
  const peers = peersBesideNpm()
  const { status, error } = runNpm(['ci', '--include=dev', '--include=optional'])
  await peers
  if (error) fail(`npm cannot be run (${error.message}). Install Node.js 20 or later with npm.`)
  if (status !== 0) fail('The packages could not be installed; see the errors of npm above.', status ?? 1)
  writeStamp(lockHash())
}

/** A whole run of the tests needs Debian's packages too: their installation takes as long as that of npm. Resolves when it has ended. */
async function peersBesideNpm() {
  // Without the rights test.mjs prints what will be skipped.
  if (!command.startsWith('test') || words.length > 0 || process.getuid?.() !== 0) return
  const flags = command === 'test:long' ? ['--long'] : []
  await once(
    spawn(process.execPath, ['scripts/install-peers.mjs', ...flags], { cwd: root, stdio: ['ignore', 2, 2] }),
    'exit',
  )
}

/** No package needs its install script. Warnings are about npm's own Node, which only runs this script. */
function runNpm(words) {
  const args = [
    ...words,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
  ]
  const npm = process.env.npm_execpath
  const options = { cwd: root, stdio: ['ignore', 2, 2] }
  return npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, options)
}

/** It is most of the download. Without it, as on other platforms, everything but flows works. */
function sizeOfChdb() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const suffix = process.platform === 'linux' ? '-gnu' : ''
  const found = packages[`node_modules/@chdb/lib-${process.platform}-${process.arch}${suffix}`]
  return found ? ', with 178 MB for chDB, the embedded ClickHouse that keeps flows' : ''
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** No effect in a read-only folder: the next start compares again. */
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

/** Returns the pinned Node of this platform; if it does not start, the running one if it is new enough, or else the spare one. */
function findNode() {
  const pinned = join(root, `node_modules/node-${platform}/bin/node`)
  let problem = existsSync(pinned) ? problemOf(pinned) : `the repository has none for ${platform}.`
  if (problem?.includes(LIBRARY.file) && installLibrary()) problem = problemOf(pinned)
  if (problem === undefined) return pinned
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) return process.execPath
  const isLibrary = problem.includes(LIBRARY.file)
  if (isLibrary && installSpare()) return join(root, spare.node)
  const remedy = isLibrary ? `\nAs root: apt-get install ${LIBRARY.package}` : ''
  fail(`Pharos needs Node.js ${nodeMajorMin} or later. This is ${process.version}, and ${problem}${remedy}`)
}

/** Returns whether the spare Node starts; installs it the first time. */
function installSpare() {
  const node = join(root, spare.node)
  if (existsSync(node)) return problemOf(node) === undefined
  process.stderr.write(
    `Installing Node.js ${nodeMajorMin}: that of the repository needs ${LIBRARY.package}, which is missing ...\n`,
  )
  return runNpm(['ci', '--prefix', spare.folder]).status === 0 && problemOf(node) === undefined
}

/** Returns why it does not start; undefined if it does. */
function problemOf(node) {
  const { status, error, stderr } = spawnSync(node, ['--version'])
  if (status === 0) return undefined
  return `that of the repository does not start: ${String(error?.message ?? stderr).trim()}`
}

function installLibrary() {
  if (process.getuid?.() !== 0 || missingPackages([LIBRARY.package])?.length !== 1) return false
  process.stderr.write(`Installing ${LIBRARY.package}, which Node.js needs ...\n`)
  return installPackages([LIBRARY.package])
}

/**
 * Resolves with the exit status. The child inherits our terminal, gets the signals that are sent to this process alone, and
 * detects by the closed channel that this process has been killed.
 */
function run(program, args) {
  const child = spawn(program, ['--import', './scripts/end-with-parent.mjs', ...args], {
    cwd: root,
    // Compiled sources are cached: a second start takes less time.
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'), ...process.env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const forward = (signal) => {
    // Ctrl-C reaches the child by itself: a second signal would stop it immediately.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  const timer = setInterval(() => stopWithoutNpm(child), PARENT_POLL_MS)
  return new Promise((resolve) => {
    child.on('error', (error) => fail(error.message))
    child.on('exit', (status, signal) => {
      clearInterval(timer)
      for (const name of signals) process.off(name, forward)
      if (signal === null) resolve(status ?? 1)
      else process.kill(process.pid, signal)
    })
  })
}

/** npm passes on SIGTERM; if it was killed, only its process id is missing. */
function stopWithoutNpm(child) {
  if (process.env.npm_lifecycle_event !== undefined && process.ppid !== parent) child.kill('SIGTERM')
}

function fail(message, status = 1) {
  process.stderr.write(`${message}\n`)
  process.exit(status)
}
