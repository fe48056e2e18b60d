import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { cpuMicrosOf, endedProgramsMicros, parentOf, treeMicros } from './processor-time.ts'

const skip = process.platform !== 'linux' && 'it is read from /proc'
const burn = 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'

describe('processor time', { skip }, () => {
  it('of ended programs grows by that of a program and its children', () => {
    const before = endedProgramsMicros()
    spawnSync('sh', ['-c', `(${burn}); true`])
    assert.ok(endedProgramsMicros() - before >= 10_000)
  })

  it('of a server contains that of the processes that it has started, running or ended', async () => {
    const child = spawn('sh', ['-c', `sh -c '${burn}; echo; read x; true'; true`])
    await once(child.stdout, 'data')
    const pid = child.pid!
    assert.ok(treeMicros(pid) >= cpuMicrosOf({ pid }) + 10_000)
    assert.equal(parentOf(pid), process.pid)
    child.stdin.end('\n')
    await once(child, 'exit')
    assert.equal(cpuMicrosOf({ pid }), 0)
  })
})
