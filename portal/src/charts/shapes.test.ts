import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { layoutFlows } from './sankey-layout.ts'
import { shareRows, sparkPaths } from './shapes.ts'

describe('a spark', () => {
  it('is a line and its area above 0, with gaps', () => {
    assert.deepEqual(sparkPaths([0, 10, 5], 100, 20), {
      line: 'M0 20L50 0L100 10',
      area: 'M0 20L0 20L50 0L100 10L100 20Z',
    })
    assert.equal(sparkPaths([1, 1, null, 1, 1], 100, 10).line, 'M0 0L25 0M75 0L100 0')
  })

  it('of a single value is a step, of none is empty', () => {
    assert.equal(sparkPaths([4], 100, 10).line, 'M0 0L100 0')
    assert.deepEqual(sparkPaths([null, null], 100, 10), { line: '', area: '' })
  })
})

describe('share bars', () => {
  const items = [5, 40, 30, 2, 3, 20].map((value) => ({ label: `n${value}`, value }))
  it('are the largest ones, then the others, and add up to the total', () => {
    const rows = shareRows(items, 3)
    assert.deepEqual(
      rows.map(({ label, share }) => [label, share]),
      [
        ['n40', '40 %'],
        ['n30', '30 %'],
        ['n20', '20 %'],
        ['3 others', '10 %'],
      ],
    )
    assert.equal(
      rows.reduce((sum, { value }) => sum + value, 0),
      100,
    )
  })

  it('show a last item instead of one other, and the rest of a larger total', () => {
    assert.equal(shareRows(items, 5).length, 6)
    assert.deepEqual(shareRows(items, 6, 200).at(-1)?.label, 'Others')
    assert.equal(shareRows(items, 6, 200).at(-1)?.share, '50 %')
    assert.deepEqual(shareRows([], 3), [])
  })
})

describe('a flow diagram', () => {
  it('keeps values through its columns', () => {
    const { nodes, links } = layoutFlows(
      [
        { from: 'AS1', to: 'AMS', value: 3 },
        { from: 'AS2', to: 'AMS', value: 1 },
        { from: 'AMS', to: 'prefix', value: 4 },
      ],
      { width: 400, height: 200 },
    )
    assert.deepEqual(
      nodes.map(({ id, column, value }) => [id, column, value]),
      [
        ['AS1', 0, 3],
        ['AMS', 1, 4],
        ['AS2', 0, 1],
        ['prefix', 2, 4],
      ],
    )
    assert.deepEqual(
      links.map(({ share }) => share),
      ['75 %', '25 %', '100 %'],
    )
    assert.ok(
      nodes.every(
        ({ left, top, width, height }) =>
          left >= 0 && top >= 0 && left + width <= 400 && top + height <= 200.01,
      ),
    )
  })

  it('leaves out nothing and circles', () => {
    const { links } = layoutFlows(
      [
        { from: 'a', to: 'b', value: 1 },
        { from: 'b', to: 'a', value: 1 },
        { from: 'a', to: 'c', value: 0 },
      ],
      { width: 100, height: 100 },
    )
    assert.equal(links.length, 1)
  })
})
