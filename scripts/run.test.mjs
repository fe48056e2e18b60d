import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const platform = `${process.platform}-${process.arch}`
const spareOf = (root) => join(root, `scripts/spare-node/node_modules/node-${platform}/bin/node`)
const folders = []
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

const MAIN = `
  process.on('SIGTERM', () => process.exit(7))
  console.log(process.argv.slice(2).join(' '))
  if (process.argv[3] === 'wait') setInterval(() => {}, 1000)
  else process.exitCode = Number(process.argv[3] ?? 0)`

/** A checkout with a lockfile, one command, and an npm that only records its calls. */
function checkout(packages = { 'node_modules/a': { version: '1.0.0' } }) {
  const root = mkdtempSync(join(tmpdir(), 'pharos-run-'))
  folders.push(root)
  for (const folder of ['scripts', 'server/src', 'server/bin', 'bin'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const name of ['run.mjs', 'end-with-parent.mjs', 'debian-packages.mjs', 'programs.json'])
    cpSync(fileURLToPath(new URL(name, import.meta.url)), join(root, 'scripts', name))
  cpSync(
    fileURLToPath(new URL('../server/bin/runtime.mjs', import.meta.url)),
    join(root, 'server/bin/runtime.mjs'),
  )
  writeFileSync(join(root, 'server/src/main.ts'), MAIN)
  writeFileSync(
    join(root, 'bin/npm'),
    `#!/bin/sh\necho "$@" >> npm.log\nmkdir -p node_modules\nexit \${NPM_STATUS:-0}\n`,
    {
      mode: 0o755,
    },
  )
  writeLock(root, packages)
  return root
}

function writeLock(root, packages) {
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }))
}

const envOf = (root, more) => ({ PATH: `${join(root, 'bin')}:${process.env.PATH}`, ...more })

function run(root, args, env = {}) {
  const result = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), ...args], {
    env: envOf(root, env),
  })
  return { status: result.status, stdout: String(result.stdout), stderr: String(result.stderr) }
}

function spawnWaiting(program, args, root, env = {}) {
  return spawn(program, args, { cwd: root, env: envOf(root, env), stdio: ['ignore', 'pipe', 'ignore'] })
}

const installs = (root) =>
  existsSync(join(root, 'npm.log')) ? readFileSync(join(root, 'npm.log'), 'utf8').split('\n').length - 1 : 0

describe('npm run', () => {
  it('installs the packages of the lockfile, once, and again when it changes', () => {
    const root = checkout()
    assert.equal(run(root, ['start']).status, 0)
    assert.match(readFileSync(join(root, 'npm.log'), 'utf8'), /^ci --include=dev --include=optional/)
    run(root, ['start'])
    assert.equal(installs(root), 1)
    writeLock(root, { 'node_modules/a': { version: '1.0.1' } })
    run(root, ['start'])
    assert.equal(installs(root), 2)
  })

  it('keeps a manual installation that matches', () => {
    const root = checkout({
      'node_modules/a': { version: '1.0.0' },
      'node_modules/mac-only': { version: '1.0.0', optional: true },
    })
    mkdirSync(join(root, 'node_modules'))
    const list = (version) => JSON.stringify({ packages: { 'node_modules/a': { version } } })
    writeFileSync(join(root, 'node_modules/.package-lock.json'), list('0.9.0'))
    run(root, ['start'])
    assert.equal(installs(root), 1)
    rmSync(join(root, 'node_modules/.pharos-lock'))
    writeFileSync(join(root, 'node_modules/.package-lock.json'), list('1.0.0'))
    run(root, ['start'])
    assert.equal(installs(root), 1)
  })

  it('stops if the packages cannot be installed', () => {
    const root = checkout()
    const { status, stdout, stderr } = run(root, ['start'], { NPM_STATUS: '9' })
    assert.equal(status, 9)
    assert.equal(stdout, '')
    assert.match(stderr, /could not be installed/)
    assert.equal(existsSync(join(root, 'node_modules/.pharos-lock')), false)
  })

  /** Its Node does not start without libatomic1. It has only the test's package manager and npm. */
  function checkoutWithoutLibrary() {
    const root = checkout()
    const script = (path, ...lines) => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, ['#!/bin/sh', ...lines].join('\n'), { mode: 0o755 })
    }
    script(
      join(root, `node_modules/node-${platform}/bin/node`),
      `[ -e '${root}/library' ] && exec "$NODE" "$@"`,
      'echo "node: error while loading shared libraries: libatomic.so.1: cannot open" >&2; exit 127',
    )
    script(
      join(root, 'bin/dpkg-query'),
      `[ "$1" = --version ] || [ ! -e '${root}/library' ] || echo libatomic1 installed`,
    )
    script(join(root, 'bin/dpkg'))
    return { root, script }
  }

  it('installs the library without which the Node of the repository does not start, as root', () => {
    const { root, script } = checkoutWithoutLibrary()
    script(
      join(root, 'bin/apt-get'),
      `echo "$@" >> '${root}/apt.log'`,
      `case "$*" in *install*) touch '${root}/library' ;; esac`,
    )
    const { status, stderr } = run(root, ['start'], { NODE: process.execPath })
    assert.equal(status, 0, stderr)
    if (process.getuid() !== 0) return assert.ok(!existsSync(join(root, 'apt.log')))
    assert.match(stderr, /Installing libatomic1/)
    assert.match(
      readFileSync(join(root, 'apt.log'), 'utf8'),
      /install -y --no-install-recommends libatomic1\n$/,
    )
  })

  it('installs an older Node where the library cannot be installed and the Node of the machine is too old', () => {
    const { root, script } = checkoutWithoutLibrary()
    script(join(root, 'bin/apt-get'), 'exit 1')
    script(
      join(root, 'bin/npm'),
      `echo "$@" >> npm.log`,
      `mkdir -p node_modules`,
      `case "$*" in *spare-node*) mkdir -p $(dirname '${spareOf(root)}'); ln -s "$NODE" '${spareOf(root)}' ;; esac`,
    )
    // Simulates a machine whose Node is older than any.
    const runtime = join(root, 'server/bin/runtime.mjs')
    writeFileSync(runtime, `export const nodeMajorMin = 1000; export const nodeFlags = []`)
    const first = run(root, ['start', '3'], { NODE: process.execPath })
    assert.deepEqual([first.status, first.stdout], [3, 'start 3\n'], first.stderr)
    assert.match(first.stderr, /that of the repository needs libatomic1/)
    assert.equal(run(root, ['start', '4'], { NODE: process.execPath }).status, 4)
    assert.equal(installs(root), 2)
  })

  it('says what to install where no Node starts', () => {
    const { root, script } = checkoutWithoutLibrary()
    script(join(root, 'bin/apt-get'), 'exit 1')
    script(join(root, 'bin/npm'), `mkdir -p node_modules; case "$*" in *spare-node*) exit 1 ;; esac`)
    writeFileSync(
      join(root, 'server/bin/runtime.mjs'),
      `export const nodeMajorMin = 1000; export const nodeFlags = []`,
    )
    const { status, stderr } = run(root, ['start'])
    assert.equal(status, 1)
    assert.match(stderr, /needs Node\.js 1000 or later[^]*As root: apt-get install libatomic1/)
  })

  it('passes arguments and status on', () => {
    const root = checkout()
    assert.deepEqual(run(root, ['start', '3', '--dry-run']), {
      status: 3,
      stdout: 'start 3 --dry-run\n',
      stderr: 'Installing the packages (npm ci) ...\nThe packages are installed. Loading the server ...\n',
    })
  })

  it('passes on a signal that is sent to it alone', async () => {
    const root = checkout()
    const child = spawnWaiting(process.execPath, [join(root, 'scripts/run.mjs'), 'start', 'wait'], root)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [7, null])
  })

  it('stops the command when it is killed itself', async () => {
    const root = checkout()
    const child = spawnWaiting(process.execPath, [join(root, 'scripts/run.mjs'), 'start', 'wait'], root)
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    // The other end of this pipe is open until the command ends.
    await once(child.stdout, 'close')
  })

  it('stops the command when npm is killed', async () => {
    const root = checkout()
    const npm = `
      const { spawn } = require('node:child_process')
      spawn(process.execPath, ['scripts/run.mjs', 'start', 'wait'], { stdio: 'inherit' })`
    const child = spawnWaiting(process.execPath, ['-e', npm], root, { npm_lifecycle_event: 'start' })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child.stdout, 'close')
  })

  it('has every command', () => {
    const { status, stderr } = run(checkout(), ['strat'])
    assert.equal(status, 64)
    assert.match(stderr, /commands: start, dev, build, dist, pharos, test/)
  })
})

describe('npm test', () => {
  const script = fileURLToPath(new URL('test.mjs', import.meta.url))

  function testOf(text) {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-test-of-'))
    folders.push(folder)
    const file = join(folder, 'some.test.mjs')
    writeFileSync(file, `import { it } from 'node:test'\n${text}`)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, stdout } = spawnSync(process.execPath, [script, file], { env })
    return { status, lastLine: String(stdout).trimEnd().split('\n').at(-1) }
  }

  it('ends with the count, alone', () => {
    const text = `it('a', () => {}); it('b', () => {}); it.skip('c')`
    assert.deepEqual(testOf(text), { status: 0, lastLine: '2 passed, 0 failed, 1 skipped' })
  })

  it('fails when a test fails, or a file does', () => {
    assert.deepEqual(testOf(`it('a', () => { throw new Error('x') })`), {
      status: 1,
      lastLine: '0 passed, 1 failed, 0 skipped',
    })
    assert.deepEqual(testOf(`it('a', () => {}); process.exit(3)`).status, 1)
  })

  it('fails when no test ran', () => {
    assert.deepEqual(testOf(`it.skip('a')`), { status: 1, lastLine: '0 passed, 0 failed, 1 skipped' })
  })
})
