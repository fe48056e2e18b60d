import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import * as fc from 'fast-check'
import { type Route, sameRoute } from '../../byoip/regions/speaker.ts'
import { familyOf } from '../../net/address.ts'
import { maskBits, widthOf } from '../../net/bits.ts'
import { formatBits } from '../../net/bits-text.ts'
import { type Prefix, parsePrefix } from '../../net/prefix.ts'
import { decodeAttributes, decodeNlri, encodeAttributes, encodeNlri } from './attributes.ts'
import {
  decodeOrigin,
  decodeOwnRoute,
  encodeRoute,
  encodeWithdrawal,
  parseOwner,
  type GobgpPath,
} from './codec.ts'
import { PathSchema } from './generated/gobgp_pb.js'
import * as v4 from './generated/gobgp4_pb.js'
import { scaled } from '../../runtime/testing-scale.ts'

const numRuns = scaled(2_000)
const owner = parseOwner('64500:1:1')

it('encodes and decodes every route without a change, for both versions', () => {
  fc.assert(
    fc.property(routes, (route) => {
      const path = encodeRoute(route, owner)
      for (const answered of [listed(path), listed4(path)]) {
        const decoded = decodeOwnRoute(answered, familyOf(route.prefix), owner)
        assert.ok(decoded && sameRoute(decoded, route), JSON.stringify({ route, decoded }))
      }
    }),
    { numRuns },
  )
})

it('does not decode a route of another owner as its own', () => {
  fc.assert(
    fc.property(routes, ownerTexts, (route, text) => {
      const path = listed(encodeRoute(route, parseOwner(text)))
      assert.equal(
        decodeOwnRoute(path, familyOf(route.prefix), owner) !== undefined,
        text === owner.community,
      )
    }),
    { numRuns },
  )
})

it('requires the path identifier, the owner community and the local origin', () => {
  const path = listed(encodeRoute(example, owner))
  assert.ok(decodeOwnRoute(path, 4, owner))
  assert.equal(decodeOwnRoute({ ...path, identifier: 0 }, 4, owner), undefined)
  for (const neighborIp of ['192.0.2.9', '2001:db8::9', 'fe80::1%eth0'])
    assert.equal(decodeOwnRoute({ ...path, neighborIp }, 4, owner), undefined)
  const withoutOwner = encodeAttributes(example.prefix, example)
  assert.equal(decodeOwnRoute({ ...path, pattrsBinary: withoutOwner }, 4, owner), undefined)
})

it('throws on a path without octets instead of treating it as foreign', () => {
  const path = listed({ ...encodeRoute(example, owner), nlriBinary: new Uint8Array(), pattrsBinary: [] })
  assert.throws(() => decodeOwnRoute(path, 4, owner), TypeError)
  assert.throws(() => decodeOwnRoute({ ...path, identifier: 0 }, 4, owner), TypeError)
})

it('encodes the octets of RFC 4271, 4760, 1997 and 8092', () => {
  assert.deepEqual(hex(encodeAttributes(example.prefix, example)), [
    '40010100', // ORIGIN IGP
    '40020602010000fbf0', // AS_PATH: a sequence of one, 64496
    '400304c0000201', // NEXT_HOP 192.0.2.1
    'c00804fbf40064', // COMMUNITIES 64500:100
    'c0200c0000fbf40000000200000003', // LARGE_COMMUNITY 64500:2:3
  ])
  const prefix = parsePrefix('2001:db8:a000::/35')
  const plain = { asPath: [], nextHop: '2001:db8::1', communities: [], largeCommunities: [] }
  assert.deepEqual(hex(encodeAttributes(prefix, plain)), [
    '40010100',
    '400200',
    '800e1b0002011020010db8000000000000000000000001002320010db8a0', // MP_REACH_NLRI: /35,
  ])
})

it('keeps an AS path of more than one segment and of more than 255 octets', () => {
  const asPath = Array.from({ length: 300 }, (_, at) => 4_200_000_000 + at)
  const [, attribute] = encodeAttributes(example.prefix, { ...example, asPath })
  assert.equal(attribute?.[0], 0x50)
  assert.deepEqual(decodeAttributes([attribute!]).asPath, asPath)
})

it('rejects an invalid route, with a reason', () => {
  const bad: [Partial<Route>, RegExp][] = [
    [{ nextHop: '2001:db8::1' }, /family/],
    [{ nextHop: 'example.net' }, /./],
    [{ communities: ['65536:1'] }, /community/],
    [{ communities: ['no-export'] }, /community/],
    [{ largeCommunities: ['1:2'] }, /large community/],
    [{ asPath: [0] }, /AS path/],
    [{ asPath: [4_294_967_296] }, /AS path/],
  ]
  for (const [part, reason] of bad) assert.throws(() => encodeRoute({ ...example, ...part }, owner), reason)
})

it('rejects truncated and extended octets', () => {
  const attributes = encodeAttributes(example.prefix, example)
  for (const attribute of attributes) {
    for (let length = 0; length < attribute.length; length++)
      assert.throws(() => decodeAttributes([attribute.subarray(0, length)]), TypeError)
    assert.throws(() => decodeAttributes([Uint8Array.of(...attribute, 0)]), TypeError)
  }
  const nlri = encodeNlri(example.prefix)
  assert.throws(() => decodeNlri(nlri.subarray(0, 2), 4), TypeError)
  assert.throws(() => decodeNlri(Uint8Array.of(...nlri, 1), 4), TypeError)
  assert.throws(() => decodeNlri(Uint8Array.of(33, 1, 2, 3, 4, 5), 4), TypeError)
  assert.throws(() => decodeNlri(new Uint8Array(), 4), TypeError)
})

it('decodes a route with any octet changed, or throws an Error', () => {
  fc.assert(
    fc.property(routes, fc.nat(), fc.nat(255), (route, at, octet) => {
      const attributes = encodeAttributes(route.prefix, route)
      const changed = attributes[at % attributes.length]!
      changed[at % changed.length] = octet
      try {
        decodeAttributes(attributes)
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }),
    { numRuns },
  )
})

it('encodes a withdrawal with exactly one prefix', () => {
  const path = listed(encodeWithdrawal(parsePrefix('192.0.2.0/24'), owner))
  assert.equal(path.isWithdraw, true)
  assert.equal(path.identifier, owner.identifier)
  assert.equal(decodeNlri(path.nlriBinary, 4), '192.0.2.0/24')
})

it('derives an identifier from the owner that is never 0', () => {
  fc.assert(
    fc.property(ownerTexts, (text) => {
      const { identifier } = parseOwner(text)
      assert.ok(Number.isInteger(identifier) && identifier > 0 && identifier <= 0xffffffff)
    }),
  )
  assert.throws(() => parseOwner('64500:1'), /large community/)
})

const example: Route = {
  prefix: parsePrefix('198.51.100.0/24'),
  asPath: [64496],
  nextHop: '192.0.2.1',
  communities: ['64500:100'],
  largeCommunities: ['64500:2:3'],
}

/** The path in the daemon's answer: serialized once, and with its origin. */
function listed(path: GobgpPath): GobgpPath {
  return fromBinary(PathSchema, toBinary(PathSchema, create(PathSchema, { ...path, neighborIp: '<nil>' })))
}

function listed4(path: GobgpPath): GobgpPath {
  return fromBinary(v4.PathSchema, toBinary(v4.PathSchema, create(v4.PathSchema, path)))
}

function hex(octets: readonly Uint8Array[]): string[] {
  return octets.map((one) => Buffer.from(one).toString('hex'))
}

const uint32 = fc.integer({ min: 0, max: 0xffffffff })
const uint16 = fc.integer({ min: 0, max: 0xffff })
const ownerTexts = fc.tuple(uint32, uint32, uint32).map((numbers) => numbers.join(':'))

const addresses = (family: 4 | 6) =>
  fc
    .tuple(uint32, uint32, uint32, uint32, fc.integer({ min: 0, max: widthOf(family) }))
    .map(([w0, w1, w2, w3, length]) => {
      const bits = { family, length, w0: w0 | 0, w1: w1 | 0, w2: w2 | 0, w3: w3 | 0 }
      return { host: formatBits(bits), prefix: `${formatBits(maskBits(bits))}/${length}` }
    })

/** Addresses that `net` rejects (IPv4-mapped) are not valid routes. */
const isMapped = (text: string): boolean => text.startsWith('::ffff:') || text === '::/0'

const routes: fc.Arbitrary<Route> = fc
  .constantFrom(4 as const, 6 as const)
  .chain((family) => fc.tuple(addresses(family), addresses(family)))
  .filter(([{ prefix }, { host }]) => !isMapped(prefix) && !isMapped(host))
  .chain(([{ prefix }, { host }]) =>
    fc.record({
      prefix: fc.constant(prefix as Prefix).map(parsePrefix),
      nextHop: fc.constant(host),
      asPath: fc.array(fc.integer({ min: 1, max: 0xffffffff }), { maxLength: 6 }),
      communities: fc.array(
        fc.tuple(uint16, uint16).map((numbers) => numbers.join(':')),
        { maxLength: 70 },
      ),
      largeCommunities: fc.array(ownerTexts, { maxLength: 30 }),
    }),
  )

describe('the origin of a path', () => {
  const word = (asn: number) => [0, 0, asn >>> 8, asn & 255]
  const segment = (kind: number, ...asns: number[]) => [kind, asns.length, ...asns.flatMap(word)]
  const originOf = (...segments: number[][]) => {
    const value = segments.flat()
    const asPath = Uint8Array.of(0x40, 2, value.length, ...value)
    return decodeOrigin({ nlriBinary: Uint8Array.of(8, 10), pattrsBinary: [asPath] }, 4)
  }
  const [set, sequence, confederation] = [1, 2, 3]

  it('is the last ASN of the last sequence, also behind a confederation', () => {
    assert.deepEqual(originOf(segment(sequence, 64500, 64496)), ['10.0.0.0/8', 64496])
    assert.deepEqual(originOf(segment(confederation, 65001), segment(sequence, 64500)), ['10.0.0.0/8', 64500])
  })

  it('is 0 for a set at the end, and null for a path that is empty or absent', () => {
    assert.deepEqual(originOf(segment(sequence, 64500), segment(set, 64501, 64502)), ['10.0.0.0/8', 0])
    assert.deepEqual(originOf(), ['10.0.0.0/8', null])
    const octets = { nlriBinary: Uint8Array.of(8, 10), pattrsBinary: [] }
    assert.deepEqual(decodeOrigin(octets, 4), ['10.0.0.0/8', null])
    assert.throws(() => decodeOrigin({ ...octets, nlriBinary: new Uint8Array() }, 4), /octets/)
  })
})
