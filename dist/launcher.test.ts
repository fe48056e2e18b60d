// Both launchers start the program without installing packages, whatever node_modules contains.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { commands } from '../server/src/commands/index.ts'
import { nodeFlags, nodeMajorMin } from '../server/bin/runtime.mjs'
import { bundleFile } from './bundle.ts'
import { repository } from './release.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-launcher-'))
after(() => rmSync(folder, { recursive: true }))

/** A program that prints its start parameters. */
const main = `console.log(JSON.stringify({ flags: process.execArgv, words: process.argv.slice(2), env: process.env.PHAROS_NODE, file: process.argv[1].split('/').at(-1) }))`

/** A checkout whose packages do not match the lockfile, which made an earlier launcher install them. */
function checkout(): string {
  const root = mkdtempSync(join(folder, 'checkout-'))
  for (const path of ['server/src', 'node_modules/fastify', 'bin', 'scripts'])
    mkdirSync(join(root, path), { recursive: true })
  cpSync(join(repository, 'server/bin'), join(root, 'server/bin'), { recursive: true })
  cpSync(join(repository, 'scripts/run.mjs'), join(root, 'scripts/run.mjs'))
  cpSync(join(repository, 'dist/bin/pharos'), join(root, 'bin/pharos'))
  writeFileSync(join(root, 'server/src/main.ts'), main)
  writeFileSync(join(root, 'node_modules/fastify/package.json'), '{"name":"fastify","version":"1.0.0"}')
  const packages = { '': {}, 'node_modules/fastify': { version: '5.0.0' } }
  writeFileSync(join(root, 'package.json'), '{"name":"pharos","private":true}')
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
  return root
}

/** The same with the server in one file. */
function release(): string {
  const root = checkout()
  mkdirSync(join(root, dirname(bundleFile)))
  writeFileSync(join(root, bundleFile), main)
  return root
}

/** The demo loads the sources. */
const fileOf = (command: string): string => (command === 'start' ? 'main.ts' : 'main.mjs')

/** A Node.js of another version: it prints the version, or the words that it was started with. */
function nodeOf(version: string): string {
  const file = join(mkdtempSync(join(folder, 'node-')), 'node')
  writeFileSync(file, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\necho "$@"\n`)
  chmodSync(file, 0o755)
  return file
}

/** No registry is reachable, and a call of npm on the path would fail visibly. */
const unreachable = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }

function run(program: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env
  const result = spawnSync(program, words, {
    env: { ...inherited, ...unreachable, ...env },
    encoding: 'utf8',
  })
  return { status: result.status, stdout: result.stdout, stderr: result.stderr }
}

/** Every file of a folder with its size and times. */
const filesOf = (root: string): string[] =>
  globSync('**', { cwd: root }).map((name) => {
    const { size, mtimeMs, ino } = lstatSync(join(root, name))
    return `${name} ${size} ${mtimeMs} ${ino}`
  })

describe('server/bin/pharos.mjs', () => {
  it('starts every command with the flags of the server, and changes no file', () => {
    const root = checkout()
    const before = filesOf(root)
    for (const { name } of commands) {
      const { status, stdout, stderr } = run(process.execPath, [
        join(root, 'server/bin/pharos.mjs'),
        name,
        '--x',
      ])
      assert.deepEqual([status, stderr], [0, ''])
      assert.deepEqual(JSON.parse(stdout), { flags: nodeFlags, words: [name, '--x'], file: 'main.ts' })
    }
    assert.deepEqual(filesOf(root), before)
  })

  it('starts the server of a release in one file', () => {
    const root = release()
    for (const name of ['serve', 'start']) {
      const { stdout } = run(process.execPath, [join(root, 'server/bin/pharos.mjs'), name])
      assert.equal(JSON.parse(stdout).file, fileOf(name))
    }
  })

  it('refuses an old Node.js in one sentence', () => {
    const root = checkout()
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'22.1.0'}})`
    const { status, stdout, stderr } = run(process.execPath, [
      '--import',
      old,
      join(root, 'server/bin/pharos.mjs'),
      'status',
    ])
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^Pharos needs Node\.js 24 or later; this is v\S+\.\n$/)
  })
})

describe('bin/pharos of the distribution', () => {
  const launcher = (root: string) => join(root, 'bin/pharos')

  it('starts every command with the flags of the server, and changes no file', () => {
    const root = release()
    const before = filesOf(root)
    for (const { name } of commands) {
      const { status, stdout, stderr } = run(launcher(root), [name, 'a b'], { PHAROS_NODE: process.execPath })
      assert.deepEqual([status, stderr], [0, ''])
      // PHAROS_NODE is no setting of Pharos.
      assert.deepEqual(JSON.parse(stdout), { flags: nodeFlags, words: [name, 'a b'], file: fileOf(name) })
    }
    assert.deepEqual(filesOf(root), before)
  })

  it(`accepts Node.js ${nodeMajorMin} and refuses older ones in one sentence`, () => {
    const root = release()
    const accepted = run(launcher(root), ['status'], { PHAROS_NODE: nodeOf(`v${nodeMajorMin}.0.0`) })
    assert.equal(accepted.stdout, `${nodeFlags.join(' ')} ${join(root, bundleFile)} status\n`)
    const old = nodeOf(`v${nodeMajorMin - 1}.9.1`)
    assert.deepEqual(run(launcher(root), ['status'], { PHAROS_NODE: old }), {
      status: 1,
      stdout: '',
      stderr: `Pharos needs Node.js ${nodeMajorMin} or later; ${old} is v${nodeMajorMin - 1}.9.1. Install a later one, or set PHAROS_NODE to its path.\n`,
    })
  })

  it('names the program that cannot be run', () => {
    const { status, stderr } = run(launcher(release()), ['status'], { PHAROS_NODE: '/nowhere/node' })
    assert.equal(status, 1)
    assert.match(stderr, /^Pharos needs Node\.js 24 or later, and \/nowhere\/node cannot be run: .*\n$/)
  })

  it('finds its tree through a symbolic link', () => {
    const root = release()
    const link = join(folder, 'linked')
    symlinkSync(launcher(root), link)
    assert.deepEqual(JSON.parse(run(link, ['config'], { PHAROS_NODE: process.execPath }).stdout).words, [
      'config',
    ])
  })
})
