import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogOutput } from './log-output.ts'

test('a full disk ends no write, and the number of lost lines follows once there is room', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const fd = openSync('/dev/full', 'w')
  const output = createLogOutput(fd, (lost) => `lost ${lost}\n`)
  output.write('one\ntwo\n')
  output.write('three\n')
  closeSync(fd)
  // The lowest free descriptor is used again.
  assert.equal(openSync(join(folder, 'log'), 'w'), fd)
  output.write('four\n')
  output.write('five\n')
  closeSync(fd)
  assert.equal(readFileSync(join(folder, 'log'), 'utf8'), 'lost 3\nfour\nfive\n')
})

test('a pipe that nobody reads blocks nothing, loses what does not fit, and gets the number of lost lines', async () => {
  const [line, count] = ['x'.repeat(1_023), 4_096]
  const script = `
    const { createLogOutput } = await import(${JSON.stringify(new URL('log-output.ts', import.meta.url).href)})
    const output = createLogOutput(1, (lost) => 'lost ' + lost + '\\n')
    for (let at = 0; at < ${count}; at++) output.write('${line}\\n')
    process.stderr.write('written')
    for await (const _ of process.stdin) output.write('last\\n')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
  // The child continues although its output is not read.
  const [text] = (await once(child.stderr, 'data')) as [Buffer]
  assert.equal(String(text), 'written')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part
    if (output.includes('last')) child.stdin.end()
    else child.stdin.write('.')
  })
  await once(child, 'close')
  const lines = output.trimEnd().split('\n')
  const whole = lines.filter((one) => one === line).length
  const notices = lines.flatMap((one) => /^lost (\d+)$/.exec(one)?.[1] ?? [])
  assert.equal(whole + Number(notices[0]), count)
  assert.equal(notices.length, 1)
  assert.ok(whole > 1_000 && whole < 2_000, String(whole))
  assert.equal(lines.at(-1), 'last')
})

for (const logFormat of ['json', 'text']) {
  test(`a process whose log (${logFormat}) is on a full disk or has lost its reader goes on`, () => {
    const script = `
      const { createLog } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)})
      const log = createLog({ logLevel: 'info', logFormat: '${logFormat}' })
      for (let at = 0; at < 3; at++) {
        log.info({ at }, 'line')
        log.error(new Error('planted'), 'line')
        await new Promise((resolve) => setImmediate(resolve))
      }
      process.stderr.write('done')`
    const node = `"${process.execPath}" --input-type=module -e "$SCRIPT"`
    for (const command of [`${node} > /dev/full`, `${node} | true`]) {
      const options = { env: { ...process.env, SCRIPT: script }, encoding: 'utf8' } as const
      const { stderr } = spawnSync('bash', ['-c', command], options)
      assert.equal(stderr, 'done', command)
    }
  })
}
