import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { RangeFileError, readAddressTables, readRangeLines } from './range-file.ts'
import { readMmdb } from './mmdb.ts'
import { toCountryNumber } from './range-sink.ts'

const country = (value: number) => (value === 0 ? '' : String.fromCharCode(value >> 8, value & 255))

function linesOf(text: string): unknown[] {
  const ranges: unknown[] = []
  readRangeLines(text, {
    add: (family, first, last, asn, value) => ranges.push([family, first, last, asn, country(value)]),
    name: () => {},
  })
  return ranges
}

describe('a file of ranges', () => {
  it('has an AS number, a country, or both on a line, after a range or a prefix', () => {
    assert.deepEqual(
      linesOf(
        [
          'range_start\trange_end\tAS_number\tcountry_code\tAS_description',
          '192.0.2.0\t192.0.2.255\t64496\tNL\tEXAMPLE',
          '192.0.3.0\t192.0.3.255\t0\tNone\tNot routed',
          '"198.51.100.0","198.51.100.255","DE"',
          '203.0.113.0,203.0.113.255,64511,"Example, Inc."',
          '2001:db8::,2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,AS64500,fr',
          '198.18.0.0/15,64501,GB',
          '3232235520,3232235775,US',
          '# a comment',
          '198.18.0.1/15,64501',
          '203.0.113.0,2001:db8::,64501',
          'x,y,1',
        ].join('\r\n'),
      ),
      [
        [4, 0xc0000200n, 0xc00002ffn, 64496, 'NL'],
        [4, 0xc6336400n, 0xc63364ffn, 0, 'DE'],
        [4, 0xcb007100n, 0xcb0071ffn, 64511, ''],
        [6, 0x20010db800000000n, 0x20010db8ffffffffn, 64500, 'FR'],
        [4, 0xc6120000n, 0xc613ffffn, 64501, 'GB'],
        [4, 0xc0a80000n, 0xc0a800ffn, 0, 'US'],
      ],
    )
  })

  it('with any text throws nothing', () => {
    fc.assert(fc.property(fc.string(), (text) => void linesOf(text)))
  })
})

/** A tree of IPv6 with one record each for 192.0.2.0/24 and 2001:db8::/32, with records of 24 bits. */
function writeMmdb(): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)])
  const map = (...pairs: [string, Buffer][]) =>
    Buffer.concat([
      Buffer.from([0xe0 | pairs.length]),
      ...pairs.flatMap(([key, value]) => [text(key), value]),
    ])
  const number = (value: number) =>
    Buffer.from([0xc4, value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255])
  const first = map(['autonomous_system_number', number(64496)], ['country', map(['iso_code', text('NL')])])
  const second = map(['asn', text('AS64500')], ['as_name', text('Example')], ['country_code', text('FR')])
  const nodes: [number, number][] = []
  const empty = -1
  const insert = (address: bigint, length: number, leaf: number): void => {
    let node = 0
    for (let depth = 0; depth < length; depth++) {
      nodes[node] ??= [empty, empty]
      const bit = Number((address >> BigInt(127 - depth)) & 1n) as 0 | 1
      if (depth === length - 1) nodes[node]![bit] = -2 - leaf
      else {
        if (nodes[node]![bit] === empty) {
          nodes.push([empty, empty])
          nodes[node]![bit] = nodes.length - 1
        }
        node = nodes[node]![bit]
      }
    }
  }
  nodes.push([empty, empty])
  insert(0xc0000200n, 120, 0)
  insert(0x20010db8n << 96n, 32, first.length)
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.forEach((records, node) =>
    records.forEach((record, side) => {
      const value = record === empty ? nodes.length : record < 0 ? nodes.length + 16 + (-2 - record) : record
      tree.writeUIntBE(value, node * 6 + side * 3, 3)
    }),
  )
  const metadata = map(
    ['node_count', number(nodes.length)],
    ['record_size', Buffer.from([0xa1, 24])],
    ['ip_version', Buffer.from([0xa1, 6])],
  )
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    first,
    second,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ])
}

describe('a MaxMind DB file', () => {
  const ranges: unknown[] = []
  const sink = {
    add: (family: number, first: bigint, last: bigint, asn: number, value: number) =>
      void ranges.push([family, first, last, asn, country(value)]),
    name: () => {},
  }

  it('has AS numbers and countries by network, IPv4 inside of IPv6', () => {
    readMmdb(writeMmdb(), sink)
    assert.deepEqual(ranges, [
      [4, 0xc0000200n, 0xc00002ffn, 64496, 'NL'],
      [6, 0x20010db800000000n, 0x20010db8ffffffffn, 64500, 'FR'],
    ])
  })

  it('that is damaged throws an error or reads something, and ends', () => {
    const file = writeMmdb()
    const changes = fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(changes, (list) => {
        const damaged = Buffer.from(file)
        for (const [at, value] of list) damaged[at] = value
        try {
          readMmdb(damaged, { add: () => {}, name: () => {} })
        } catch (error) {
          assert.ok(error instanceof Error)
        }
      }),
    )
  })
})

describe('the tables of addresses', () => {
  const dir = mkdtempSync(join(tmpdir(), 'pharos-ranges-'))
  after(() => rmSync(dir, { recursive: true, force: true }))
  const save = (name: string, content: string | Buffer): string => {
    writeFileSync(join(dir, name), content)
    return join(dir, name)
  }

  it('combine several files', async () => {
    const { asns, countries } = await readAddressTables([
      save('asn.csv', '192.0.2.0/24,64496\n'),
      save('country.csv', '198.51.100.0,198.51.100.255,DE\n'),
      save('both.mmdb', writeMmdb()),
    ])
    assert.equal(asns.find(0, 0, 0xffff, 0xc0000201), 64496)
    assert.equal(countries.find(0, 0, 0xffff, 0xc6336401), toCountryNumber('DE'))
    assert.equal(countries.find(0x20010db8, 1, 0, 0), toCountryNumber('FR'))
  })

  it('have the names of AS numbers, the first of each', async () => {
    const { asNames } = await readAddressTables([
      save(
        'names.tsv',
        '192.0.2.0\t192.0.2.255\t64501\tNL\tEXAMPLE-AS Example, Inc.\n192.0.3.0\t192.0.3.255\t64501\tNL\tother\n' +
          '192.0.4.0\t192.0.4.255\t0\tNone\tNot routed\n',
      ),
      save('names.csv', '198.51.100.0,198.51.100.255,64502,"A, B, and C"\n203.0.113.0/24,64503\n'),
      save('names.mmdb', writeMmdb()),
    ])
    assert.deepEqual(
      [...asNames].toSorted(([a], [b]) => a - b),
      [
        [64500, 'Example'],
        [64501, 'EXAMPLE-AS Example, Inc.'],
        [64502, 'A, B, and C'],
      ],
    )
  })

  it('name the file that cannot be read, or has nothing', async () => {
    await assert.rejects(readAddressTables([join(dir, 'none.csv')]), RangeFileError)
    await assert.rejects(readAddressTables([save('empty.csv', 'nothing\n')]), /empty\.csv has no ranges/)
    await assert.rejects(
      readAddressTables([save('bad.mmdb', 'nothing')]),
      /bad\.mmdb: it is not a MaxMind DB file/,
    )
  })
})
