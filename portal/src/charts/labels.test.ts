import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { placeLabels, placeMarkLabels } from './labels.ts'

describe('labels beside points', () => {
  it('of three cities close to each other cover neither each other nor a point', () => {
    const points = [
      { x: 250, y: 100, width: 80, height: 16 },
      { x: 241, y: 103, width: 80, height: 16 },
      { x: 258, y: 107, width: 80, height: 16 },
    ]
    const placed = placeLabels(points, { width: 500, height: 260 }, 6)
    const boxes = [
      ...placed.map((box) => box!),
      ...points.map(({ x, y }) => ({ left: x - 6, top: y - 6, width: 12, height: 12 })),
    ]
    for (const [at, a] of placed.entries()) {
      assert.ok(a)
      for (const b of boxes) {
        if (b === boxes[at]) continue
        const isApart: boolean =
          a.left >= b.left + b.width ||
          b.left >= a.left + a.width ||
          a.top >= b.top + b.height ||
          b.top >= a.top + a.height
        assert.ok(isApart, `${JSON.stringify(a)} covers ${JSON.stringify(b)}`)
      }
    }
  })

  it('are left of a point at the right edge, and left out without room', () => {
    const [placed] = placeLabels([{ x: 490, y: 50, width: 60, height: 16 }], { width: 500, height: 100 }, 6)
    assert.equal(placed?.side, 'right')
    assert.deepEqual(placeLabels([{ x: 5, y: 5, width: 60, height: 16 }], { width: 40, height: 100 }, 6), [
      undefined,
    ])
  })
})

describe('labels of marks', () => {
  it('move down a row if they would cover another, and end inside the chart', () => {
    const labels = [
      { x: 10, width: 50 },
      { x: 20, width: 50 },
      { x: 95, width: 30 },
    ]
    assert.deepEqual(
      placeMarkLabels(labels, 100, 4, 2),
      [
        { left: 14, row: 0 },
        { left: 24, row: 1 },
        { left: 61, row: 1 },
      ].map((one, at) => (at === 2 ? undefined : one)),
    )
  })
})
