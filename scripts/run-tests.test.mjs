// The runner counts every test once, and names the tests that were running when a process hangs or ends early.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const folder = mkdtempSync(join(tmpdir(), 'pharos-tests-'))
after(() => rmSync(folder, { recursive: true }))

const head = `import { describe, it } from 'node:test'\nimport { existsSync, writeFileSync } from 'node:fs'
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))\n`
const passing = `${head}it('passes', () => {})\n`
const failing = `${head}it('fails', () => { throw new Error('always') })\n`
const failingOnce = `${head}it('passes too', () => {})
it('fails once', () => {
  const mark = import.meta.filename + '.mark'
  if (existsSync(mark)) return
  writeFileSync(mark, '')
  throw new Error('the first time')
})\n`

/** Writes the files, and a program that runs them and prints the counts. The options may be source code. */
function writeRun(files, options = {}) {
  const source = typeof options === 'string' ? options : JSON.stringify(options)
  const place = mkdtempSync(join(folder, 'case-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
  const script = `
    const { runTests } = await import(${JSON.stringify(join(import.meta.dirname, 'run-tests.mjs'))})
    const counts = await runTests(${JSON.stringify(Object.keys(files).filter((name) => name.includes('.test.')))}, ${source})
    process.stdout.write('\\n' + JSON.stringify(counts))`
  writeFileSync(join(place, 'run.mjs'), script)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return { cwd: place, env }
}

/** Returns the counts, and the printed text. */
function runFiles(files, options = {}) {
  const { stdout, stderr } = spawnSync(process.execPath, ['run.mjs'], writeRun(files, options))
  const output = `${stderr}${stdout}`
  return { counts: JSON.parse(output.slice(output.lastIndexOf('\n'))), output }
}

describe('a run of tests', () => {
  it('counts the tests of all files, with a line for each file', () => {
    const { counts, output } = runFiles({ 'a.test.mjs': passing, 'b.test.mjs': passing })
    assert.deepEqual(counts, { passed: 2, failed: 0, skipped: 0 })
    assert.match(output, /^ok {4} +[\d.]+ s {2}a\.test\.mjs: 1 passed \([\d.]+ s of processor time\)$/m)
  })

  it('counts skipped tests, and files that cannot be loaded as failed', () => {
    const skipped = `${head}it.skip('skipped')\nit.todo('to do')\n`
    const { counts } = runFiles({ 'a.test.mjs': skipped, 'b.test.mjs': `import './missing.mjs'` })
    assert.deepEqual(counts, { passed: 0, failed: 1, skipped: 2 })
  })

  it('prints the report of a file that fails, and runs no file twice', () => {
    const { counts, output } = runFiles({ 'a.test.mjs': failing, 'b.test.mjs': failingOnce })
    assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 0 })
    assert.match(output, /Error: always/)
    assert.match(output, /^FAILED +[\d.]+ s {2}b\.test\.mjs: 1 passed, 1 FAILED/m)
  })

  it('runs files in one process, each with its own counts', () => {
    const text = `${head}it('is in process ' + process.pid, () => { throw new Error('from ' + process.pid) })\n`
    const files = { 'a.test.mjs': text, 'b.test.mjs': passing, 'c.test.mjs': text }
    const { counts, output } = runFiles(files, { lanes: 1 })
    assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 0 })
    assert.equal(new Set(output.match(/Error: from \d+/g)).size, 1)
    assert.match(output, /b\.test\.mjs: 1 passed \(/)
  })

  it('starts a file that waits for a promise after it, and the others at once', () => {
    const built = `import { existsSync } from 'node:fs'
      import { setTimeout as sleep } from 'node:timers/promises'
      export const built = (async () => {
        while (!existsSync('built')) await sleep(20)
      })()`
    const files = {
      'a.test.mjs': `${head}it('finds it', () => { if (!existsSync('built')) throw new Error('too early') })\n`,
      'b.test.mjs': `${head}it('builds it', () => writeFileSync('built', ''))\n`,
      'built.mjs': built,
    }
    const waits = `[(file) => file === 'a.test.mjs', (await import('./built.mjs')).built]`
    const { counts } = runFiles(files, `{ lanes: 1, waits: ${waits} }`)
    assert.deepEqual(counts, { passed: 2, failed: 0, skipped: 0 })
  })

  it('starts another process after one that ended', () => {
    const files = { 'a.test.mjs': `${head}it('exits', () => process.exit(0))\n`, 'b.test.mjs': passing }
    const { counts, output } = runFiles(files, { lanes: 1 })
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
    assert.match(output, /a\.test\.mjs: the process ended \(status 0\) without its result/)
  })

  it('fails if something throws after the test that began it', () => {
    const text = `${head}it('passes', () => { setTimeout(() => { throw new Error('too late') }, 20) })
      it('is next', () => sleep(100))\n`
    const { counts, output } = runFiles({ 'a.test.mjs': text, 'b.test.mjs': passing })
    assert.ok(counts.failed > 0)
    assert.match(output, /too late/)
  })
})

describe('a test that hangs', () => {
  const hanging = `${head}describe('a suite', () => {
    it('never ends', async () => { await sleep(20); await new Promise(() => {}) })
    it('is run afterwards', () => {})
  })\n`

  it('fails by its time limit, with its name, and the next one is run', () => {
    const { counts, output } = runFiles({ 'a.test.mjs': hanging }, { limits: { testMs: 2_000 } })
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
    assert.match(output, /never ends[^]*test timed out after 2000ms/)
  })

  it('ends its process by the time limit of the file, which prints what was running', () => {
    const busy = `${head}it('is busy', async () => { await sleep(50); for (;;); })\n`
    const files = { 'a.test.mjs': hanging, 'b.test.mjs': busy }
    const { counts, output } = runFiles(files, { limits: { fileMs: 10_000, dumpMs: 500 } })
    assert.deepEqual(counts, { passed: 0, failed: 2, skipped: 0 })
    assert.match(
      output,
      /a\.test\.mjs: not finished after 10 s\nrunning:\n.*\n {4}a suite .*\n {6}never ends/,
    )
    assert.match(output, /^open: /m)
    assert.match(output, /b\.test\.mjs: not finished after 10 s\nrunning:\n.*\n {4}is busy/)
  })

  it('is detected after the last test too, if something keeps the process alive', () => {
    const withOpenTimer = `${head}it('leaks', () => { setInterval(() => {}, 1000) })\n`
    const { counts, output } = runFiles({ 'a.test.mjs': withOpenTimer }, { limits: { idleMs: 1_500 } })
    assert.equal(counts.failed, 1)
    assert.match(output, /tests: no test ran for 1\.5 s, and the process did not end/)
  })
})

describe('a run that gets a signal', () => {
  it('ends its tests, which end the programs that they started', async () => {
    const text = `${head}import { spawn } from 'node:child_process'
it('starts a program', async () => {
  const child = spawn('sleep', ['600'])
  process.once('exit', () => child.kill('SIGKILL'))
  writeFileSync('pids', process.pid + ' ' + child.pid)
  await sleep(600_000)
})\n`
    const options = writeRun({ 'a.test.mjs': text, 'b.test.mjs': passing })
    const child = spawn(process.execPath, ['run.mjs'], { ...options, stdio: 'ignore' })
    const pids = await waitFor(() => readIfExists(join(options.cwd, 'pids'))?.split(' '))
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [143, null])
    await waitFor(() => pids.every((pid) => !existsSync(`/proc/${pid}`) || isZombie(pid)))
  })
})

const readIfExists = (file) => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined)

const isZombie = (pid) => / Z /.test(readIfExists(`/proc/${pid}/stat`) ?? '')

async function waitFor(ask) {
  for (const deadline = Date.now() + 240_000; ; await sleep(20)) {
    const answer = ask()
    if (answer) return answer
    assert.ok(Date.now() < deadline, String(ask))
  }
}

describe('a process that ends early', () => {
  for (const [how, statement, shown] of [
    ['by itself, with success', 'process.exit(0)', 'status 0'],
    ['by a signal', `process.kill(process.pid, 'SIGKILL')`, 'SIGKILL'],
  ]) {
    it(`${how}, fails with the name of the running test`, () => {
      const text = `${head}it('ends it', async () => { await sleep(50); ${statement} })\n`
      const { counts, output } = runFiles({ 'a.test.mjs': text, 'b.test.mjs': passing })
      assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
      assert.ok(output.includes(`the process ended (${shown}) without its result\nrunning:`), output)
    })
  }
})
