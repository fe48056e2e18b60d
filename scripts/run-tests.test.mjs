// A second run tells a test that is starved from one that fails, and never hides what made-up input has found.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'pharos-tests-'))
after(() => rmSync(folder, { recursive: true }))

const head = `import { it } from 'node:test'\nimport { existsSync, writeFileSync } from 'node:fs'\n`
const passing = `${head}it('passes', () => {})\n`
const failing = `${head}it('fails', () => { throw new Error('always') })\n`
const failingOnce = (message) => `${head}it('passes too', () => {})
it('fails once', () => {
  const mark = import.meta.filename + '.mark'
  if (existsSync(mark)) return
  writeFileSync(mark, '')
  throw new Error(${JSON.stringify(message)})
})\n`

/** The counts, and what was printed. */
function runFiles(files) {
  const place = mkdtempSync(join(folder, 'case-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
  const script = `
    const { runUnstableAgain } = await import(${JSON.stringify(join(import.meta.dirname, 'run-tests.mjs'))})
    const { passed, failed, skipped } = await runUnstableAgain(${JSON.stringify(Object.keys(files))})
    process.stdout.write('\\n' + JSON.stringify({ passed, failed, skipped }))`
  // A file, since the runner hands its own arguments on to the tests.
  writeFileSync(join(place, 'run.mjs'), script)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = spawnSync(process.execPath, ['run.mjs'], { cwd: place, env })
  const output = stdout.toString()
  return { counts: JSON.parse(output.slice(output.lastIndexOf('\n'))), output }
}

describe('a run of tests', () => {
  it('counts, and runs nothing again where all is well', () => {
    const { counts, output } = runFiles({ 'a.test.mjs': passing, 'b.test.mjs': passing })
    assert.deepEqual(counts, { passed: 2, failed: 0, skipped: 0 })
    assert.doesNotMatch(output, /again/)
  })

  it('fails where something fails twice', () => {
    const { counts } = runFiles({ 'a.test.mjs': passing, 'b.test.mjs': failing })
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
  })

  it('names what passed only when it ran again, and counts it once', () => {
    const { counts, output } = runFiles({ 'a.test.mjs': passing, 'b.test.mjs': failingOnce('too late') })
    assert.deepEqual(counts, { passed: 3, failed: 0, skipped: 0 })
    assert.match(output, /UNSTABLE: passed only when it ran again: fails once \(b\.test\.mjs\)/)
  })

  it('never tries a finding of made-up input again', () => {
    const property = runFiles({ 'a.test.mjs': failingOnce('Property failed after 3 tests') })
    assert.deepEqual(property.counts, { passed: 1, failed: 1, skipped: 0 })
    const fuzz = runFiles({ 'a-fuzz.test.mjs': failingOnce('too late') })
    assert.deepEqual(fuzz.counts, { passed: 1, failed: 1, skipped: 0 })
  })

  it('tries nothing again where much has failed', () => {
    const names = ['a', 'b', 'c', 'd'].map((name) => [`${name}.test.mjs`, failingOnce('too late')])
    assert.deepEqual(runFiles(Object.fromEntries(names)).counts, { passed: 4, failed: 4, skipped: 0 })
  })
})
