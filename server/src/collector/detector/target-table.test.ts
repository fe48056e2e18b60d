import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { DetectionGate } from './gate.ts'
import { hashOf, TargetTable } from './target-table.ts'

test('the table finds the rows that it keeps, with their rates, after any removals', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat({ max: 300 }), { minLength: 20, maxLength: 48 }),
      fc.array(fc.boolean(), { minLength: 48, maxLength: 48 }),
      (keys, kept) => {
        const table = new TargetTable(64)
        const rowOf = (key: number) => table.find(0, 0, 0xff_ff, key, 0, hashOf(0, 0, 0xff_ff, key, 0))
        for (const key of keys) {
          const row = table.get(0, 0, 0xff_ff, key, 0, 1, hashOf(0, 0, 0xff_ff, key, 0))
          table.rates.add(row, 1, 800 * (key + 1), 1, 1, 0)
        }
        table.rates.setSpan(1)
        for (const key of keys) table.rates.tick(rowOf(key))
        const isKept = (key: number) => kept[keys.indexOf(key)]!
        const size = table.size
        table.removeSmallest(0.5, (row) => (isKept(table.addressOf(row)[3]) ? 1 : 0))
        if (size < 32) return assert.equal(table.size, size)
        for (const key of keys) {
          const row = rowOf(key)
          assert.equal(row >= 0, isKept(key), `${key}`)
          if (row >= 0) assert.ok(Math.abs(table.rates.bps(row) / 6400 / (key + 1) - 0.1175) < 0.001)
        }
        assert.equal(table.size, keys.filter(isKept).length)
      },
    ),
  )
})

test('of a full table the rows farthest below their limit leave, and are counted', () => {
  const table = new TargetTable(64)
  for (let key = 0; key < 60; key++) table.get(0, 0, 0xff_ff, key, 0, 1, hashOf(0, 0, 0xff_ff, key, 0))
  assert.deepEqual([table.size, table.overflows], [48, 12], 'never more than three quarters full')
  table.removeSmallest(0, (row) => table.addressOf(row)[3] / 100)
  assert.deepEqual([table.size, table.overflows], [32, 28])
  assert.ok(table.find(0, 0, 0xff_ff, 47, 0, hashOf(0, 0, 0xff_ff, 47, 0)) >= 0)
})

test('an address passes the gate at 2 % of its limit within 8 s, and millions of small ones do not', () => {
  const gate = new DetectionGate(2 ** 16)
  let passedAfter: number | undefined
  for (let second = 1; second <= 8; second++) {
    gate.tick(second)
    for (let i = 0; i < 50_000; i++) {
      const hash = hashOf(0x20_01_0d_b8, second, i, 7, 0)
      assert.equal(gate.add(hash, 1e-4), false, `address ${i} in second ${second}`)
    }
  }
  const other = new DetectionGate(2 ** 16)
  for (let second = 8; second <= 15; second++) {
    other.tick(second)
    if (other.add(hashOf(1, 2, 3, 4, 0), 0.02)) passedAfter ??= second - 7
  }
  assert.ok(passedAfter !== undefined && passedAfter <= 8)
  // At half a percent it never passes.
  for (let second = 16; second <= 100; second++) {
    other.tick(second)
    assert.equal(other.add(hashOf(5, 6, 7, 8, 0), 0.005), false)
  }
})
