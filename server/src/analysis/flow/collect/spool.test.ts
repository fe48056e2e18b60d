import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { DriverError } from '../../../runtime/driver-error.ts'
import { createSpool, rowsOf, spoolName, type SpoolOptions } from './spool.ts'

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
    assert.deepEqual(readdirSync(dir), ['c-1.native'])
  })

  it('reads the number of rows from the head of a block', () => {
    assert.equal(rowsOf(block), 300)
    assert.equal(rowsOf(Buffer.from([24, 5])), 5)
    assert.equal(rowsOf(Buffer.alloc(0)), 0)
  })
})
