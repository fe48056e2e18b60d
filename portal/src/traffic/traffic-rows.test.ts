// Rows, shares and flow diagrams of traffic.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FlowGraph } from '@pharos/contract/flow/flow'
import type { Series } from '@pharos/contract/timeseries'
import fc from 'fast-check'
import { bandsOf, dimensionsOf, percentOf, rowsOf, sumOf } from './traffic-rows.ts'

const series = (
  key: Series['key'],
  label: string,
  avg: number,
  values: (number | null)[] = [avg],
): Series => ({
  key,
  label,
  unit: 'bps',
  values,
  min: avg,
  max: avg,
  avg,
  last: avg,
  p95: avg,
})

describe('rows of traffic', () => {
  it('are the largest first and the others last, with shares that add up', () => {
    const rows = rowsOf(
      [
        series({ protocol: null }, 'Other', 500),
        series({ protocol: '6' }, 'TCP', 100),
        series({ protocol: '17' }, 'UDP', 400),
      ],
      ['protocol'],
      'avg',
    )
    assert.deepEqual(
      rows.map(({ label, color, share }) => [label, color, share]),
      [
        ['UDP', 1, 0.4],
        ['TCP', 2, 0.1],
        ['Others', 8, 0.5],
      ],
    )
  })

  it('have labels that differ, as the legend tells them apart by these', () => {
    const rows = rowsOf(
      [series({ src_asn: '1' }, 'Example', 2), series({ src_asn: '2' }, 'Example', 1)],
      ['src_asn'],
      'avg',
    )
    assert.deepEqual(
      rows.map(({ label }) => label),
      ['Example', 'Example (2)'],
    )
  })

  it('are named by the dimensions of their own answer', () => {
    const answer = [series({ direction: 'in' }, 'In', 5), series({ direction: 'out' }, 'Out', 2)]
    assert.deepEqual(
      rowsOf(answer, dimensionsOf(answer), 'avg').map(({ label, isOthers }) => [label, isOthers]),
      [
        ['In', false],
        ['Out', false],
      ],
    )
    assert.deepEqual(dimensionsOf([]), [])
  })

  it('find their group in the period before', () => {
    const [row] = rowsOf([series({ protocol: '6' }, 'TCP', 1)], ['protocol'], 'avg', [
      series({ protocol: '6' }, 'TCP', 7),
    ])
    assert.equal(row?.before?.avg, 7)
  })
})

describe('parts of a sum', () => {
  it('are 100 percent together wherever there is traffic', () => {
    const value = fc.option(fc.integer({ min: 0, max: 1e12 }))
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        fc.gen(),
        (length, count, gen) => {
          const columns = Array.from({ length: count }, () =>
            gen(fc.array, value, { minLength: length, maxLength: length }),
          )
          const sums = sumOf(columns)
          const parts = percentOf(columns)
          sums.forEach((sum, at) => {
            const known = parts.map((column) => column[at] ?? 0).reduce((a, b) => a + b, 0)
            assert.ok(sum === null || sum === 0 ? known === 0 : Math.abs(known - 100) < 1e-6)
          })
        },
      ),
    )
  })
})

describe('a flow diagram', () => {
  it('keeps nodes of the same name in different columns apart', () => {
    const node = (key: 'src_country' | 'dst_country', value: string | null, label: string) => ({
      key,
      value,
      label,
      total: 1,
    })
    const bands = bandsOf(
      {
        nodes: [
          node('src_country', 'NL', 'Netherlands'),
          node('src_country', null, 'Other'),
          node('dst_country', 'NL', 'Netherlands'),
          node('dst_country', 'DE', 'Germany'),
        ],
        links: [
          { source: 0, target: 2, value: 3 },
          { source: 0, target: 3, value: 2 },
          { source: 1, target: 3, value: 0 },
        ],
      } as unknown as FlowGraph,
      (key) => (key === 'src_country' ? 'Source country' : 'Destination country'),
    )
    assert.deepEqual(bands, [
      { from: 'Netherlands (source country)', to: 'Netherlands (destination country)', value: 3 },
      { from: 'Netherlands (source country)', to: 'Germany', value: 2 },
    ])
  })
})
