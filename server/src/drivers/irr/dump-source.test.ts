// The dump source with a file that is invalid, incomplete, or changes while it is read.
import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rename, rm, unlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { IrrSource } from '../../registry/irr-source.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createDumpSource, type DumpSourceConfig } from './dump-source.ts'
import { until } from '../../../../lab/src/wait.ts'

const prefix = parsePrefix('192.0.2.0/24')
const never = new AbortController().signal
const good = '% A dump\n\nroute: 192.0.2.0/24\norigin: AS64496\nsource: LAB\n'
const goodAndMore = `${good}\nroute: 192.0.2.0/24\norigin: AS64497\nsource: LAB\n`

describe('an invalid dump', () => {
  const bad: readonly [string, string | Uint8Array, RegExp][] = [
    ['is empty', '', /empty/],
    ['is empty after decompression', gzipSync(''), /empty/],
    ['ends in the middle of a line', goodAndMore.slice(0, -4), /not written in full/],
    ['is truncated within compressed data', gzipSync(goodAndMore).subarray(0, 60), /unexpected end/i],
    ['is compressed and damaged', damaged(gzipSync(goodAndMore)), /incorrect|invalid/i],
    ['is not RPSL', '<html>\n\n<body>\n\nNot found\n', /not RPSL/],
  ]
  for (const [what, bytes, message] of bad) {
    it(`${what} leaves the last valid one in use, with the problem in the status`, async (t) => {
      const { source, replace } = await dumpOf(t, good)
      assert.equal(await origins(source), '64496')
      const serial = await source.serial(never)
      await replace(bytes)
      await until(() => source.problems().length > 0)
      assert.match(source.problems()[0]!, message)
      assert.match(source.problems()[0]!, /last valid one is used/)
      assert.equal(await origins(source), '64496')
      assert.equal(await source.serial(never), serial)
      await replace(goodAndMore)
      await until(async () => (await origins(source)) === '64496 64497')
      assert.deepEqual(source.problems(), [])
    })

    it(`${what} makes the source unreachable after the start, until the file is valid`, async (t) => {
      const { source, replace } = await dumpOf(t, bytes)
      await assert.rejects(source.routeObjects(prefix, never), (error) => {
        assert.ok(error instanceof DriverError && error.kind === 'unreachable')
        return message.test(error.message)
      })
      await replace(good)
      await until(async () => (await origins(source).catch(() => '')) === '64496')
    })
  }

  it('is deleted and created again', async (t) => {
    const { source, file, replace } = await dumpOf(t, good)
    assert.equal(await origins(source), '64496')
    await rename(file, `${file}.away`)
    await until(() => /does not exist.*last valid/.test(source.problems().join()))
    assert.equal(await origins(source), '64496')
    await rename(`${file}.away`, file)
    await until(() => source.problems().length === 0)
    await unlink(file)
    await until(() => source.problems().length > 0)
    await replace(goodAndMore)
    await until(async () => (await origins(source)) === '64496 64497')
  })

  it('contains invalid objects: the others are used and the invalid ones are reported', async (t) => {
    const { source } = await dumpOf(
      t,
      `${goodAndMore}\nroute: 192.0.2.1/24\norigin: AS1\nsource: LAB\n\nroute: 192.0.2.0/24\nno attribute\n\nmntner: A\n`,
    )
    assert.equal(await origins(source), '64496 64497')
    assert.equal(source.problems().length, 2)
    assert.match(source.problems()[0]!, /^line 11: "192\.0\.2\.1\/24": host bits/)
    assert.match(source.problems()[1]!, /^line 15: not an attribute/)
  })

  it('contains many invalid objects, which are counted', async (t) => {
    const bad = (at: number) => `\nroute: 192.0.2.0/24\norigin: ${at}\nsource: LAB\n`
    const fine = (at: number) => `\nroute: 10.0.0.0/8\norigin: AS${at + 1}\nsource: LAB\n`
    const numbers = Array.from({ length: 50 }, (_, at) => at)
    const { source } = await dumpOf(t, good + numbers.map((at) => bad(at) + fine(at)).join(''))
    assert.equal(await origins(source), '64496')
    assert.match(source.problems()[0]!, /^50 objects could not be read/)
    assert.equal(source.problems().length, 21)
  })
})

describe('a dump that is being written', () => {
  it('is not read until it has been unchanged for a while', async (t) => {
    const { source, file } = await dumpOf(t, good, { pollMs: 100, settleMs: 400 })
    await age(file)
    assert.equal(await origins(source), '64496')
    const seen = new Set<string>()
    // Each chunk ends with a line feed, so only time shows whether the file is complete.
    await writeFile(file, '% A dump\n')
    for (const piece of goodAndMore.split(/(?<=\n)/).slice(1)) {
      await appendFile(file, piece)
      seen.add(await origins(source))
      await sleep(60)
    }
    assert.deepEqual([...seen], ['64496'])
    await until(async () => (await origins(source)) === '64496 64497')
  })

  it('makes the first query wait for it', async (t) => {
    const { source } = await dumpOf(t, good, { pollMs: 20, settleMs: 200 })
    assert.equal(await origins(source), '64496')
  })

  it('is reported as still being read if that takes longer than the query timeout', async (t) => {
    const { source } = await dumpOf(t, good, { pollMs: 10_000, settleMs: 10_000, timeoutMs: 50 })
    await assert.rejects(source.serial(never), /still being read/)
  })
})

describe('a large dump', () => {
  // 256 * 256 prefixes, some of them with two origins.
  const count = 100_000
  const text = Array.from({ length: count }, (_, at) => {
    const prefix = `10.${(at >> 8) & 255}.${at & 255}.0/24`
    return `route: ${prefix}\ndescr: ${'x'.repeat(40)}\norigin: AS${at + 1}\nsource: LAB\n`
  }).join('\n')

  it('is read completely, and each of its routes is found', async (t) => {
    const { source } = await dumpOf(t, gzipSync(text), { timeoutMs: 300_000 })
    const found = await source.routeObjects(parsePrefix('10.1.2.0/24'), never)
    assert.deepEqual(
      found.map(({ origin }) => origin),
      [256 + 3, 65_536 + 256 + 3],
    )
  })

  it('is not used if it was replaced while it was read', async (t) => {
    const { source, replace } = await dumpOf(t, text, { timeoutMs: 300_000 })
    const first = origins(source)
    await sleep(5)
    await replace(good)
    await assert.rejects(first, /changed while it was read/)
    await until(async () => (await origins(source).catch(() => '')) === '64496')
  })
})

describe('a dump that lost objects', () => {
  const dump = (count: number) =>
    `% A dump\n\n${Array.from({ length: count }, (_, i) => `route: 192.0.2.0/24\norigin: AS${i + 1}\nsource: LAB\n\n`).join('')}`
  const count = async (source: IrrSource) => (await source.routeObjects(prefix, never)).length

  for (const left of [0, 7]) {
    it(`has ${left} of 10 and is not used: the last valid one is, with the problem in the status`, async (t) => {
      const { source, replace } = await dumpOf(t, dump(10))
      assert.equal(await count(source), 10)
      await replace(dump(left))
      await until(() => source.isSuspicious())
      assert.match(
        source.problems()[0]!,
        new RegExp(`it has ${left} objects instead of 10; not used until .*last valid one`),
      )
      assert.equal(await count(source), 10)
      await replace(dump(9))
      await until(async () => (await count(source)) === 9)
      assert.deepEqual([source.isSuspicious(), source.problems()], [false, []])
    })

    it(`has ${left} of 10 and is used if it stays so for the confirmation time`, async (t) => {
      const { source, replace } = await dumpOf(t, dump(10), { confirmMs: 200 })
      await count(source)
      await replace(dump(left))
      await until(() => source.isSuspicious())
      await until(async () => (await count(source)) === left)
      assert.equal(source.isSuspicious(), false)
    })
  }

  it('is unreachable while the first one is empty', async (t) => {
    const { source, replace } = await dumpOf(t, dump(0))
    await assert.rejects(source.routeObjects(prefix, never), /it has 0 objects; not used until/)
    assert.equal(source.isSuspicious(), true)
    await replace(dump(1))
    await until(async () => (await count(source).catch(() => 0)) === 1)
  })
})

async function dumpOf(t: TestContext, bytes: string | Uint8Array, config: Partial<DumpSourceConfig> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'irr-'))
  const file = join(folder, 'dump')
  const replace = async (bytes: string | Uint8Array): Promise<void> => {
    await writeFile(`${file}.new`, bytes)
    await rename(`${file}.new`, file)
  }
  await replace(bytes)
  const source = createDumpSource({ file, pollMs: 10, settleMs: 0, ...config })
  t.after(async () => {
    await source.close()
    await rm(folder, { recursive: true })
  })
  return { source, file, replace }
}

async function origins(source: IrrSource): Promise<string> {
  const routes = await source.routeObjects(prefix, never)
  return routes
    .map(({ origin }) => origin)
    .sort()
    .join(' ')
}

async function age(file: string): Promise<void> {
  const before = new Date(Date.now() - 60_000)
  await utimes(file, before, before)
}

function damaged(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, at) => (at === bytes.length - 6 ? byte ^ 0xff : byte))
}
