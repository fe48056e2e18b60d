// Rules of a list: parsed rules stay the same when they are stored and sent again, and warnings are true for random
// packets.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { NewShieldRule } from '@pharos/contract/shield/shield'
import { matchesPacket } from '../net/flow-match.ts'
import { parsePrefix } from '../net/prefix.ts'
import { flowPackets } from '../net/testing-flow.ts'
import { Failure } from '../runtime/error.ts'
import { identityOf, isApplied, parseRules, findStored, warningsOf } from './shield-rule.ts'

const prefix = parsePrefix('203.0.113.0/24')
const nowMs = Date.parse('2026-03-14T12:00:00Z')

const ports = fc.constantFrom('53', '53,123', '0-1023', '1024-65535', null)
const hosts = fc.constantFrom(null, '203.0.113.7', '203.0.113.0/25', '203.0.113.128/25', '203.0.113.0/24')
const validRules: fc.Arbitrary<NewShieldRule> = fc
  .record({
    action: fc.constantFrom('allow', 'deny', 'rate_limit'),
    protocol: fc.constantFrom('udp', 'tcp'),
    source: fc.constantFrom(null, '192.0.2.0/24', '192.0.2.1', '0.0.0.0/0'),
    source_port: ports,
    destination: hosts,
    destination_port: ports,
    fragment: fc.constantFrom('any', 'no'),
    packet_length: fc.constantFrom(null, '0-100', '512'),
    enabled: fc.boolean(),
  })
  .map((rule) => ({ ...rule, ...(rule.action === 'rate_limit' ? { rate_bps: 1000 } : {}) }) as NewShieldRule)
const lists = fc.array(validRules, { minLength: 1, maxLength: 8 })

describe('a rule', () => {
  it('has the same identity after it was stored, and when it is written again', () => {
    fc.assert(
      fc.property(lists, (rules) => {
        for (const rule of parseRules(rules, prefix)) {
          const stored = { parsed: findStored(rule, prefix)! }
          assert.equal(identityOf(stored), identityOf(rule))
          const { action, match, rate_bps, rate_pps } = rule
          const [again] = parseRules([{ action, ...match, rate_bps, rate_pps }], prefix)
          assert.deepEqual(again!.match, match)
          assert.equal(identityOf(again!), identityOf(rule))
        }
      }),
    )
  })

  it('is rejected at its place, and all of them in one answer', () => {
    const broken: NewShieldRule[] = [
      { action: 'deny', destination: '198.51.100.7' },
      { action: 'deny', protocol: 'gre', source_port: '53' },
      { action: 'deny', source: '192.0.2.1/24' },
      { action: 'rate_limit' },
      { action: 'deny', protocol: 'udp', source_port: '65536' },
    ]
    fc.assert(
      fc.property(fc.array(fc.oneof(validRules, fc.constantFrom(...broken)), { maxLength: 12 }), (rules) => {
        const bad = rules.flatMap((rule, at) => (broken.includes(rule) ? [at] : []))
        try {
          parseRules(rules, prefix)
          assert.deepEqual(bad, [])
        } catch (error) {
          if (!(error instanceof Failure)) throw error
          assert.deepEqual(
            error.errors!.map(({ loc }) => loc[2]),
            bad,
          )
        }
      }),
    )
  })
})

describe('a warning', () => {
  it('about a rule that never matches is true for every packet', () => {
    fc.assert(
      fc.property(lists, fc.array(flowPackets(4), { maxLength: 20 }), (written, packets) => {
        const rules = parseRules(written, prefix)
        const hidden = warningsOf(rules, prefix, nowMs)
          .filter(({ code }) => code !== 'whole_prefix')
          .map(({ loc }) => loc[2])
        const applied = rules
          .map((rule, index) => ({ rule, index }))
          .filter(({ rule }) => isApplied(rule, nowMs))
        for (const packet of packets) {
          const first = applied.find(({ rule }) => matchesPacket(rule.parsed.match, packet))
          assert.ok(first === undefined || !hidden.includes(first.index))
        }
      }),
    )
  })

  it('names each rule that repeats or contradicts one before it', () => {
    fc.assert(
      fc.property(lists, (written) => {
        const enabled = written.map((rule) => ({ ...rule, enabled: true }))
        const rules = parseRules([...enabled, ...enabled], prefix)
        const warned = new Set(warningsOf(rules, prefix, nowMs).map(({ loc }) => loc[2]))
        for (let at = enabled.length; at < rules.length; at++) assert.ok(warned.has(at))
      }),
    )
  })
})
