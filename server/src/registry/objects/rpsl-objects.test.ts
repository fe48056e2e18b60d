import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  asSetOf,
  autNumOf,
  isMemberByReference,
  membershipOf,
  parseAsSetName,
  parseRegistryName,
  routeObjectOf,
} from './rpsl-objects.ts'
import { parseRpslObject, RpslError } from './rpsl.ts'
import type { RpslObject } from './rpsl.ts'

function objectOf(...lines: string[]): RpslObject {
  return parseRpslObject(lines.join('\n'))!
}

describe('routeObjectOf', () => {
  it('parses a route and a route6 object into canonical form', () => {
    const route = objectOf('route: 192.0.2.0/24 # mine', 'origin: as64496', 'source: radb # Filtered')
    const { prefix, origin, source, text } = routeObjectOf(route)
    assert.deepEqual([prefix, origin, source], ['192.0.2.0/24', 64_496, 'RADB'])
    assert.ok(text.endsWith('# Filtered'))
    const route6 = objectOf('route6: 2001:DB8:0:0::/32', 'origin: AS4294967295', 'source: RIPE-NONAUTH')
    assert.deepEqual(
      [routeObjectOf(route6).prefix, routeObjectOf(route6).origin],
      ['2001:db8::/32', 4_294_967_295],
    )
  })

  const refusals: readonly [string, readonly string[], RegExp][] = [
    ['host bits', ['route: 192.0.2.1/24', 'origin: AS64496', 'source: A'], /192\.0\.2\.0\/24/],
    ['no length', ['route: 192.0.2.0', 'origin: AS64496', 'source: A'], /length/],
    ['an old short form', ['route: 192.0.2/24', 'origin: AS64496', 'source: A'], /192\.0\.2\/24/],
    ['the other family', ['route: 2001:db8::/32', 'origin: AS64496', 'source: A'], /route object/],
    ['the other class', ['route6: 192.0.2.0/24', 'origin: AS64496', 'source: A'], /route6 object/],
    ['no origin', ['route: 192.0.2.0/24', 'source: A'], /no origin/],
    [
      'two origins',
      ['route: 192.0.2.0/24', 'origin: AS1', 'origin: AS2', 'source: A'],
      /more than one origin/,
    ],
    ['an origin that is no ASN', ['route: 192.0.2.0/24', 'origin: 64496', 'source: A'], /"64496"/],
    ['AS 0', ['route: 192.0.2.0/24', 'origin: AS0', 'source: A'], /"AS0"/],
    ['an ASN of 33 bits', ['route: 192.0.2.0/24', 'origin: AS4294967296', 'source: A'], /AS4294967296/],
    ['asdot', ['route: 192.0.2.0/24', 'origin: AS1.10', 'source: A'], /AS1\.10/],
    ['no source', ['route: 192.0.2.0/24', 'origin: AS1'], /no source/],
    ['a source that is no name', ['route: 192.0.2.0/24', 'origin: AS1', 'source: A B'], /registry/],
    ['a long prefix', [`route: ${'1'.repeat(5_000)}`, 'origin: AS1', 'source: A'], /^.{1,200}$/],
  ]
  for (const [what, lines, message] of refusals) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => routeObjectOf(objectOf(...lines)),
        (error) => error instanceof RpslError && message.test(error.message),
      )
    })
  }
})

describe('asSetOf', () => {
  it('parses members over several lines and attributes, each once, and leaves out invalid ones', () => {
    const set = objectOf(
      'as-set: as-example',
      'members: AS64496, as64497,',
      '         AS-MORE, # AS64498',
      '+        AS64496:AS-DEEP AS64496',
      'members: 192.0.2.0/24, ANY, AS0, AS4294967296, AS01, AS-, RS-ROUTES, AS64499',
      'mbrs-by-ref: maint-a, ANY',
      'source: RIPE',
    )
    assert.deepEqual(asSetOf(set), {
      name: 'AS-EXAMPLE',
      asns: [64_496, 64_497, 64_499],
      sets: ['AS-MORE', 'AS64496:AS-DEEP'],
      membersByReference: ['MAINT-A', 'ANY'],
      source: 'RIPE',
    })
  })

  it('rejects a list that would take too long to parse', () => {
    const set = (count: number) =>
      objectOf(
        'as-set: AS-X',
        `members: ${Array.from({ length: count }, (_, at) => `AS${at + 1}`).join()}`,
        'source: A',
      )
    assert.equal(asSetOf(set(50_000)).asns.length, 50_000)
    assert.throws(() => asSetOf(set(50_001)), RpslError)
  })

  it('accepts members by reference of its maintainers, or of anyone', () => {
    const member = membershipOf(
      objectOf('aut-num: AS1', 'member-of: as-x, AS-Y, bad', 'mnt-by: MAINT-B maint-c'),
    )
    assert.deepEqual(member, { memberOf: ['AS-X', 'AS-Y'], maintainers: ['MAINT-B', 'MAINT-C'] })
    const set = (...reference: string[]) => asSetOf(objectOf('as-set: AS-X', ...reference, 'source: A'))
    assert.equal(isMemberByReference(set('mbrs-by-ref: MAINT-A, MAINT-C'), member), true)
    assert.equal(isMemberByReference(set('mbrs-by-ref: any'), member), true)
    assert.equal(isMemberByReference(set('mbrs-by-ref: MAINT-A'), member), false)
    assert.equal(isMemberByReference(set(), member), false)
  })
})

describe('autNumOf', () => {
  it('parses the ASN and keeps the text', () => {
    const { asn, source, text } = autNumOf(objectOf('aut-num: AS64496', 'remarks: token', 'source: RIPE'))
    assert.deepEqual([asn, source], [64_496, 'RIPE'])
    assert.match(text, /remarks: token/)
    assert.throws(() => autNumOf(objectOf('aut-num: 64496', 'source: RIPE')), RpslError)
  })
})

describe('parseAsSetName', () => {
  for (const name of ['AS-EXAMPLE', 'AS64496:AS-X', 'AS-X:AS64496', 'AS-A_B-1', 'AS-X:AS-Y:AS1']) {
    it(`accepts ${name}, in any case`, () => assert.equal(parseAsSetName(name.toLowerCase()), name))
  }

  const refused = [
    '',
    'AS-',
    'AS64496',
    'AS64496:AS64497',
    'RS-EXAMPLE',
    'EXAMPLE',
    'AS-X:',
    ':AS-X',
    'AS-X AS-Y',
    'AS-X,1',
    'AS-X\n!q',
    'AS-X\r',
    '!AS-X',
    'RADB::AS-X',
    'AS-ſ',
    'AS-Xı',
    `AS-${'X'.repeat(253)}`,
  ]
  for (const name of refused) {
    it(`refuses ${JSON.stringify(name.slice(0, 20))}`, () =>
      assert.throws(() => parseAsSetName(name), RpslError))
  }
})

describe('parseRegistryName', () => {
  it('converts to capitals, and rejects text that could extend a query', () => {
    assert.equal(parseRegistryName('ripe-nonauth'), 'RIPE-NONAUTH')
    for (const name of ['', 'A,B', 'A B', 'A\n', '-A', '1A', '*', 'é']) {
      assert.throws(() => parseRegistryName(name), RpslError, name)
    }
  })
})
