// Suggestions: chosen rules cover the attack, spare normal traffic, and their shares are those of a count over the cells.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parsePrefix } from '../../net/prefix.ts'
import { parseRuleMatch } from '../shield/rule.ts'
import { candidatesMax, candidatesOf, chooseRules, type Frequent } from './suggest.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const meets = (mask: number, index: number) => Math.floor(mask / 2 ** index) % 2 === 1
const cells = fc.array(
  fc.record({
    mask: fc.nat({ max: 2 ** 6 - 1 }),
    attack: fc.nat({ max: 1e6 }),
    normal: fc.nat({ max: 1e6 }),
  }),
  { maxLength: 30 },
)

describe('the choice of rules', () => {
  it('has shares that a count finds, no rule twice, and none that meets more normal traffic than attack', () => {
    fc.assert(
      fc.property(cells, fc.double({ min: 0.1, max: 1, noNaN: true }), (all, coverage) => {
        const choice = chooseRules(all, 6, coverage)
        const sum = (of: 'attack' | 'normal', test: (mask: number) => boolean) =>
          all.filter(({ mask }) => test(mask)).reduce((total, cell) => total + cell[of], 0)
        const chosen = choice.rules.map(({ index }) => index)
        assert.equal(new Set(chosen).size, chosen.length)
        for (const rule of choice.rules) {
          assert.equal(
            rule.attackBytes,
            sum('attack', (mask) => meets(mask, rule.index)),
          )
          assert.equal(
            rule.normalBytes,
            sum('normal', (mask) => meets(mask, rule.index)),
          )
        }
        const isMet = (mask: number) => chosen.some((index) => meets(mask, index))
        const attack = sum('attack', () => true)
        const normal = sum('normal', () => true)
        assert.equal(choice.attackShare, attack === 0 ? 0 : sum('attack', isMet) / attack)
        assert.equal(choice.normalShare, normal === 0 ? null : sum('normal', isMet) / normal)
        assert.ok(choice.attackShare >= 0 && choice.attackShare <= 1)
      }),
      { numRuns: scaled(1_000) },
    )
  })

  it('prefers the rule that spares the normal traffic', () => {
    // 0: all UDP; 1: UDP from port 53; 2: UDP from port 53 with long packets.
    const traffic = [
      { mask: 0b111, attack: 1_000, normal: 1 },
      { mask: 0b011, attack: 10, normal: 50 },
      { mask: 0b001, attack: 20, normal: 500 },
      { mask: 0b000, attack: 100, normal: 900 },
    ]
    const { rules, attackShare, normalShare } = chooseRules(traffic, 3, 0.95)
    assert.deepEqual(
      rules.map(({ index }) => index),
      [2],
    )
    assert.equal(attackShare, 1_000 / 1_130)
    assert.equal(normalShare, 1 / 1_451)
  })

  it('prefers the most specific rule to one that covers little more of the attack', () => {
    // 0: UDP from port 53; 1: all UDP.
    const traffic = (rest: number) => [
      { mask: 0b11, attack: 1_000 - rest, normal: 0 },
      { mask: 0b10, attack: rest, normal: 0 },
    ]
    const chosen = (rest: number) => chooseRules(traffic(rest), 2, 0.95).rules.map(({ index }) => index)
    assert.deepEqual([chosen(5), chosen(30)], [[0], [1]])
  })

  it('adds rules until the attack is covered', () => {
    const traffic = [
      { mask: 0b01, attack: 600, normal: 0 },
      { mask: 0b10, attack: 400, normal: 0 },
    ]
    assert.equal(chooseRules(traffic, 2, 0.95).rules.length, 2)
    assert.equal(chooseRules(traffic, 2, 0.5).rules.length, 1)
  })

  it('is empty if the attack looks like the normal traffic', () => {
    assert.deepEqual(chooseRules([{ mask: 1, attack: 100, normal: 100 }], 1, 0.95).rules, [])
    assert.deepEqual(chooseRules([], 3, 0.95), { rules: [], attackShare: 0, normalShare: null })
  })
})

describe('candidates', () => {
  const usual = { low: 0, high: 65_535 }
  const frequent: Frequent[] = [
    { kind: 'source_port', protocol: 17, value: '53', low: 1_024, high: 65_535 },
    { kind: 'destination_port', protocol: 6, value: '443', ...usual },
    { kind: 'flags', protocol: 6, value: '2', low: 0, high: 63 },
    { kind: 'source', protocol: 0, value: '198.51.100.0/24', ...usual },
    { kind: 'fragment', protocol: 0, value: '', ...usual },
    { kind: 'protocol', protocol: 47, value: '', ...usual },
    { kind: 'protocol', protocol: 1, value: '', ...usual },
    { kind: 'protocol', protocol: 132, value: '', ...usual },
  ]

  it('are rules that shield accepts', () => {
    const prefix = parsePrefix('203.0.113.0/24')
    const candidates = candidatesOf(frequent)
    for (const candidate of candidates) assert.ok(parseRuleMatch(candidate, prefix).destination)
    assert.deepEqual(candidates[0], { protocol: 'udp', source_port: '53', packet_length: '1024-65535' })
    assert.ok(candidates.some(({ tcp_flags: flags }) => flags === 'syn,!ack,!rst,!fin'))
  })

  it('are each once, and not more than a mask has bits', () => {
    const many = Array.from({ length: 100 }, (_, at): Frequent => ({ ...frequent[1]!, value: String(at) }))
    assert.equal(candidatesOf(many).length, candidatesMax)
    assert.equal(candidatesOf([frequent[1]!, frequent[1]!]).length, 1)
  })
})
