// Whole zones: three independent verifiers accept them in every variant, and reject a zone in which one record is wrong.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { skipWithout } from '@pharos/lab/program'
import { parseName, parseZoneName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { assertVerified, rejectionsOf, rolloverVerifiers, rrsetsOf, verifiers } from '../testing.ts'
import { keySets } from './key-sets.ts'
import { setKey, signZone } from './sign-zone.ts'
import { decodeRrsig, secondsLeft, type SignatureSettings } from './signature.ts'
import { signingOf } from './testing.ts'

const zone = parseZoneName('example.com.')
const text = `
@           3600 SOA   ns1 hostmaster 1 3600 900 1209600 300
@           3600 NS    ns1
@           3600 NS    ns.Other.Example.
@           3600 CAA   0 issue "ca.example.net"
ns1         3600 A     192.0.2.1
ns1         3600 AAAA  2001:db8::1
*.wild      60   TXT   "any"
a.b.c.empty 60   A     192.0.2.5
x\\.y.empty  60   A     192.0.2.6
sub         3600 NS    ns1.sub
sub         3600 A     192.0.2.9
ns1.sub     3600 A     192.0.2.2
a.b.sub     3600 A     192.0.2.2
secure      3600 NS    ns1.sub
secure      3600 DS    1234 13 2 ${'ab'.repeat(32)}
alias       3600 DNAME Target.Example.
mail        300  MX    10 Mail.Example.com.
_srv._tcp   300  SRV   1 2 443 WWW.example.com.
num         300  NAPTR 1 2 "u" "E2U+sip" "" Replacement.Example.
loc         300  LOC   52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m
new         300  TYPE65400 \\# 3 414243
`

function contentOf({ keys }: SignatureSettings): Rrset[] {
  const dnskeys = keys.map(({ dnskey }) => dnskey)
  const request = { request: 'keys', dnskeys: dnskeys.slice(0, 1) } as const
  return [...rrsetsOf(zone, text), ...keySets(zone, dnskeys, request, 3600)]
}

const signed = (signing: SignatureSettings): SignedRrset[] => [...signZone(zone, contentOf(signing), signing)]

const find = (sets: readonly SignedRrset[], name: string, type: keyof typeof recordType): SignedRrset =>
  sets.find((set) => set.name === parseName(name, zone) && set.type === recordType[type])!

describe('a whole zone', { skip: skipWithout(...verifiers) }, () => {
  for (const denial of ['nsec', 'nsec3'] as const) {
    for (const algorithm of [13, 14, 15] as const) {
      for (const kinds of [['csk'], ['ksk', 'zsk']] as const) {
        it(`is accepted by every verifier: ${denial}, algorithm ${algorithm}, ${kinds.join(' and ')}`, () => {
          assertVerified(zone, signed(signingOf(zone, denial, algorithm, kinds)))
        })
      }
    }
  }

  it('is accepted while two keys of different algorithms sign', () => {
    const [old, next] = [signingOf(zone), signingOf(zone, 'nsec', 15)]
    assertVerified(zone, signed({ ...old, keys: [...old.keys, ...next.keys] }), rolloverVerifiers)
  })

  for (const denial of ['nsec', 'nsec3'] as const) {
    it(`is rejected if one record of its ${denial} chain is missing`, () => {
      const sets = signed(signingOf(zone, denial))
      const chain = sets.filter(({ type }) => type === recordType[denial === 'nsec' ? 'NSEC' : 'NSEC3'])
      for (const gone of [chain[1], chain[3]]) {
        assert.equal(
          rejectionsOf(
            zone,
            sets.filter((set) => set !== gone),
          ).size,
          verifiers.length,
        )
      }
    })
  }
})

describe('signing', () => {
  it('leaves delegations, glue and occluded names unsigned, and signs DS', () => {
    const sets = signed(signingOf(zone))
    const countOf = (name: string, type: keyof typeof recordType): number =>
      find(sets, name, type).rrsig.length
    assert.deepEqual(
      [countOf('sub', 'NS'), countOf('sub', 'A'), countOf('ns1.sub', 'A'), countOf('a.b.sub', 'A')],
      [0, 0, 0, 0],
    )
    assert.deepEqual([countOf('secure', 'NS'), countOf('secure', 'DS'), countOf('sub', 'NSEC')], [0, 1, 1])
    assert.equal(find(sets, 'ns1.sub', 'NSEC'), undefined)
  })

  it('gives NSEC the lesser of SOA TTL and minimum (RFC 9077)', () => {
    assert.equal(find(signed(signingOf(zone)), 'mail', 'NSEC').ttl, 300)
  })

  it('counts the labels of a wildcard without it', () => {
    const { rrsig } = find(signed(signingOf(zone)), '*.wild', 'TXT')
    assert.equal(decodeRrsig(rrsig[0]!).labels, 3)
  })

  it('spreads the expirations over the jitter, and none is due for renewal when made', () => {
    const signing = signingOf(zone)
    const { now, times } = signing
    const left = signed(signing).flatMap(({ rrsig }) => rrsig.map((octets) => secondsLeft(octets, now)))
    assert.ok(left.every((seconds) => seconds > times.validity - times.jitter && seconds <= times.validity))
    assert.ok(new Set(left).size > left.length / 2)
    assert.ok(times.validity - times.jitter > times.renewal)
  })

  it('keeps signatures over the same data until they are due, and those of the remaining key', () => {
    const first = signingOf(zone)
    const second = signingOf(zone)
    const both = { ...first, keys: [...first.keys, ...second.keys] }
    const sets = signed(both)
    const previous = new Map(sets.map((set) => [setKey(set), set]))
    const withoutFirst = [...signZone(zone, contentOf(both), { ...both, keys: second.keys }, previous)]
    for (const set of withoutFirst) {
      assert.ok(set.rrsig.every((octets) => previous.get(setKey(set))!.rrsig.includes(octets)))
    }
    const later = { ...both, now: both.now + both.times.validity - both.times.renewal }
    const renewed = [...signZone(zone, contentOf(both), later, previous)]
    assert.ok(
      renewed.every((set) => set.rrsig.every((octets) => !previous.get(setKey(set))!.rrsig.includes(octets))),
    )
  })

  it('throws instead of returning a set without signatures', () => {
    const signing = signingOf(zone)
    assert.throws(() => [...signZone(zone, contentOf(signing), { ...signing, keys: [] })], RangeError)
    assert.throws(() => [...signZone(zone, [], signing)], RangeError)
  })
})
