import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePrefix } from '../net/prefix.ts'
import { parseRuleAction, parseRuleMatch, type RuleConditions, RuleError, type RuleFields } from './rule.ts'

const list4 = parsePrefix('203.0.113.0/24')
const list6 = parsePrefix('2001:db8:a::/48')

test('conditions are parsed into one canonical form', () => {
  const full: RuleConditions = {
    protocol: 'tcp',
    source: '198.51.100.7',
    source_port: '1024-65535',
    destination: '203.0.113.8/29',
    destination_port: '443,80,81',
    tcp_flags: 'SYN, !ack',
    fragment: 'no',
    packet_length: '40-60',
    dscp: 46,
  }
  assert.deepEqual(parseRuleMatch(full, list4), {
    destination: '203.0.113.8/29',
    source: '198.51.100.7/32',
    protocol: [[6, 6]],
    sourcePort: [[1024, 65_535]],
    destinationPort: [
      [80, 81],
      [443, 443],
    ],
    tcpFlags: { set: 2, unset: 16 },
    packetLength: [[40, 60]],
    dscp: [[46, 46]],
    fragment: false,
  })
  assert.deepEqual(parseRuleMatch({ protocol: 'any', fragment: 'any', source: '0.0.0.0/0' }, list4), {
    destination: list4,
  })
  assert.deepEqual(parseRuleMatch({ source: null, dscp: null, packet_length: '0-65535' }, list6), {
    destination: list6,
  })
})

test('ports, flags and types imply the protocols that have them', () => {
  const both = [
    [6, 6],
    [17, 17],
  ]
  assert.deepEqual(parseRuleMatch({ destination_port: '53' }, list4).protocol, both)
  assert.deepEqual(parseRuleMatch({ protocol: 'udp', source_port: '53' }, list4).protocol, [[17, 17]])
  assert.deepEqual(parseRuleMatch({ tcp_flags: 'syn', source_port: '53' }, list4).protocol, [[6, 6]])
  assert.deepEqual(parseRuleMatch({ icmp_type: 8 }, list4).protocol, [[1, 1]])
  assert.deepEqual(parseRuleMatch({ icmp_type: 128 }, list6).protocol, [[58, 58]])
  assert.deepEqual(parseRuleMatch({ protocol: 'icmp' }, list6).protocol, [[58, 58]])
})

test('an invalid condition is rejected with its field and the reason', () => {
  const cases: readonly (readonly [RuleConditions, field: keyof RuleFields, code: RuleError['code']])[] = [
    [{ source: '198.51.100.1/24' }, 'source', 'prefix_invalid'],
    [{ source: '2001:db8::/32' }, 'source', 'family_differs'],
    [{ destination: '203.0.113.1/24' }, 'destination', 'prefix_invalid'],
    [{ destination: '203.0.112.0/23' }, 'destination', 'destination_outside'],
    [{ destination: '2001:db8:a::/48' }, 'destination', 'destination_outside'],
    [{ protocol: '256' }, 'protocol', 'protocol_invalid'],
    [{ protocol: '6,17' }, 'protocol', 'protocol_invalid'],
    [{ protocol: 'sctp' }, 'protocol', 'protocol_invalid'],
    [{ destination_port: '65536' }, 'destination_port', 'range_invalid'],
    [{ packet_length: '90-80' }, 'packet_length', 'range_invalid'],
    [{ tcp_flags: 'syn,!syn' }, 'tcp_flags', 'tcp_flags_invalid'],
    [{ tcp_flags: 'constructor' }, 'tcp_flags', 'tcp_flags_invalid'],
    [{ tcp_flags: '' }, 'tcp_flags', 'tcp_flags_invalid'],
    [{ protocol: 'icmp', destination_port: '53' }, 'destination_port', 'protocol_needed'],
    [{ protocol: 'udp', tcp_flags: 'syn' }, 'tcp_flags', 'protocol_needed'],
    [{ protocol: '58', icmp_type: 8 }, 'icmp_type', 'protocol_needed'],
    [{ icmp_type: 8, source_port: '1' }, 'source_port', 'protocol_needed'],
  ]
  for (const [conditions, field, code] of cases) {
    assert.throws(
      () => parseRuleMatch(conditions, list4),
      (error) => error instanceof RuleError && error.field === field && error.code === code,
      JSON.stringify(conditions),
    )
  }
})

test('a limit has exactly one rate, and other actions have none', () => {
  assert.deepEqual(parseRuleAction({ action: 'deny' }), { kind: 'deny' })
  assert.deepEqual(parseRuleAction({ action: 'rate_limit', rate_bps: 8_000, rate_pps: null }), {
    kind: 'rate_limit',
    bps: 8_000,
  })
  assert.deepEqual(parseRuleAction({ action: 'rate_limit', rate_pps: 100 }), { kind: 'rate_limit', pps: 100 })
  const cases: readonly RuleFields[] = [
    { action: 'rate_limit' },
    { action: 'rate_limit', rate_bps: 1, rate_pps: 1 },
    { action: 'deny', rate_bps: 5 },
    { action: 'allow', rate_pps: 5 },
  ]
  for (const rule of cases) assert.throws(() => parseRuleAction(rule), RuleError, JSON.stringify(rule))
})
