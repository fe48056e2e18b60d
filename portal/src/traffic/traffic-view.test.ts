// The address of the traffic explorer.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  chartKinds,
  defaultView,
  directions,
  filterText,
  metrics,
  operators,
  ranks,
  readFilters,
  readView,
  viewAddress,
  withFilter,
} from './traffic-view.ts'

const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/)
const filter = fc.record(
  {
    key,
    op: fc.constantFrom(...operators),
    values: fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 3 }),
  },
  { noNullPrototype: true },
)

describe('the address of the explorer', () => {
  it('restores every view', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            chart: fc.constantFrom(...chartKinds),
            metric: fc.constantFrom(...metrics),
            direction: fc.constantFrom(...directions),
            by: fc.uniqueArray(
              key.filter((name) => name !== 'none'),
              { maxLength: 4 },
            ),
            top: fc.integer({ min: 1, max: 50 }),
            rank: fc.constantFrom(...ranks),
            isCompared: fc.boolean(),
            filters: fc.array(filter, { maxLength: 3 }),
          },
          { noNullPrototype: true },
        ),
        (view) => {
          const { view: read, ignored } = readView(viewAddress(view))
          assert.deepEqual(read, view)
          assert.deepEqual(ignored, [])
        },
      ),
    )
  })

  it('of the usual view is empty', () => {
    assert.deepEqual(
      Object.values(viewAddress(defaultView)).filter((value) => value !== undefined),
      [],
    )
  })

  it('keeps what can be read, and names the rest', () => {
    const { view, ignored } = readView({ metric: 'furlongs', by: 'src_asn', top: '500', filter: 'broken' })
    assert.deepEqual(view, { ...defaultView, by: ['src_asn'] })
    assert.deepEqual(ignored, ['top', 'filter', 'metric'])
  })

  it('holds filters as text that can be edited, IPv6 included', () => {
    assert.equal(
      filterText([{ key: 'dst_addr', op: 'within', values: ['2001:db8::/32'] }]),
      'dst_addr:within:2001:db8::/32',
    )
    assert.deepEqual(readFilters('src_port:in:53,123;protocol:eq:17'), [
      { key: 'src_port', op: 'in', values: ['53', '123'] },
      { key: 'protocol', op: 'eq', values: ['17'] },
    ])
  })

  it('replaces a filter on the same key', () => {
    const first = { key: 'protocol', op: 'eq', values: ['17'] } as const
    const second = { ...first, values: ['6'] }
    assert.deepEqual(withFilter([first], second), [second])
  })

  it('excludes a second value beside the first one', () => {
    const not = (...values: string[]) => ({ key: 'protocol', op: 'ne', values }) as const
    const both = { key: 'protocol', op: 'not_in', values: ['tcp', 'udp'] } as const
    const port = { key: 'src_port', op: 'ne', values: ['53'] } as const
    assert.deepEqual(withFilter([not('tcp'), port], not('udp')), [port, both])
    assert.deepEqual(withFilter([both], not('icmp')), [{ ...both, values: ['tcp', 'udp', 'icmp'] }])
    assert.deepEqual(withFilter([not('tcp')], not('tcp')), [not('tcp')])
  })
})
