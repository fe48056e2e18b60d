// Traffic that the detector must and must not take for an attack, as data for tests and `bench`. The limit is 100 Mbit/s and 20,000 packets a
// second to a host; a /24 usually has 50 Mbit/s, and a host at most 30.
import type { Classification } from '@pharos/contract/events/classification'
import type { Threshold } from '../../flow/threshold.ts'
import type { Direction } from './scopes.ts'

export const limit: Threshold = { bps: 100e6, pps: 20_000 }

/** The prefixes of one team. */
export const held = [
  '203.0.113.0/24',
  '198.51.100.0/22',
  '10.0.0.0/18',
  '10.7.0.0/16',
  '2001:db8:7::/48',
  '2001:db8:100::/40',
] as const

/** A part of the traffic: from `from` to `until` in seconds of the scene, evenly over `hosts` addresses from `to` on. */
export type ScenarioStream = {
  readonly to: string
  /** Default 1. `step` is the distance of two addresses. */
  readonly hosts?: number
  readonly step?: number
  /** Addresses of IPv6 at random in the network of the length from `to` on, others for each packet. */
  readonly randomFrom?: number
  /** The traffic is sent from `to` to other networks. */
  readonly isOutgoing?: boolean
  readonly bps: number
  /** Octets of a packet; default 1400. */
  readonly octets?: number
  /** 17 (default), 6 or 1. */
  readonly protocol?: number
  readonly srcPort?: number
  readonly tcpFlags?: number
  readonly from?: number
  readonly until?: number
  /** Sent for `on` seconds in every `every` seconds. */
  readonly pulse?: { readonly on: number; readonly every: number }
  /** The factor of the rate at a second of the scene. */
  readonly shape?: (second: number) => number
  /** Only to the host with the number second / `turn`. */
  readonly turn?: number
  /** Interval of exports, as one long flow per host. */
  readonly flowSeconds?: number
  /** Parts of it at each of several collectors. */
  readonly collectors?: number
}

export type Scenario = {
  readonly name: string
  readonly sampling: number
  readonly limit?: Threshold
  /** Hosts with usual traffic beside it, in the /24s of the targets. */
  readonly streams: readonly ScenarioStream[]
  /** Seconds of the scene before the attack, in which usual traffic is observed. */
  readonly before?: number
  readonly seconds: number
  /** Size of the detector's table; default 1024. */
  readonly rows?: number
}

export type AttackScenario = Scenario & {
  /** Seconds from its first datagram to the report, and the reported networks, each once. */
  readonly within: number
  readonly networks: readonly string[]
  readonly classification: Classification
  readonly direction?: Direction
  /** Number of reported attacks; default one per network. */
  readonly events?: number
}

const gigabit = 1e9
const begin = 700
const observed = { before: begin, seconds: begin + 120 } as const

const usual24: ScenarioStream = {
  to: '203.0.113.1',
  hosts: 10,
  bps: 50e6,
  octets: 900,
  protocol: 6,
  tcpFlags: 0x1b,
  srcPort: 443,
}
const amplification: ScenarioStream = { to: '203.0.113.77', bps: gigabit, srcPort: 53, from: begin }
const usualOf = (to: string, networks: number): ScenarioStream => ({
  ...usual24,
  to,
  hosts: networks * 2,
  step: 128,
  bps: networks * 50e6,
})

const amplificationAt = (sampling: number, within: number): AttackScenario => ({
  ...observed,
  name: `1 Gbit/s of amplification to a host, sampling 1:${sampling}`,
  sampling,
  streams: [usual24, amplification],
  within,
  networks: ['203.0.113.77/32'],
  classification: 'udp.amplification.dns',
})

export const attackScenarios: readonly AttackScenario[] = [
  amplificationAt(1, 3),
  amplificationAt(1000, 4),
  amplificationAt(16_384, 8),
  {
    ...observed,
    name: '10 % over the limit, not sampled',
    sampling: 1,
    streams: [usual24, { ...amplification, bps: 110e6 }],
    within: 25,
    networks: ['203.0.113.77/32'],
    classification: 'udp.amplification.dns',
  },
  {
    name: 'a ramp to 1 Gbit/s in 10 minutes, after it crossed the limit',
    sampling: 1,
    before: begin,
    seconds: begin + 620,
    // The limit is crossed after a minute.
    streams: [usual24, { ...amplification, shape: (second) => Math.min(1, (second - begin) / 600) }],
    within: 60 + 10,
    networks: ['203.0.113.77/32'],
    classification: 'udp.amplification.dns',
  },
  {
    ...observed,
    name: 'SYN flood of 30,000 packets a second of 40 octets',
    sampling: 1,
    streams: [
      usual24,
      { ...amplification, bps: 30_000 * 320, octets: 40, protocol: 6, srcPort: 40_000, tcpFlags: 2 },
    ],
    within: 3,
    networks: ['203.0.113.77/32'],
    classification: 'tcp.syn_flood',
  },
  {
    ...observed,
    name: '1 Gbit/s over a /24',
    sampling: 1,
    streams: [usual24, { ...amplification, to: '203.0.113.0', hosts: 256, srcPort: 40_000 }],
    within: 5,
    networks: ['203.0.113.0/24'],
    classification: 'carpet.udp',
  },
  {
    ...observed,
    name: '1.2 Gbit/s over a /22',
    sampling: 1,
    streams: [
      usualOf('198.51.100.0', 4),
      { ...amplification, to: '198.51.100.0', hosts: 1024, bps: 1.2 * gigabit, srcPort: 40_000 },
    ],
    within: 5,
    networks: ['198.51.100.0/22'],
    classification: 'carpet.udp',
  },
  {
    ...observed,
    name: '20 Gbit/s over a /18',
    rows: 2 ** 15,
    sampling: 1000,
    streams: [
      usualOf('10.0.0.0', 64),
      { ...amplification, to: '10.0.0.0', hosts: 16_384, bps: 20 * gigabit, srcPort: 40_000 },
    ],
    within: 5,
    networks: ['10.0.0.0/18'],
    classification: 'carpet.udp',
  },
  {
    ...observed,
    name: '10 Gbit/s over random /64 of a /48',
    rows: 2 ** 15,
    sampling: 1000,
    streams: [{ ...amplification, to: '2001:db8:7::', randomFrom: 48, bps: 10 * gigabit, srcPort: 40_000 }],
    within: 5,
    networks: ['2001:db8:7::/48'],
    classification: 'carpet.udp',
  },
  {
    ...observed,
    name: 'half of 1 Gbit/s at each of two collectors',
    sampling: 1,
    streams: [usual24, { ...amplification, collectors: 2 }],
    within: 5,
    networks: ['203.0.113.77/32'],
    classification: 'udp.amplification.dns',
  },
  {
    name: 'pulses of 30 s in every 60 s',
    sampling: 1,
    before: begin,
    seconds: begin + 900,
    streams: [usual24, { ...amplification, pulse: { on: 30, every: 60 } }],
    within: 3,
    networks: ['203.0.113.77/32'],
    classification: 'udp.amplification.dns',
  },
  {
    name: 'ten pulses of 5 s in every 90 s',
    sampling: 1,
    before: begin,
    seconds: begin + 900,
    streams: [usual24, { ...amplification, pulse: { on: 5, every: 90 } }],
    within: 3,
    networks: ['203.0.113.77/32'],
    classification: 'udp.amplification.dns',
    events: 2,
  },
  {
    name: '20 hosts for 5 s in turn',
    sampling: 1,
    before: begin,
    seconds: begin + 400,
    streams: [usual24, { ...amplification, to: '203.0.113.40', hosts: 20, turn: 5, until: begin + 100 }],
    within: 3,
    networks: ['203.0.113.40/32', '203.0.113.41/32', '203.0.113.0/24'],
    classification: 'udp.amplification.dns',
  },
  {
    ...observed,
    name: '3 Gbit/s of UDP out of a host',
    sampling: 1,
    streams: [usual24, { ...amplification, isOutgoing: true, bps: 3 * gigabit, srcPort: 40_000 }],
    within: 4,
    networks: ['203.0.113.77/32'],
    classification: 'udp.flood',
    direction: 'outgoing',
  },
  {
    name: '10 Gbit/s to an idle host of a prefix with usually 5 Gbit/s',
    sampling: 1,
    limit: { ...limit, ratio: 4 },
    ...observed,
    streams: [
      { ...usualOf('10.7.0.0', 256), hosts: 256, step: 256, bps: 5 * gigabit },
      { ...amplification, to: '10.7.3.9', bps: 10 * gigabit },
    ],
    within: 3,
    networks: ['10.7.3.9/32'],
    classification: 'udp.amplification.dns',
  },
]

const day = 86_400
const steady = (bps: number, sampling: number): Scenario => ({
  name: `steady ${bps / 1e6} Mbit/s, sampling 1:${sampling}`,
  sampling,
  seconds: day,
  streams: [{ ...usual24, to: '203.0.113.9', hosts: 1, bps, octets: 1400 }],
})

const backup = (flowSeconds: number): Scenario => ({
  name: `a backup of 500 Mbit/s in flows of ${flowSeconds} s`,
  sampling: 1,
  limit: { bps: 750e6, pps: 100_000 },
  seconds: day,
  streams: [{ ...usual24, to: '203.0.113.9', hosts: 1, bps: 500e6, flowSeconds }],
})

export const quietScenarios: readonly Scenario[] = [
  ...[1000, 4096, 16_384].flatMap((sampling) => [30e6, 50e6, 70e6].map((bps) => steady(bps, sampling))),
  {
    name: '100 hosts of 15 Mbit/s, sampling 1:16384',
    sampling: 16_384,
    seconds: day,
    streams: [{ ...usual24, hosts: 100, bps: 1.5e9 }],
  },
  backup(60),
  backup(300),
  {
    name: 'a daily curve with twice the traffic of the night, at every scope',
    sampling: 1000,
    seconds: day,
    streams: [usual24, usualOf('198.51.100.0', 4), usualOf('10.0.0.0', 64)].map((stream) => ({
      ...stream,
      shape: (second: number) => 1.5 - 0.5 * Math.cos((second / day) * 2 * Math.PI),
    })),
  },
  {
    name: '100,000 random addresses of IPv6 a second',
    sampling: 1,
    seconds: 700,
    rows: 2 ** 16,
    streams: [{ ...usual24, to: '2001:db8:100::', randomFrom: 40, bps: 100_000 * 480, octets: 60 }],
  },
  {
    name: 'a host of a content network that sends 5 Gbit/s of TCP and QUIC',
    sampling: 1000,
    seconds: day,
    streams: [
      { ...usual24, to: '203.0.113.9', hosts: 1, isOutgoing: true, bps: 4e9 },
      { ...usual24, to: '203.0.113.9', hosts: 1, isOutgoing: true, bps: 1e9, protocol: 17 },
      { ...usual24, to: '203.0.113.9', hosts: 1, bps: 4e6, octets: 60 },
    ],
  },
]
