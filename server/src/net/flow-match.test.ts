import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { coversMatch, intersectMatches, matchesPacket, overlapMatches } from './flow-match.ts'
import { flowMatches, flowPackets } from './testing-flow.ts'
import { scaled } from '../runtime/testing-scale.ts'

for (const family of [4, 6] as const) {
  test(`an intersection of IPv${family} conditions matches the packets that both match`, () => {
    let nonEmpty = 0
    const packets = fc.array(flowPackets(family), { minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(flowMatches(family), flowMatches(family), packets, (a, b, sample) => {
        const common = intersectMatches(a, b)
        if (common) nonEmpty++
        assert.equal(overlapMatches(a, b), common !== undefined)
        for (const packet of sample) {
          const isBoth = matchesPacket(a, packet) && matchesPacket(b, packet)
          assert.equal(common !== undefined && matchesPacket(common, packet), isBoth)
          if (coversMatch(a, b) && matchesPacket(b, packet)) assert.ok(matchesPacket(a, packet))
        }
        if (common) assert.ok(coversMatch(a, common) && coversMatch(b, common))
        else assert.ok(!coversMatch(a, b))
      }),
      { numRuns: scaled(3_000) },
    )
    assert.ok(nonEmpty > scaled(300), `${nonEmpty} intersections`)
  })
}

test('a condition on every port does not cover packets without ports', () => {
  const destination = '203.0.113.0/24' as never
  const withPorts = { destination, protocol: [[17, 17]], destinationPort: [[0, 65_535]] } as const
  assert.equal(coversMatch(withPorts, { destination, protocol: [[17, 17]] }), false)
  assert.equal(coversMatch({ destination, protocol: [[0, 255]] }, { destination }), true)
})
