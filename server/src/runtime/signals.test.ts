import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'

const signals = JSON.stringify(new URL('signals.ts', import.meta.url).href)

/** Returns the exit status of a process that executes the statements. */
function statusOf(statements: string): number | null {
  const script = `import { endProcess } from ${signals}\n${statements}`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 120_000 }).status
}

it('ends a process with open handles, with its status', () => {
  assert.equal(statusOf(`setInterval(() => {}, 1_000)\nendProcess(3, 100)`), 3)
})

it('waits for nothing if nothing is open', () => {
  assert.equal(statusOf('endProcess(4, 3_600_000)'), 4)
})
