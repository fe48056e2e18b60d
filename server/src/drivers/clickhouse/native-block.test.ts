import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DriverError } from '../../runtime/driver-error.ts'
import { encodeNativeBlock } from './native-block.ts'
import { createTestFlowStore, flowsBlock } from './testing.ts'

test('a block has the layout of the format', () => {
  const block = encodeNativeBlock(2, [
    { name: 'a', type: 'UInt16', values: Uint16Array.of(1, 0x0203, 9) },
    { name: 'b', type: 'UInt64', low: Uint32Array.of(1, 2), high: Uint32Array.of(3, 4) },
    { name: 'c', type: 'IPv6', words: Uint32Array.of(0x20010db8, 0, 0, 1, 0, 0, 0xffff, 0xc0000201) },
    { name: 'd', type: 'FixedString(2)', bytes: Buffer.from('NLDE') },
  ])
  const text = (value: string) => String.fromCharCode(value.length) + value
  const expected = [
    '\x04\x02',
    `${text('a')}${text('UInt16')}\x01\0\x03\x02`,
    `${text('b')}${text('UInt64')}\x01\0\0\0\x03\0\0\0\x02\0\0\0\x04\0\0\0`,
    `${text('c')}${text('IPv6')}\x20\x01\x0d\xb8${'\0'.repeat(11)}\x01${'\0'.repeat(10)}\xff\xff\xc0\0\x02\x01`,
    `${text('d')}${text('FixedString(2)')}NLDE`,
  ]
  assert.equal(Buffer.from(block).toString('latin1'), expected.join(''))
})

test('a number of rows above 127 takes several bytes', () => {
  const block = encodeNativeBlock(300, [{ name: 'a', type: 'UInt8', values: new Uint8Array(300) }])
  assert.deepEqual([...block.subarray(0, 3)], [1, 0xac, 2])
})

test('a column with too few values is refused', () => {
  for (const column of [
    { name: 'a', type: 'UInt8', values: new Uint8Array(1) },
    { name: 'a', type: 'UInt64', low: new Uint32Array(2), high: new Uint32Array(1) },
    { name: 'a', type: 'IPv6', words: new Uint32Array(7) },
    { name: 'a', type: 'FixedString(2)', bytes: new Uint8Array(3) },
  ] as const)
    assert.throws(() => encodeNativeBlock(2, [column]), RangeError)
})

test('ClickHouse reads back what was written, in any order of columns', async () => {
  await using store = await createTestFlowStore()
  await store.command(
    'create table written (n UInt32, a UInt8, b UInt16, c UInt64, d IPv6, e FixedString(2)) engine = MergeTree order by n',
  )
  const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })
  const row = fc.record({
    a: fc.integer({ min: 0, max: 255 }),
    b: fc.integer({ min: 0, max: 65_535 }),
    // Numbers of the answer are exact up to 2^53.
    c: fc.tuple(word, fc.integer({ min: 0, max: 2 ** 21 - 1 })),
    d: fc.tuple(word, word, word, word),
    e: fc.constantFrom('NL', 'DE', 'ZZ'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 300 }), async (rows) => {
      await store.command('truncate table written')
      const block = encodeNativeBlock(rows.length, [
        { name: 'e', type: 'FixedString(2)', bytes: Buffer.from(rows.map(({ e }) => e).join('')) },
        { name: 'd', type: 'IPv6', words: Uint32Array.from(rows.flatMap(({ d }) => d)) },
        {
          name: 'c',
          type: 'UInt64',
          low: Uint32Array.from(rows.map(({ c }) => c[0])),
          high: Uint32Array.from(rows.map(({ c }) => c[1])),
        },
        { name: 'b', type: 'UInt16', values: Uint16Array.from(rows.map(({ b }) => b)) },
        { name: 'a', type: 'UInt8', values: Uint8Array.from(rows.map(({ a }) => a)) },
        { name: 'n', type: 'UInt32', values: Uint32Array.from(rows.keys()) },
      ])
      await store.insert('written', block, 'unused')
      const found = await store.query('select a, b, c, hex(d) as d, e from written order by n', {})
      const hex = (words: readonly number[]) =>
        words
          .map((one) => one.toString(16).padStart(8, '0'))
          .join('')
          .toUpperCase()
      assert.deepEqual(
        found,
        rows.map(({ a, b, c, d, e }) => ({ a, b, c: c[1] * 2 ** 32 + c[0], d: hex(d), e })),
      )
    }),
    { numRuns: 20 },
  )
})

test('a block that is cut or changed is refused or stored, and the store lives', async () => {
  await using store = await createTestFlowStore()
  const block = flowsBlock(20, 1, Math.floor(Date.now() / 1000))
  await fc.assert(
    fc.asyncProperty(fc.nat(block.length - 1), fc.nat(255), fc.boolean(), async (at, value, isCut) => {
      const changed = isCut ? block.slice(0, at) : block.slice()
      if (!isCut) changed[at] = value
      const token = `mutated-${at}-${value}-${isCut}`
      const error = await store.insert('flows', changed, token).catch((thrown: unknown) => thrown)
      assert.ok(error === undefined || error instanceof DriverError)
      assert.deepEqual(await store.query('select 1 as one', {}), [{ one: 1 }])
    }),
    { numRuns: 60 },
  )
})
