import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewShieldRule } from '@pharos/contract/shield/shield'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import type { ReportedAttack } from './attack-match.ts'
import { createMitigation, type HeldList } from './mitigation.ts'
import { parseRules } from './shield-rule.ts'

const prefix = parsePrefixOrAddress('203.0.113.0/24')
const target = parsePrefixOrAddress('203.0.113.77')

const start = new Date('2026-03-14T12:00:00Z')
const earlier = new Date('2026-03-14T11:59:59Z')

const listOf = (rules: readonly NewShieldRule[], of: Prefix = prefix, created = start): HeldList => ({
  prefix: of,
  rules: parseRules(rules, of).map(({ parsed }, id) => ({ id, created, ...parsed })),
})
const attack = (
  classification: string,
  details: ReportedAttack['details'] = {},
  networks = [target],
): ReportedAttack => ({
  start,
  networks,
  classification,
  details,
})
const dns = attack('udp.amplification.dns')
const isCovered = (lists: readonly HeldList[], one: ReportedAttack) =>
  createMitigation(lists).ruleAgainst(one) !== undefined
const covers = (rules: readonly NewShieldRule[], one: ReportedAttack) => isCovered([listOf(rules)], one)
const deny = (rest: Partial<NewShieldRule>): NewShieldRule => ({ action: 'deny', ...rest })

describe('a mitigation', () => {
  it('is a rule for the network as a whole that drops or limits, with nothing known of the attack outside of it', () => {
    const limit = { action: 'rate_limit', protocol: 'udp', rate_bps: 1_000_000 } as const
    const cases: readonly (readonly [NewShieldRule, ReportedAttack, boolean])[] = [
      [deny({ protocol: 'udp', source_port: '53' }), dns, true],
      [deny({ protocol: 'udp', source_port: '53', destination: '203.0.113.77' }), dns, true],
      [deny({ protocol: 'udp', source_port: '53', destination: '203.0.113.78' }), dns, false],
      [deny({ protocol: 'udp', source_port: '123' }), dns, false],
      [deny({ protocol: 'tcp' }), dns, false],
      [limit, dns, true],
      [{ action: 'allow', protocol: 'udp' }, dns, false],
      [deny({ protocol: 'tcp' }), attack('unknown'), true],
      [deny({ protocol: 'tcp' }), attack('unknown', { protocols: ['udp'] }), false],
      [deny({ protocol: 'tcp' }), attack('unknown', { protocols: ['udp', 'vendor-x'] }), true],
      [deny({ protocol: 'icmp' }), attack('icmp.flood'), true],
      [deny({ protocol: 'tcp', tcp_flags: 'syn,!ack' }), attack('tcp.syn_flood'), true],
      [deny({ protocol: 'tcp', tcp_flags: 'ack' }), attack('tcp.syn_flood'), false],
      [deny({ fragment: 'no' }), attack('ip.fragment'), false],
      [deny({ destination_port: '80' }), attack('tcp.flood', { destination_ports: [{ port: 443 }] }), false],
      [
        deny({ source: '198.51.100.0/24' }),
        attack('udp.flood', { top_sources: [{ address: '192.0.2.9' }] }),
        false,
      ],
      [
        deny({ source: '192.0.2.0/24' }),
        attack('udp.flood', { top_sources: [{ address: '192.0.2.9' }] }),
        true,
      ],
      [deny({ destination: '203.0.113.77' }), attack('carpet.udp', {}, [prefix]), false],
      [
        deny({ protocol: 'udp', source_port: '123' }),
        attack('unknown', { vectors: ['udp.amplification.dns', 'udp.amplification.ntp'] }),
        true,
      ],
    ]
    for (const [rule, one, expected] of cases)
      assert.equal(covers([rule], one), expected, JSON.stringify([rule, one]))
  })

  it('is not a rule behind one that allows everything known of the attack', () => {
    const all = deny({ protocol: 'udp' })
    assert.equal(covers([{ action: 'allow', protocol: 'udp', source_port: '53' }, all], dns), false)
    assert.equal(covers([{ action: 'allow', protocol: 'udp', source_port: '123' }, all], dns), true)
    assert.equal(covers([{ action: 'allow', source: '198.51.100.0/24' }, all], dns), true, 'allows a part')
    const outer = listOf([all], parsePrefixOrAddress('203.0.0.0/16'))
    const inner = listOf([{ action: 'allow', destination: '203.0.113.77' }])
    assert.equal(isCovered([outer, inner], dns), false, 'the more specific list comes first')
    assert.equal(isCovered([outer], dns), true)
  })

  it('is no rule of before the attack with a condition on something unknown', () => {
    const flood = attack('udp.flood')
    for (const [rule, isKnown] of [
      [deny({ protocol: 'udp' }), true],
      [deny({ protocol: 'udp', source_port: '53,123' }), false],
      [deny({ protocol: 'udp', packet_length: '1400-1500' }), false],
      [deny({ source: '198.51.100.0/24' }), false],
      [deny({ fragment: 'yes' }), false],
    ] as const)
      assert.deepEqual(
        [start, earlier].map((created) => isCovered([listOf([rule], prefix, created)], flood)),
        [true, isKnown],
        JSON.stringify(rule),
      )
    const known = listOf([deny({ protocol: 'udp', source_port: '53,123' })], prefix, earlier)
    assert.equal(isCovered([known], dns), true)
  })

  it('may concern networks inside the destination of a rule that is not allow', () => {
    const { mayConcern } = createMitigation([
      listOf([deny({ destination: '203.0.113.77' }), { action: 'allow' }]),
    ])
    assert.deepEqual([target, prefix].map(mayConcern), [true, false])
  })
})
