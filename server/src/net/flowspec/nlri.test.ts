import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type FlowMatch, matchText } from '../flow-match.ts'
import { parsePrefix } from '../prefix.ts'
import { flowMatches } from '../testing-flow.ts'
import { compareFlowspec, decodeFlowspec, encodeComponents, encodeFlowspec } from './nlri.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const destination = parsePrefix('203.0.113.0/24')

const hex = (match: FlowMatch): string => Buffer.from(encodeFlowspec(match)).toString('hex')

describe('the NLRI of FlowSpec', () => {
  for (const family of [4, 6] as const) {
    it(`has the same IPv${family} conditions after encoding and decoding`, () => {
      fc.assert(
        fc.property(flowMatches(family), (match) => {
          const decoded = decodeFlowspec(encodeFlowspec(match), family)
          assert.equal(matchText(decoded), matchText(match))
          assert.equal(hex(decoded), hex(match))
        }),
        { numRuns: scaled(3_000) },
      )
    })

    it(`is decoded from mutated IPv${family} octets as conditions that encode again, or rejected`, () => {
      const outcomes = { decoded: 0, rejected: 0 }
      const change = fc.record({
        at: fc.nat(300),
        octet: fc.nat(255),
        kind: fc.constantFrom('set', 'insert', 'remove'),
      })
      fc.assert(
        fc.property(
          flowMatches(family),
          fc.array(change, { minLength: 1, maxLength: 3 }),
          (match, changes) => {
            const octets = [...encodeFlowspec(match)]
            for (const { at, octet, kind } of changes) {
              const index = at % octets.length
              if (kind === 'set') octets[index] = octet
              else if (kind === 'insert') octets.splice(index, 0, octet)
              else octets.splice(index, 1)
            }
            if (changes.some(({ kind }) => kind !== 'set')) octets[0] = octets.length - 1
            let decoded: FlowMatch
            try {
              decoded = decodeFlowspec(Uint8Array.from(octets), family)
            } catch (error) {
              outcomes.rejected++
              assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error))
              return
            }
            outcomes.decoded++
            assert.equal(matchText(decodeFlowspec(encodeFlowspec(decoded), family)), matchText(decoded))
          },
        ),
        { numRuns: scaled(10_000) },
      )
      assert.ok(outcomes.decoded > scaled(200) && outcomes.rejected > scaled(200), JSON.stringify(outcomes))
    })
  }

  it('is that of RFC 8955 section 4.3 and RFC 8956 section 3.8', () => {
    // "packets to 192.0.2.0/24 and TCP port 25"
    const smtp = {
      destination: parsePrefix('192.0.2.0/24'),
      protocol: [[6, 6]],
      destinationPort: [[25, 25]],
    } as const
    assert.equal(hex(smtp), '0b0118c00002038106058119')
    // The example has the port component (type 4), which conditions lack: here with destination ports.
    const ranges = {
      destination: parsePrefix('192.0.2.0/24'),
      source: parsePrefix('203.0.113.0/24'),
      destinationPort: [
        [137, 139],
        [8080, 8080],
      ],
    } as const
    assert.equal(hex(ranges), '120118c000020218cb0071050389458b911f90')
    assert.equal(
      hex({ destination: parsePrefix('2001:db8::/32'), source: parsePrefix('2001:db8:a::1/128') }),
      '1a01200020010db802800020010db8000a00000000000000000001',
    )
    assert.equal(hex({ destination, tcpFlags: { set: 2, unset: 16 } }), '0a0118cb0071090102c210')
    assert.equal(hex({ destination, fragment: true }), '0a0118cb00710c01028104')
    assert.equal(hex({ destination, fragment: false }), '0a0118cb00710c0302c304')
  })

  it('is not encoded if it is longer than 239 octets', () => {
    const destinationPort = Array.from({ length: 80 }, (_, at) => [1000 + 2 * at, 1000 + 2 * at] as const)
    assert.throws(() => encodeFlowspec({ destination, destinationPort }), RangeError)
  })
})

describe('the order of FlowSpec', () => {
  const before = (a: FlowMatch, b: FlowMatch): void => {
    assert.ok(compareFlowspec(encodeComponents(a), encodeComponents(b)) < 0)
    assert.ok(compareFlowspec(encodeComponents(b), encodeComponents(a)) > 0)
  }

  it('evaluates longer prefixes, lower addresses, lower types and lower octets first', () => {
    const host = parsePrefix('203.0.113.9/32')
    before({ destination: host }, { destination })
    before({ destination: parsePrefix('203.0.112.0/24') }, { destination: host })
    before({ destination, source: parsePrefix('0.0.0.0/0') }, { destination, protocol: [[6, 6]] })
    before({ destination, protocol: [[6, 6]] }, { destination })
    before({ destination, protocol: [[6, 6]] }, { destination, destinationPort: [[1, 1]] })
    before({ destination, destinationPort: [[80, 80]] }, { destination, destinationPort: [[443, 443]] })
    before({ destination, destinationPort: [[80, 81]] }, { destination, destinationPort: [[80, 80]] })
    before({ destination: parsePrefix('2001:db8::/48') }, { destination: parsePrefix('2001:db8::/32') })
  })

  it('is total: it is antisymmetric and transitive, and equal only for the same octets', () => {
    fc.assert(
      fc.property(fc.array(flowMatches(4), { minLength: 3, maxLength: 3 }), (matches) => {
        const [a, b, c] = matches.map(encodeComponents) as [number[][], number[][], number[][]]
        const sign = (x: number[][], y: number[][]): number => Math.sign(compareFlowspec(x, y))
        assert.equal(sign(a, b), -sign(b, a) || 0)
        if (sign(a, b) <= 0 && sign(b, c) <= 0) assert.ok(sign(a, c) <= 0)
        assert.equal(sign(a, b) === 0, hex(matches[0]!) === hex(matches[1]!))
      }),
      { numRuns: scaled(3_000) },
    )
  })
})
