// For tests: arbitraries of conditions and packets that often meet.
import * as fc from 'fast-check'
import type { Family } from './bits.ts'
import { type FlowMatch, type FlowPacket, icmpOf } from './flow-match.ts'
import { type Prefix, parsePrefix } from './prefix.ts'
import { canonicalRanges, type Range, type Ranges } from './ranges.ts'

const networks = {
  4: { destination: '203.0.113.', source: '198.51.', widths: [24, 25, 29, 32], sources: [8, 16, 17, 32] },
  6: { destination: '2001:db8:a::', source: '2001:db8:', widths: [48, 120, 128], sources: [32, 48, 128] },
} as const

/** The prefix of all destinations. */
function flowNetwork(family: Family): Prefix {
  return parsePrefix(family === 4 ? '203.0.113.0/24' : '2001:db8:a::/48')
}

const octet = fc.constantFrom(0, 1, 5, 8, 128, 129, 255)

function destination(family: Family): fc.Arbitrary<Prefix> {
  return family === 4
    ? around(
        octet.map((last) => [203, 0, 113, last]),
        4,
        networks[4].widths,
      )
    : around(
        octet.map((last) => [0x2001, 0xdb8, 0xa, 0, 0, 0, 0, last]),
        6,
        networks[6].widths,
      )
}

function source(family: Family): fc.Arbitrary<Prefix> {
  return family === 4
    ? around(
        fc.tuple(octet, octet).map(([c, d]) => [198, 51, c, d]),
        4,
        networks[4].sources,
      )
    : around(
        fc.tuple(octet, octet).map(([c, d]) => [0x2001, 0xdb8, c, 0, 0, 0, 0, d]),
        6,
        networks[6].sources,
      )
}

function around(
  groups: fc.Arbitrary<number[]>,
  family: Family,
  lengths: readonly number[],
): fc.Arbitrary<Prefix> {
  return fc.tuple(groups, fc.constantFrom(...lengths)).map(([values, length]) => {
    const size = family === 4 ? 8 : 16
    const masked = values.map((value, at) => {
      const kept = Math.max(0, Math.min(size, length - at * size))
      return value & ~((1 << (size - kept)) - 1)
    })
    const text = family === 4 ? masked.join('.') : masked.map((one) => one.toString(16)).join(':')
    return parsePrefix(`${text}/${length}`)
  })
}

function ranges(values: readonly number[]): fc.Arbitrary<Ranges> {
  const value = fc.constantFrom(...values)
  return fc
    .array(
      fc.tuple(value, value).map(([a, b]): Range => [Math.min(a, b), Math.max(a, b)]),
      { minLength: 1, maxLength: 3 },
    )
    .map((all) => canonicalRanges(all)!)
}

const ports = [0, 22, 53, 80, 81, 123, 255, 256, 443, 1023, 1024, 65_535]
const lengths = [40, 64, 100, 255, 256, 1500]

/** Conditions as rules have them: ports, flags and types with the protocols that have them. */
export function flowMatches(family: Family): fc.Arbitrary<FlowMatch> {
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
  const transport = fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(6, 17, icmpOf(family), 47)
        .map((one) => ({ protocol: [[one, one]] as Ranges })),
    },
    {
      weight: 4,
      arbitrary: fc
        .record({
          protocol: fc.constantFrom<Ranges>(
            [[6, 6]],
            [[17, 17]],
            [
              [6, 6],
              [17, 17],
            ],
          ),
          sourcePort: maybe(ranges(ports)),
          destinationPort: ranges(ports),
        })
        .map(defined),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({
          protocol: fc.constant<Ranges>([[6, 6]]),
          tcpFlags: fc.constantFrom(
            { set: 2, unset: 16 },
            { set: 2, unset: 0 },
            { set: 0, unset: 4 },
            { set: 18, unset: 0 },
          ),
          sourcePort: maybe(ranges(ports)),
        })
        .map(defined),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({
          protocol: fc.constant<Ranges>([[icmpOf(family), icmpOf(family)]]),
          icmpType: ranges([0, 3, 8, 128]),
          icmpCode: maybe(ranges([0, 1, 4])),
        })
        .map(defined),
    },
  )
  return fc
    .tuple(
      fc
        .record({
          destination: fc.oneof(fc.constant(flowNetwork(family)), destination(family)),
          source: maybe(source(family)),
          packetLength: fc.option(ranges(lengths), { nil: undefined, freq: 5 }),
          dscp: fc.option(ranges([0, 10, 46, 63]), { nil: undefined, freq: 5 }),
          fragment: fc.option(fc.boolean(), { nil: undefined, freq: 5 }),
        })
        .map(defined),
      transport,
    )
    .map(([base, rest]) => ({ ...base, ...rest }) as FlowMatch)
}

export function flowPackets(family: Family): fc.Arbitrary<FlowPacket> {
  const host = family === 4 ? 32 : 128
  const at = (prefix: Prefix) => parsePrefix(`${prefix.slice(0, prefix.indexOf('/'))}/${host}`)
  const port = fc.constantFrom(...ports, 54, 1_500)
  const transport = fc.oneof(
    fc.constantFrom(47, 6, 17).map((protocol) => ({ protocol, fragment: true })),
    fc.record({ protocol: fc.constant(17), sourcePort: port, destinationPort: port, fragment: fc.boolean() }),
    fc.record({
      protocol: fc.constant(6),
      sourcePort: port,
      destinationPort: port,
      tcpFlags: fc.constantFrom(0, 2, 4, 16, 18),
      fragment: fc.constant(false),
    }),
    fc.record({
      protocol: fc.constant(icmpOf(family)),
      icmpType: fc.constantFrom(0, 3, 8, 128),
      icmpCode: fc.constantFrom(0, 1, 4),
      fragment: fc.constant(false),
    }),
  )
  return fc
    .tuple(
      fc.record({
        source: source(family).map(at),
        destination: destination(family).map(at),
        packetLength: fc.constantFrom(...lengths, 41, 1_400),
        dscp: fc.constantFrom(0, 10, 46),
      }),
      transport,
    )
    .map(([base, rest]) => ({ ...base, ...rest }))
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T
}
