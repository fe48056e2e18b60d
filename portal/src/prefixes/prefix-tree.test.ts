// The tree of the team's address space.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { contains, networkOfZone, partsOf, rangeOf, rowsOf, treeOf, type PrefixNode } from './prefix-tree.ts'

const shapeOf = (roots: readonly PrefixNode<string>[]): string[] =>
  rowsOf(roots, () => true).map(({ cidr, depth, of }) => `${'  '.repeat(depth)}${cidr} ${of.join()}`)

describe('the tree of prefixes', () => {
  it('has each network below the smallest one that contains it, in numeric order, IPv4 first', () => {
    const networks = [
      '2001:db8::/32',
      '203.0.113.77',
      '203.0.113.0/24',
      '198.51.100.0/24',
      '203.0.112.0/22',
      '2001:db8:a::/48',
      '203.0.113.0/24',
    ]
    assert.deepEqual(shapeOf(treeOf(networks.map((cidr, at) => ({ cidr, of: String(at) })))), [
      '198.51.100.0/24 3',
      '203.0.112.0/22 4',
      '  203.0.113.0/24 2,6',
      '    203.0.113.77 1',
      '2001:db8::/32 0',
      '  2001:db8:a::/48 5',
    ])
  })

  it('leaves out what is no network', () => {
    for (const text of [
      '',
      'x',
      '1.2.3',
      '1.2.3.256',
      '1.2.3.4/33',
      '1:2',
      '::1::',
      '1:2:3:4:5:6:7:8:9',
      'g::',
      '::/129',
    ])
      assert.equal(rangeOf(text), undefined, text)
    assert.deepEqual(treeOf([{ cidr: 'x', of: 1 }]), [])
  })

  it('shows only rows below open ones', () => {
    const tree = treeOf([
      { cidr: '10.0.0.0/8', of: 1 },
      { cidr: '10.1.0.0/16', of: 2 },
    ])
    assert.deepEqual(
      rowsOf(tree, () => false).map(({ cidr }) => cidr),
      ['10.0.0.0/8'],
    )
  })

  it('has for each network what contains it as its ancestors, for any networks', () => {
    const network = fc
      .tuple(fc.integer({ min: 0, max: 2 ** 16 - 1 }), fc.integer({ min: 16, max: 32 }))
      .map(([low, length]) => {
        const bits = (low & ~(2 ** (32 - length) - 1)) >>> 0
        return `10.0.${bits >> 8}.${bits & 255}/${length}`
      })
    fc.assert(
      fc.property(fc.array(network, { maxLength: 60 }), (cidrs) => {
        const rows = rowsOf(treeOf(cidrs.map((cidr) => ({ cidr, of: cidr }))), () => true)
        assert.equal(rows.length, new Set(cidrs).size)
        assert.equal(rows.flatMap(({ of }) => of).length, cidrs.length)
        for (const row of rows) {
          const around = rows.filter((one) => one !== row && contains(one.range, row.range))
          assert.equal(row.depth, around.length, row.cidr)
        }
      }),
    )
  })
})

describe('the parts of a network', () => {
  it('are the largest networks within that are shown, with their place and share', () => {
    const [root] = treeOf([
      { cidr: '203.0.112.0/22', of: 'assigned' },
      { cidr: '203.0.113.0/24', of: 'announced' },
      { cidr: '203.0.113.128/25', of: 'announced' },
      { cidr: '203.0.115.0/25', of: 'other' },
    ])
    assert.deepEqual(
      partsOf(root!, (of) => of === 'announced').map(({ node, start, share }) => [node.cidr, start, share]),
      [['203.0.113.0/24', 0.25, 0.25]],
    )
  })
})

describe('the network of a zone of reverse DNS', () => {
  it('is read from its name', () => {
    const cases = {
      '113.0.203.in-addr.arpa': '203.0.113.0/24',
      '0.203.IN-ADDR.arpa.': '203.0.0.0/16',
      'a.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa': '2001:0db8:000a:0000:0000:0000:0000:0000/48',
      '0/25.113.0.203.in-addr.arpa': undefined,
      'example.com': undefined,
      arpa: undefined,
      '1.2.3.4.5.in-addr.arpa': undefined,
    }
    for (const [name, network] of Object.entries(cases)) assert.equal(networkOfZone(name), network, name)
  })
})
