import assert from 'node:assert/strict'
import { it } from 'node:test'
import { addressesOf, parseLines, parseV4, partsOf, printV4, sampleNames } from './networks.ts'

it('parses and prints IPv4 addresses', () => {
  for (const text of ['0.0.0.0', '192.0.2.1', '255.255.255.255']) assert.equal(printV4(parseV4(text)!), text)
  assert.deepEqual(['256.0.0.1', '1.2.3', '2001:db8::1', ''].map(parseV4), [
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it('splits prefixes into parts that fit on a page, each once', () => {
  assert.deepEqual(
    partsOf(['203.0.113.64/26', '198.18.64.0/23', '203.0.113.0/24', '192.0.2.128/25', '2001:db8::/48']),
    ['192.0.2.128/25', '198.18.64.0/24', '198.18.65.0/24', '203.0.113.0/24', '2001:db8::/48'],
  )
  assert.equal(partsOf(['10.0.0.0/8']).length, 1024)
})

it('lists the addresses of a part', () => {
  const addresses = addressesOf('198.51.100.0/24')
  assert.deepEqual([addresses.length, addresses[0], addresses[255]], [256, '198.51.100.0', '198.51.100.255'])
  assert.deepEqual(addressesOf('192.0.2.4/31'), ['192.0.2.4', '192.0.2.5'])
  assert.deepEqual([addressesOf('2001:db8::/48'), addressesOf('10.0.0.0/8')], [[], []])
})

it('reads pasted lines', () => {
  const text =
    '192.0.2.1 gw.example.net\n\n192.0.2.2,\tmail.example.net.\n192.0.2.3 -\n# note\n192.0.2.4\na b c'
  const { lines, wrong } = parseLines(text)
  assert.deepEqual(
    lines.map(({ line, ip, ptrdname }) => [line, ip, ptrdname]),
    [
      [1, '192.0.2.1', 'gw.example.net'],
      [3, '192.0.2.2', 'mail.example.net.'],
      [4, '192.0.2.3', null],
    ],
  )
  assert.deepEqual(wrong, [6, 7])
})

it('shows the first names of a pattern', () => {
  assert.deepEqual(sampleNames('192.0.2.0/24', '{ip-dashed}.pool.example.net', 2), [
    ['192.0.2.0', '192-0-2-0.pool.example.net'],
    ['192.0.2.1', '192-0-2-1.pool.example.net'],
  ])
  assert.deepEqual(sampleNames('192.0.2.254/31', '{d}-{n}.example.net'), [
    ['192.0.2.254', '254-0.example.net'],
    ['192.0.2.255', '255-1.example.net'],
  ])
  assert.deepEqual(
    [sampleNames('192.0.2.0/24', '{x}.net'), sampleNames('x', 'a.net'), sampleNames('192.0.2.0/24', ' ')],
    [undefined, undefined, undefined],
  )
})
