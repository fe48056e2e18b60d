import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { geoEqualEarth } from 'd3-geo'
import { mapSize, project } from './projection.ts'

describe('the projection of the world map', () => {
  it('is Equal Earth, centered on 11 degrees east', () => {
    const reference = geoEqualEarth().rotate([-11, 0]).fitWidth(mapSize.width, { type: 'Sphere' })
    const [, top] = reference([11, 84])!
    for (const [longitude, latitude] of [
      [4.9, 52.4],
      [-74, 40.7],
      [103.8, 1.35],
      [151.2, -33.9],
      [-175, 66],
    ] as const) {
      const [x, y] = reference([longitude, latitude])!
      const [ownX, ownY] = project(longitude, latitude)
      assert.ok(Math.abs(ownX - x) < 0.01 && Math.abs(ownY - (y - top)) < 0.01, `${longitude}, ${latitude}`)
    }
  })

  it('shows Cape Horn', () => {
    assert.ok(project(-67, -55.9)[1] <= mapSize.height)
  })
})
