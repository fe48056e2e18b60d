import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { describe, it } from 'node:test'
import { argon2Hash, argon2Verify } from './password-hash.ts'

/** The priorities of the threads of this process: field 19 of Linux's /proc/<pid>/task/<tid>/stat. */
function threadPriorities(): number[] {
  const folder = '/proc/self/task'
  return readdirSync(folder).map((thread) => {
    const fields = readFileSync(`${folder}/${thread}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return Number(fields[16])
  })
}

describe('a hash', () => {
  it('is argon2id with the parameters of the policy, and matches its password only', async () => {
    const hash = await argon2Hash('a password')
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.notEqual(await argon2Hash('a password'), hash)
    assert.deepEqual(
      await Promise.all(['a password', 'A password', ''].map((one) => argon2Verify(hash, one))),
      [true, false, false],
    )
  })

  it('that is invalid is rejected, and the thread takes the next job', async () => {
    await assert.rejects(argon2Verify('no hash', 'a password'))
    assert.equal(await argon2Verify(await argon2Hash('b'), 'b'), true)
  })

  it('is computed at a lower priority than everything else', { skip: skipElsewhere() }, async () => {
    const before = getPriority()
    await argon2Hash('a password')
    const priorities = threadPriorities()
    assert.ok(priorities.includes(Math.min(before + 5, 19)), String(priorities))
    assert.equal(getPriority(), before)
  })

  it('keeps the process alive until it is computed, and no longer', () => {
    const url = new URL('password-hash.ts', import.meta.url).href
    const script = `const { argon2Hash } = await import(${JSON.stringify(url)}); console.log(await argon2Hash('a'))`
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    assert.equal(status, 0)
    assert.match(stdout, /^\$argon2id/)
  })
})

function skipElsewhere(): string | false {
  return process.platform === 'linux' ? false : 'only Linux has priorities of threads'
}
