import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { tryProcessLock } from './process-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-lock-'))
after(() => rmSync(folder, { recursive: true }))

describe('a process lock', () => {
  it('is held by one at a time and free after its release', () => {
    const file = join(folder, 'a.lock')
    const first = tryProcessLock(file)
    assert.ok(first)
    assert.equal(tryProcessLock(file), undefined)
    first.release()
    first.release()
    const second = tryProcessLock(file)
    assert.ok(second)
    second.release()
  })

  it('leaves nothing but one empty file', () => {
    const inner = mkdtempSync(join(folder, 'inner-'))
    const lock = tryProcessLock(join(inner, 'b.lock'))
    assert.deepEqual(readdirSync(inner), ['b.lock'])
    lock?.release()
    assert.deepEqual(readdirSync(inner), ['b.lock'])
  })

  it('is released when its process is killed', async () => {
    const file = join(folder, 'c.lock')
    const url = new URL('process-lock.ts', import.meta.url).href
    const script = `import { tryProcessLock } from '${url}'
      globalThis.lock = tryProcessLock('${file}'); console.log('held'); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script])
    await once(child.stdout, 'data')
    assert.equal(tryProcessLock(file), undefined)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = tryProcessLock(file)
    assert.ok(lock)
    lock.release()
  })

  it('reports why a file cannot be locked', () => {
    assert.throws(() => tryProcessLock(join(folder, 'missing', 'd.lock')), /unable to open/)
  })
})
