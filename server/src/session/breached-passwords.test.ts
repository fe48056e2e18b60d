import assert from 'node:assert/strict'
import { hash, randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { openBreachedPasswords } from './breached-passwords.ts'
import { isLongRun } from '../runtime/testing-scale.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-breached-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
function write(content: string | Buffer): string {
  const path = join(folder, String(files++))
  writeFileSync(path, content)
  return path
}

const sha1 = (password: string) => hash('sha1', password).toUpperCase()
const counts = ['1', '42', '999999999']
const linesOf = (passwords: readonly string[]) =>
  passwords
    .map(sha1)
    .toSorted()
    .map((one, index) => `${one}:${counts[index % counts.length]}`)
const named = (count: number, prefix = 'password') =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n}`)

async function found(path: string, passwords: readonly string[]): Promise<string[]> {
  const breached = openBreachedPasswords(path)
  const answers = await Promise.all(passwords.map((password) => breached.has(password)))
  breached.close()
  return passwords.filter((_, index) => answers[index])
}

describe('a file of breached passwords', () => {
  for (const count of [1, 2, 3, 70, 79, 100, 5_000]) {
    it(`of ${count} lines contains exactly those passwords`, async () => {
      const inside = named(count)
      // In `npm test` every tenth password of the large file is asked, in turns; of the small files, whose search reads the same, all.
      const step = isLongRun || count < 1_000 ? 1 : 10
      const turn = randomInt(step)
      const asked = inside.filter((_, at) => at % step === turn)
      for (const [ending, last] of [
        ['\n', '\n'],
        ['\r\n', '\r\n'],
        ['\n', ''],
      ] as const) {
        const path = write(linesOf(inside).join(ending) + last)
        assert.deepEqual(await found(path, [...asked, ...named(200, 'another')]), asked)
      }
    })
  }

  it('finds the lowest and the highest possible hash', async () => {
    const [first, last] = ['0'.repeat(40), 'F'.repeat(40)]
    const path = write([`${first}:1`, ...linesOf(named(300)), `${last}:1`].join('\r\n'))
    assert.deepEqual(await found(path, named(300)), named(300))
  })

  it('is searched for the NFC form of the password', async () => {
    const path = write(linesOf(['kühlschrank im wald']).join('\n'))
    assert.equal((await found(path, ['kühlschrank im wald'.normalize('NFD')])).length, 1)
  })

  it('may be in lower case, and without counts', async () => {
    const path = write(named(50).map(sha1).toSorted().join('\n').toLowerCase())
    assert.deepEqual(await found(path, ['password 7', 'password 77']), ['password 7'])
  })

  it('gives the same result as a set of the passwords', async () => {
    const sets = fc.uniqueArray(fc.string({ maxLength: 12 }), { maxLength: 400, minLength: 1 })
    await fc.assert(
      fc.asyncProperty(sets, fc.array(fc.string({ maxLength: 12 })), async (inside, others) => {
        const path = write(linesOf(inside.map((one) => one.normalize('NFC'))).join('\n'))
        const set = new Set(inside.map((one) => one.normalize('NFC')))
        const asked = [...inside, ...others]
        assert.deepEqual(
          await found(path, asked),
          asked.filter((one) => set.has(one.normalize('NFC'))),
        )
      }),
      { numRuns: 60 },
    )
  })
})

describe('an invalid file', () => {
  const good = linesOf(named(500))
  const bad: Record<string, string | Buffer> = {
    empty: '',
    'a text': 'there is nothing here that one could read as a list of hashes, or is there? '.repeat(40),
    'a line that is not a hash': 'password:1\n',
    'sorted by count': good.toReversed().join('\n'),
    'NTLM hashes': good.map((line) => line.slice(8)).join('\n'),
    'truncated within a hash': good.join('\n').slice(0, -30),
    binary: randomBytes(20_000),
  }
  for (const [what, content] of Object.entries(bad)) {
    it(`is rejected on opening: ${what}`, () => {
      const path = write(content)
      assert.throws(
        () => openBreachedPasswords(path),
        (error: Error) => error.message.startsWith(path),
      )
    })
  }

  it('is rejected on opening if it does not exist', () => {
    assert.throws(() => openBreachedPasswords(join(folder, 'nothing')), { code: 'ENOENT' })
  })

  it('throws for searches that are no longer possible after it was truncated or overwritten', async () => {
    const path = write(good.join('\n'))
    const breached = openBreachedPasswords(path)
    truncateSync(path, 100)
    await assert.rejects(breached.has('password 1'), { code: 'unavailable' })
    writeFileSync(path, 'x'.repeat(good.join('\n').length))
    await assert.rejects(breached.has('password 1'), { code: 'unavailable' })
    breached.close()
  })

  it('with any content, never causes an endless search or a false match', async () => {
    const garbled = fc.tuple(fc.nat(good.length - 1), fc.string({ maxLength: 60 }), fc.nat(40))
    await fc.assert(
      fc.asyncProperty(fc.array(garbled, { maxLength: 5 }), fc.nat(10_000), async (changes, n) => {
        const lines = [...good]
        for (const [at, text, from] of changes) lines[at] = lines[at]!.slice(0, from) + text
        const path = write(lines.join('\n'))
        const asked = `another ${n}`
        const answer = await found(path, [asked]).catch((error: Error) => error)
        assert.ok(answer instanceof Error || answer.length === 0)
      }),
      { numRuns: 100 },
    )
  })
})
