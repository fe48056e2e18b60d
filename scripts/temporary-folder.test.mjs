import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { after, test } from 'node:test'

/** Returns the folder that a run chooses, and whether it is there while the run lasts. */
function chosenBy(env, isWhole, before = '') {
  const script = `
    const { useTemporaryFolder } = await import(${JSON.stringify(new URL('temporary-folder.mjs', import.meta.url))})
    const { existsSync, mkdirSync } = await import('node:fs')
    ${before}
    useTemporaryFolder('/root-of-a-test', { isWhole: ${isWhole} })
    const folder = process.env.TMPDIR
    console.log(JSON.stringify({ folder, exists: folder !== undefined && existsSync(folder) }))`
  const { TMPDIR: _, ...rest } = process.env
  const options = { env: { ...rest, ...env }, encoding: 'utf8' }
  return JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-e', script], options).stdout)
}

test('a folder that is given is used', () => {
  assert.equal(chosenBy({ TMPDIR: '/tmp' }, true).folder, '/tmp')
})

const { folder: shared } = chosenBy({}, false)
after(() => shared && rmSync(shared, { recursive: true, force: true }))
const skip = shared === undefined && 'this machine has too little memory'

test('a whole run has a folder of its own in memory, until its end', { skip }, () => {
  const first = chosenBy({}, true)
  assert.match(first.folder, /^\/dev\/shm\//)
  assert.ok(first.exists)
  assert.ok(!existsSync(first.folder))
  assert.notEqual(chosenBy({}, true).folder, first.folder)
})

test('a folder that a killed run with the same process number has left is replaced', { skip }, () => {
  const left =
    'mkdirSync(`/dev/shm/pharos-test-${process.getuid()}-run-${process.pid}/left`, { recursive: true })'
  const { folder, exists } = chosenBy({}, true, left)
  assert.ok(exists)
  assert.ok(!existsSync(folder))
})

test('runs of named files share one', { skip }, () => {
  assert.equal(chosenBy({}, false).folder, shared)
  assert.ok(chosenBy({}, false).exists)
})
