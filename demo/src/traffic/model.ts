// The traffic of the demo: applications, their places and volumes. Pure: the same minute always has the same flows. The
// volume of a port follows its simulated counters, which count frames, so that flows and counters agree.
import { interfaceSeed, octetsAt } from '../../../server/src/drivers/sandbox-device/traffic.ts'
import { hostPrefix, prefixBits } from '../../../server/src/net/prefix.ts'
import { parseAddress } from '../../../server/src/net/address.ts'
import { createRandom, type Random } from './random.ts'

/** Four words, IPv4 as ::ffff:a.b.c.d. */
export type Words = readonly [number, number, number, number]

/** A flow as its exporter reports it: sampled. */
export type DemoFlow = {
  readonly exporter: number
  readonly inIf: number
  readonly outIf: number
  readonly src: Words
  readonly dst: Words
  readonly srcPort: number
  readonly dstPort: number
  readonly protocol: number
  readonly tcpFlags: number
  readonly fragment: boolean
  readonly bytes: number
  readonly packets: number
}

export type DemoExporter = {
  readonly device: string
  /** Source of its datagrams, as in demo/platform.yaml. */
  readonly address: string
  readonly protocol: 'ipfix' | 'sflow' | 'netflow5'
  readonly samplingRate: number
  /** Number of the interface to the internet. */
  readonly upstream: number
}

export const demoExporters: readonly DemoExporter[] = [
  { device: 'edge1.ams', address: '127.0.0.11', protocol: 'ipfix', samplingRate: 1000, upstream: 3 },
  { device: 'edge1.fra', address: '127.0.0.12', protocol: 'sflow', samplingRate: 65_536, upstream: 9 },
  { device: 'access3.fra', address: '127.0.0.13', protocol: 'netflow5', samplingRate: 1000, upstream: 3 },
]

/** A port of a customer, with the mean rates of its interface in demo/platform.yaml: `in` is from the customer. */
type DemoPort = {
  readonly exporter: number
  readonly name: string
  readonly ifIndex: number
  readonly inBps: number
  readonly outBps: number
}

const ports = {
  amsterdam: { exporter: 0, name: 'et-0/0/0', ifIndex: 1, inBps: 5_200_000_000, outBps: 8_600_000_000 },
  frankfurt: {
    exporter: 1,
    name: 'Port-Channel10',
    ifIndex: 1,
    inBps: 7_800_000_000,
    outBps: 11_400_000_000,
  },
  office: { exporter: 2, name: 'sfp28-1', ifIndex: 1, inBps: 640_000_000, outBps: 910_000_000 },
  other: { exporter: 1, name: 'Ethernet4/1', ifIndex: 5, inBps: 310_000_000, outBps: 420_000_000 },
} as const satisfies Record<string, DemoPort>

const tcp = 6
const udp = 17

/** The traffic of an application, as shares of its port. `server`: the service port is at the customer. */
type Application = {
  readonly port: keyof typeof ports
  readonly protocol: number
  readonly service: number
  readonly isServer: boolean
  /** The customer's hosts: the first address and their number. */
  readonly hosts: readonly [first: string, count: number]
  readonly toShare: number
  readonly fromShare: number
  readonly toPacket: number
  readonly fromPacket: number
}

const web = { toPacket: 160, fromPacket: 1380 }
const download = { toPacket: 1400, fromPacket: 80 }
const small = { toPacket: 180, fromPacket: 180 }

const applications: readonly Application[] = [
  // Amsterdam: web, games and a cloud.
  {
    port: 'amsterdam',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['203.0.113.1', 24],
    toShare: 0.12,
    fromShare: 0.36,
    ...web,
  },
  {
    port: 'amsterdam',
    protocol: udp,
    service: 443,
    isServer: true,
    hosts: ['203.0.113.1', 24],
    toShare: 0.05,
    fromShare: 0.21,
    ...web,
  },
  {
    port: 'amsterdam',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['2001:db8:a::1', 24],
    toShare: 0.09,
    fromShare: 0.16,
    ...web,
  },
  {
    port: 'amsterdam',
    protocol: udp,
    service: 27_015,
    isServer: true,
    hosts: ['203.0.113.65', 40],
    toShare: 0.06,
    fromShare: 0.1,
    ...small,
  },
  {
    port: 'amsterdam',
    protocol: udp,
    service: 53,
    isServer: true,
    hosts: ['203.0.113.53', 2],
    toShare: 0.004,
    fromShare: 0.01,
    toPacket: 75,
    fromPacket: 210,
  },
  {
    port: 'amsterdam',
    protocol: tcp,
    service: 443,
    isServer: false,
    hosts: ['203.0.113.130', 60],
    toShare: 0.42,
    fromShare: 0.04,
    ...download,
  },
  {
    port: 'amsterdam',
    protocol: udp,
    service: 443,
    isServer: false,
    hosts: ['2001:db8:a:1::10', 40],
    toShare: 0.16,
    fromShare: 0.02,
    ...download,
  },
  {
    port: 'amsterdam',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['2001:db8:1000::1', 30],
    toShare: 0.08,
    fromShare: 0.08,
    ...web,
  },
  {
    port: 'amsterdam',
    protocol: tcp,
    service: 22,
    isServer: true,
    hosts: ['203.0.113.1', 90],
    toShare: 0.016,
    fromShare: 0.02,
    ...small,
  },
  // Frankfurt: mail, and backups over the LAG.
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 25,
    isServer: true,
    hosts: ['198.51.100.10', 8],
    toShare: 0.13,
    fromShare: 0.03,
    toPacket: 1200,
    fromPacket: 90,
  },
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 25,
    isServer: true,
    hosts: ['2001:db8:c::10', 8],
    toShare: 0.07,
    fromShare: 0.02,
    toPacket: 1200,
    fromPacket: 90,
  },
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 993,
    isServer: true,
    hosts: ['198.51.100.20', 12],
    toShare: 0.03,
    fromShare: 0.25,
    ...web,
  },
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 587,
    isServer: true,
    hosts: ['198.51.100.20', 12],
    toShare: 0.03,
    fromShare: 0.01,
    toPacket: 1100,
    fromPacket: 90,
  },
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['198.51.100.80', 20],
    toShare: 0.07,
    fromShare: 0.45,
    ...web,
  },
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['2001:db8:c::80', 20],
    toShare: 0.04,
    fromShare: 0.2,
    ...web,
  },
  {
    port: 'frankfurt',
    protocol: tcp,
    service: 873,
    isServer: false,
    hosts: ['198.51.100.60', 6],
    toShare: 0.63,
    fromShare: 0.04,
    ...download,
  },
  // The office behind the cross connect.
  {
    port: 'office',
    protocol: tcp,
    service: 443,
    isServer: false,
    hosts: ['198.51.100.200', 40],
    toShare: 0.62,
    fromShare: 0.14,
    ...download,
  },
  {
    port: 'office',
    protocol: udp,
    service: 443,
    isServer: false,
    hosts: ['198.51.100.200', 40],
    toShare: 0.24,
    fromShare: 0.06,
    ...download,
  },
  {
    port: 'office',
    protocol: udp,
    service: 3478,
    isServer: false,
    hosts: ['198.51.100.200', 40],
    toShare: 0.12,
    fromShare: 0.76,
    toPacket: 900,
    fromPacket: 900,
  },
  {
    port: 'office',
    protocol: tcp,
    service: 22,
    isServer: false,
    hosts: ['198.51.100.200', 10],
    toShare: 0.02,
    fromShare: 0.04,
    ...small,
  },
  // The other customer.
  {
    port: 'other',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['192.0.2.1', 20],
    toShare: 0.5,
    fromShare: 0.8,
    ...web,
  },
  {
    port: 'other',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['2001:db8:b::1', 20],
    toShare: 0.3,
    fromShare: 0.15,
    ...web,
  },
  {
    port: 'other',
    protocol: tcp,
    service: 443,
    isServer: true,
    hosts: ['192.0.2.65', 30],
    toShare: 0.2,
    fromShare: 0.05,
    ...web,
  },
]

/** Networks on the internet: demo/addresses.csv has their AS numbers and countries. The first ones send the most. */
const remoteNetworks = 15

/** The target, kind and rate of an attack, in bits and packets per second. */
export type DemoAttack = {
  readonly target: Words
  readonly classification: string
  readonly bps: number
  readonly pps: number
  /** Unix milliseconds. */
  readonly startMs: number
  readonly endMs: number
}

/** IPv4 and IPv6 addresses as words. */
export function wordsOf(address: string): Words {
  const { family, w0, w1, w2, w3 } = prefixBits(hostPrefix(parseAddress(address)))
  return family === 4 ? [0, 0, 0xffff, w0 >>> 0] : [w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0]
}

const plus = ([w0, w1, w2, w3]: Words, offset: number): Words => [w0, w1, w2, (w3 + offset) >>> 0]
export const isIpv4 = ([w0, w1, w2]: Words): boolean => w0 === 0 && w1 === 0 && w2 === 0xffff

const resolved = applications.map((application) => ({ ...application, first: wordsOf(application.hosts[0]) }))

/** A host of network 0 to `remoteNetworks` - 1: 198.19.16n.0/20 or 2001:db8:e00n::/48. */
function remoteHost(network: number, host: number, ipv4: boolean): Words {
  if (ipv4) return [0, 0, 0xffff, (0xc6130000 + network * 0x1000 + (host & 0xfff)) >>> 0]
  return [0x20010db8, 0xe000_0000 + (network << 16), 0, host & 0xffff]
}

/** The headers and checksum of an Ethernet frame, which interfaces count and flow records do not. */
const frameOctets = 18

/** The octets that an interface counts of a flow. */
export const countedOctets = ({ exporter, bytes, packets }: DemoFlow): number =>
  (bytes + packets * frameOctets) * demoExporters[exporter]!.samplingRate

type PortOctets = { readonly toOctets: number; readonly fromOctets: number }

/** The counters of each port between two times. */
function octetsBetween(fromMs: number, untilMs: number): Readonly<Record<keyof typeof ports, PortOctets>> {
  const found = Object.entries(ports).map(([key, { exporter, name, inBps, outBps }]) => {
    const seed = interfaceSeed(demoExporters[exporter]!.device, name)
    const toOctets = Number(octetsAt(untilMs, outBps, seed + 1) - octetsAt(fromMs, outBps, seed + 1))
    const fromOctets = Number(octetsAt(untilMs, inBps, seed) - octetsAt(fromMs, inBps, seed))
    return [key, { toOctets, fromOctets }]
  })
  return Object.fromEntries(found) as Record<keyof typeof ports, PortOctets>
}

/** Flows between two times, in milliseconds. `perApplication` is the number of flows of an application in each direction. */
export function flowsBetween(fromMs: number, untilMs: number, perApplication: number): DemoFlow[] {
  const random = createRandom(Math.floor(fromMs / 1000))
  const flows: DemoFlow[] = []
  const octetsOf = octetsBetween(fromMs, untilMs)
  for (const application of resolved) {
    const port = ports[application.port]
    const { samplingRate, upstream } = demoExporters[port.exporter]!
    const { toOctets, fromOctets } = octetsOf[application.port]
    for (const isTo of [true, false]) {
      const octets = isTo ? toOctets * application.toShare : fromOctets * application.fromShare
      const size = isTo ? application.toPacket : application.fromPacket
      const volume = (octets / samplingRate) * (size / (size + frameOctets))
      for (const share of sharesOf(perApplication, random)) {
        const bytes = Math.round(volume * share)
        if (bytes < size) continue
        const local = plus(application.first, random.below(application.hosts[1]))
        const network = Math.floor(random.next() ** 2 * remoteNetworks)
        const remote = remoteHost(network, random.below(200), isIpv4(application.first))
        const ephemeral = 32_768 + random.below(28_000)
        const [localPort, remotePort] = application.isServer
          ? [application.service, ephemeral]
          : [ephemeral, application.service]
        flows.push({
          exporter: port.exporter,
          inIf: isTo ? upstream : port.ifIndex,
          outIf: isTo ? port.ifIndex : upstream,
          src: isTo ? remote : local,
          dst: isTo ? local : remote,
          srcPort: isTo ? remotePort : localPort,
          dstPort: isTo ? localPort : remotePort,
          protocol: application.protocol,
          tcpFlags: application.protocol === tcp ? 0x1b : 0,
          fragment: false,
          bytes,
          packets: Math.max(1, Math.round(bytes / size)),
        })
      }
    }
  }
  return flows
}

/** Shares that add up to 1. */
function sharesOf(count: number, random: Random): number[] {
  const weights = Array.from({ length: count }, () => 0.3 + random.next())
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

type AttackShape = {
  readonly protocol: number
  readonly srcPort?: number
  readonly dstPort?: number
  readonly tcpFlags?: number
  readonly fragment?: true
}

const shapes: Readonly<Record<string, AttackShape>> = {
  'udp.amplification.dns': { protocol: udp, srcPort: 53 },
  'udp.amplification.ntp': { protocol: udp, srcPort: 123 },
  'udp.amplification.cldap': { protocol: udp, srcPort: 389 },
  'udp.amplification.memcached': { protocol: udp, srcPort: 11_211 },
  'udp.amplification.ssdp': { protocol: udp, srcPort: 1900 },
  'udp.amplification.chargen': { protocol: udp, srcPort: 19 },
  'udp.amplification.snmp': { protocol: udp, srcPort: 161 },
  'tcp.syn_flood': { protocol: tcp, dstPort: 443, tcpFlags: 0x02 },
  'tcp.ack_flood': { protocol: tcp, dstPort: 443, tcpFlags: 0x10 },
  'tcp.rst_flood': { protocol: tcp, dstPort: 443, tcpFlags: 0x04 },
  'tcp.flood': { protocol: tcp, dstPort: 443, tcpFlags: 0x18 },
  'icmp.flood': { protocol: 1, srcPort: 0, dstPort: 8 * 256 },
  'ip.fragment': { protocol: udp, srcPort: 0, dstPort: 0, fragment: true },
}

/** It rises within seconds from a quarter of its strength, and varies by a twentieth. */
const riseFromMs = 2_000
const riseToMs = 8_000
const risenMs = riseToMs - riseFromMs
const waveMs = 97_000
const waveShare = 0.05

/**
 * The milliseconds of full strength from the start of an attack until `ms`: the integral of its strength, so that any
 * two steps add up.
 */
function strengthUntil(ms: number, phase: number): number {
  const rising = Math.min(ms, risenMs)
  const risen = (rising * (rising / 2 + riseFromMs)) / riseToMs + (ms - rising)
  const pace = (2 * Math.PI) / waveMs
  return risen + (waveShare / pace) * (Math.cos(phase) - Math.cos(pace * ms + phase))
}

const packetSizeOf = ({ bps, pps }: DemoAttack): number =>
  Math.min(1500, Math.max(46, bps / 8 / Math.max(1, pps)))

/** Sampled packets since the start of the attack. */
function sampledUntil({ startMs, endMs, pps, target }: DemoAttack, ms: number, samplingRate: number): number {
  const lasted = Math.max(0, Math.min(ms, endMs) - startMs)
  return Math.floor(((pps / 1000) * strengthUntil(lasted, target[3] % 7)) / samplingRate)
}

/** The octets of attacks that the port of a device counts between two times: the frames of `attackFlows`. */
export function attackOctets(
  attacks: readonly DemoAttack[],
  { device, name }: { readonly device: string; readonly name: string },
  fromMs: number,
  untilMs: number,
): number {
  return attacks.reduce((sum, attack) => {
    if (attack.endMs <= fromMs || attack.startMs >= untilMs) return sum
    const port = portOf(attack.target)
    const exporter = demoExporters[port.exporter]!
    if (exporter.device !== device || port.name !== name) return sum
    const packetsUntil = (ms: number) => sampledUntil(attack, ms, exporter.samplingRate)
    return (
      sum +
      (packetsUntil(untilMs) - packetsUntil(fromMs)) *
        exporter.samplingRate *
        (packetSizeOf(attack) + frameOctets)
    )
  }, 0)
}

/** The flows of an attack between two times. */
export function attackFlows(attack: DemoAttack, fromMs: number, untilMs: number, count: number): DemoFlow[] {
  if (attack.endMs <= fromMs || attack.startMs >= untilMs) return []
  const port = portOf(attack.target)
  const { samplingRate, upstream } = demoExporters[port.exporter]!
  const random = createRandom(Math.floor(fromMs / 1000) ^ attack.target[3])
  const shape = shapes[attack.classification] ?? { protocol: udp }
  const size = packetSizeOf(attack)
  let left = sampledUntil(attack, untilMs, samplingRate) - sampledUntil(attack, fromMs, samplingRate)
  const total = left
  const flows = sharesOf(count, random).map((share, at) => {
    const packets = at === count - 1 ? left : Math.min(left, Math.round(total * share))
    left -= packets
    return {
      exporter: port.exporter,
      inIf: upstream,
      outIf: port.ifIndex,
      src: remoteHost(random.below(remoteNetworks), 256 + random.below(3_000), isIpv4(attack.target)),
      dst: attack.target,
      srcPort: shape.srcPort ?? 1024 + random.below(60_000),
      dstPort: shape.dstPort ?? 1024 + random.below(60_000),
      protocol: shape.protocol === 1 && !isIpv4(attack.target) ? 58 : shape.protocol,
      tcpFlags: shape.tcpFlags ?? 0,
      fragment: shape.fragment ?? false,
      bytes: Math.round(packets * size),
      packets,
    }
  })
  return flows.filter(({ packets }) => packets > 0)
}

/** Whether a flow leaves the provider through the port of the customer. */
export const isTowardsCustomer = ({ exporter, inIf }: DemoFlow): boolean =>
  inIf === demoExporters[exporter]!.upstream

/** The port of the customer. */
export function portOfFlow(flow: DemoFlow): DemoPort {
  const ifIndex = isTowardsCustomer(flow) ? flow.outIf : flow.inIf
  return Object.values(ports).find((port) => port.exporter === flow.exporter && port.ifIndex === ifIndex)!
}

/** The port behind which an address of demo/platform.yaml is. */
function portOf([w0, w1, w2, w3]: Words): DemoPort {
  if (w2 === 0xffff && w0 === 0) {
    if (w3 >>> 8 === 0xc63364) return ports.frankfurt
    return w3 >>> 8 === 0xc00002 || w3 >>> 10 === 0xc6128000 >>> 10 ? ports.other : ports.amsterdam
  }
  if (w1 >>> 16 === 0xc) return ports.frankfurt
  return w1 >>> 16 === 0xb || w1 >>> 28 === 4 ? ports.other : ports.amsterdam
}
