import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DriverError } from '../runtime/driver-error.ts'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { scaled } from '../runtime/testing-scale.ts'
import { until } from '../../../lab/src/wait.ts'
import { mergeBlocks } from './merge-blocks.ts'
import { createSpool, rowCountOf, spoolName, type SpoolOptions } from './spool.ts'

const kills = scaled(30)

/** A block with one column. */
const blockOf = (values: readonly number[], name = 'value'): Uint8Array =>
  encodeNativeBlock(values.length, [{ name, type: 'UInt32', values: Uint32Array.from(values) }])

/** The values of blocks with one column. */
const valuesOf = (blocks: readonly Uint8Array[]): number[] =>
  blocks.flatMap((one) => {
    const rows = rowCountOf(one)
    const view = Buffer.from(one.slice(one.length - rows * 4))
    return Array.from({ length: rows }, (_, row) => view.readUInt32LE(row * 4))
  })

/** The head of a block with one column and 300 rows. */
const block = Buffer.from([1, 0xac, 0x02, ...Buffer.alloc(97)])

describe('the spool of flows', () => {
  const folders: string[] = []
  after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

  function createFolder(): string {
    const dir = mkdtempSync(join(tmpdir(), 'pharos-spool-'))
    folders.push(dir)
    return dir
  }

  function write(dir: string, name: string, ageSeconds = 0): { name: string; bytes: number } {
    writeFileSync(join(dir, name), block)
    const at = new Date(Date.now() - ageSeconds * 1000)
    utimesSync(join(dir, name), at, at)
    return { name, bytes: block.length }
  }

  function writeBlock(dir: string, name: string, value: number, column?: string) {
    const file = blockOf([value], column)
    writeFileSync(join(dir, name), file)
    return { name, bytes: file.length }
  }

  function openSpool(dir: string, options: Partial<SpoolOptions> = {}) {
    const inserted: string[] = []
    const lost: [string, number][] = []
    const spool = createSpool({
      dir,
      bytesMax: 1e9,
      insert: async (_, token) => void inserted.push(token),
      onLost: (reason, rows) => lost.push([reason, rows]),
      ...options,
    })
    return { spool, inserted, lost }
  }

  it('inserts each file once under its name, and removes it', async () => {
    const dir = createFolder()
    const rows: number[] = []
    const { spool, inserted } = openSpool(dir, { onInserted: (_, count) => rows.push(count) })
    spool.start()
    for (let i = 1; i <= 3; i++) spool.add(write(dir, spoolName('c', i)))
    await spool.drained()
    assert.deepEqual(inserted, ['c-1.native', 'c-2.native', 'c-3.native'])
    assert.deepEqual(rows, [300, 300, 300])
    assert.deepEqual(readdirSync(dir), [])
    assert.deepEqual(spool.waiting, { files: 0, bytes: 0 })
    await spool.stop(1000)
  })

  it('begins with the files of former runs, the oldest first, and ignores half-written ones', async () => {
    const dir = createFolder()
    write(dir, 'b-10.native', 30)
    write(dir, 'b-9.native', 60)
    write(dir, 'a-1.native', 20)
    write(dir, 'a-2.native.tmp', 20)
    write(dir, 'a-3.native.tmp', 3600)
    const { spool, inserted } = openSpool(dir)
    spool.add(write(dir, 'c-1.native'))
    spool.start()
    await spool.drained()
    await spool.stop(1000)
    assert.deepEqual(inserted, ['b-9.native', 'b-10.native', 'a-1.native', 'c-1.native'])
    assert.deepEqual(readdirSync(dir), ['a-2.native.tmp'])
  })

  it('keeps a file until the store takes it, and says once that it does not', async () => {
    const dir = createFolder()
    let failures = 2
    const states: boolean[] = []
    const taken: string[] = []
    const { spool } = openSpool(dir, {
      insert: async (_, token) => {
        if (failures-- > 0) throw new DriverError('unreachable', 'down')
        taken.push(token)
      },
      onState: (error) => states.push(error === undefined),
    })
    spool.start()
    spool.add(write(dir, 'c-1.native'))
    await spool.drained()
    assert.deepEqual([taken, states], [['c-1.native'], [false, true]])
    await spool.stop(1000)
  })

  it('drops the oldest files beyond its limit and counts their rows', async () => {
    const dir = createFolder()
    const { spool, lost } = openSpool(dir, {
      bytesMax: 250,
      insert: () => Promise.reject(new DriverError('unreachable', 'down')),
    })
    spool.start()
    for (let i = 1; i <= 5; i++) spool.add(write(dir, spoolName('c', i)))
    while (lost.length < 3) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(
      lost,
      Array.from({ length: 3 }, () => ['spool_full', 300]),
    )
    assert.ok(spool.waiting.bytes <= 250)
    await spool.stop(0)
  })

  it('sets a file aside that the store refuses, and goes on with the others', async () => {
    const dir = createFolder()
    const taken: string[] = []
    const { spool, lost } = openSpool(dir, {
      insert: async (_, token) => {
        if (token === 'c-1.native') throw new DriverError('refused', 'no such column')
        taken.push(token)
      },
    })
    spool.start()
    spool.add(write(dir, 'c-1.native'))
    spool.add(write(dir, 'c-2.native'))
    await spool.drained()
    await spool.stop(1000)
    assert.deepEqual([taken, lost], [['c-2.native'], [['refused', 300]]])
    assert.deepEqual(readdirSync(dir), ['c-1.native.refused'])
  })

  it('stops while the store does not answer, and keeps the files', async () => {
    const dir = createFolder()
    const { spool } = openSpool(dir, {
      insert: (_, __, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    spool.start()
    spool.add(write(dir, 'c-1.native'))
    await spool.stop(10)
    assert.deepEqual(readdirSync(dir), ['c-1.native.tried'])
  })

  it('inserts what was tried before under its own name', async () => {
    const dir = createFolder()
    write(dir, 'c-1.native.tried', 10)
    for (let i = 2; i <= 9; i++) writeBlock(dir, `c-${i}.native`, i)
    const { spool, inserted } = openSpool(dir)
    spool.start()
    await spool.drained()
    await spool.stop(1000)
    assert.deepEqual(inserted, ['c-1.native', ...Array.from({ length: 8 }, (_, at) => `c-${at + 2}.native`)])
  })

  it('merges files while many wait, and every row is in one insert', async () => {
    const dir = createFolder()
    const blocks: Uint8Array[] = []
    const tokens: string[] = []
    const { spool } = openSpool(dir, {
      insert: async (file, token) => {
        blocks.push(file)
        tokens.push(token)
      },
    })
    for (let i = 1; i <= 20; i++) spool.add(writeBlock(dir, spoolName('c', i), i))
    spool.start()
    await spool.drained()
    assert.deepEqual(tokens, ['c-1+20.native'])
    assert.deepEqual(
      valuesOf(blocks),
      Array.from({ length: 20 }, (_, at) => at + 1),
    )
    assert.deepEqual(readdirSync(dir), [])
    assert.deepEqual(spool.waiting, { files: 0, bytes: 0 })
    await spool.stop(1000)
  })

  it('inserts files that do not fit together one by one', async () => {
    const dir = createFolder()
    const { spool, inserted } = openSpool(dir)
    for (let i = 1; i <= 9; i++) writeBlock(dir, `c-${i}.native`, i, i === 5 ? 'other' : 'value')
    spool.start()
    await spool.drained()
    await spool.stop(1000)
    assert.deepEqual(
      inserted,
      Array.from({ length: 9 }, (_, at) => `c-${at + 1}.native`),
    )
  })

  it('goes on with a merge that was killed at any step', async () => {
    const merged = 'c-1+9.native'
    const numbers = Array.from({ length: 9 }, (_, at) => at + 1)
    const part = (dir: string, i: number) => writeBlock(dir, `${merged}.part.c-${i}.native`, i)
    const single = (dir: string, i: number) => writeBlock(dir, `c-${i}.native`, i)
    const all = (dir: string, place: string) =>
      writeFileSync(join(dir, place), mergeBlocks(numbers.map((i) => blockOf([i])))!)
    const steps: readonly (readonly [string, (dir: string) => void])[] = [
      ['some renamed', (dir) => numbers.forEach((i) => (i < 5 ? part : single)(dir, i))],
      ['all renamed', (dir) => numbers.forEach((i) => part(dir, i))],
      [
        'half written',
        (dir) => {
          numbers.forEach((i) => part(dir, i))
          writeFileSync(join(dir, `${merged}.tmp`), 'half')
        },
      ],
      [
        'complete',
        (dir) => {
          numbers.forEach((i) => part(dir, i))
          all(dir, merged)
        },
      ],
      [
        'some deleted',
        (dir) => {
          part(dir, 8)
          all(dir, merged)
        },
      ],
      [
        'tried',
        (dir) => {
          part(dir, 9)
          all(dir, `${merged}.tried`)
        },
      ],
    ]
    for (const [step, prepare] of steps) {
      const dir = createFolder()
      prepare(dir)
      const blocks: Uint8Array[] = []
      const { spool } = openSpool(dir, { insert: async (file) => void blocks.push(file), staleMs: -1000 })
      spool.start()
      await spool.drained()
      await spool.stop(1000)
      assert.deepEqual(
        valuesOf(blocks).toSorted((a, b) => a - b),
        numbers,
        step,
      )
      assert.deepEqual(readdirSync(dir), [], step)
    }
  })

  it('leaves a merge to the process that is at it, and takes it over later', async () => {
    const dir = createFolder()
    writeBlock(dir, 'c-1+2.native.part.c-1.native', 1)
    const { spool, inserted } = openSpool(dir, { staleMs: 300 })
    spool.start()
    await spool.drained()
    assert.deepEqual(inserted, [])
    await until(() => inserted.length > 0)
    await spool.stop(1000)
    assert.deepEqual(inserted, ['c-1.native'])
  })

  it('keeps a merged file back while one of its parts cannot be deleted: it would be a file again', async () => {
    const dir = createFolder()
    writeBlock(dir, 'c-1+2.native', 1)
    const part = join(dir, 'c-1+2.native.part.c-1.native')
    mkdirSync(join(part, 'full'), { recursive: true })
    const first = openSpool(dir)
    first.spool.start()
    await first.spool.drained()
    await first.spool.stop(1000)
    assert.deepEqual(first.inserted, [])
    rmSync(part, { recursive: true })
    const second = openSpool(dir)
    second.spool.start()
    await second.spool.drained()
    await second.spool.stop(1000)
    assert.deepEqual(second.inserted, ['c-1+2.native'])
  })

  it('drops its merged file if another process took a part meanwhile', async () => {
    const dir = createFolder()
    const values: number[] = []
    const { spool } = openSpool(dir, {
      insert: async (file) => void values.push(...valuesOf([file])),
      format: {
        suffix: '.native',
        rowsIn: rowCountOf,
        merge: (files) => {
          renameSync(join(dir, 'c-1+9.native.part.c-3.native'), join(dir, 'c-3.native'))
          return mergeBlocks(files)
        },
      },
    })
    for (let i = 1; i <= 9; i++) writeBlock(dir, spoolName('c', i), i)
    spool.start()
    await spool.drained()
    await spool.stop(1000)
    assert.deepEqual(
      values.toSorted((a, b) => a - b),
      Array.from({ length: 9 }, (_, at) => at + 1),
    )
    assert.deepEqual(readdirSync(dir), [])
  })

  it(
    `${kills} kills while files are merged and inserted: every row is stored once`,
    { timeout: 600_000 },
    async () => {
      const [dir, stored] = [createFolder(), createFolder()]
      const script = fileURLToPath(new URL('testing-spool-process.ts', import.meta.url))
      let written = 0
      for (let round = 0; round <= kills; round++) {
        for (let i = 0; i < 40; i++) writeBlock(dir, `r${round}-${i + 1}.native`, ++written)
        const child = spawn(process.execPath, [script, dir, stored], { stdio: ['ignore', 'pipe', 'inherit'] })
        const exit = once(child, 'close')
        await once(child.stdout, 'data')
        if (round < kills) {
          await sleep(Math.random() * 60)
          child.kill('SIGKILL')
        }
        await exit
      }
      const files = readdirSync(stored).filter((name) => !name.endsWith('.tmp'))
      assert.ok(
        files.some((name) => name.includes('+')),
        'some were merged',
      )
      const values = valuesOf(files.map((name) => readFileSync(join(stored, name))))
      assert.deepEqual(
        values.toSorted((a, b) => a - b),
        Array.from({ length: written }, (_, at) => at + 1),
      )
    },
  )

  it('reads the number of rows from the head of a block', () => {
    assert.equal(rowCountOf(block), 300)
    assert.equal(rowCountOf(Buffer.from([24, 5])), 5)
    assert.equal(rowCountOf(Buffer.alloc(0)), 0)
  })
})
