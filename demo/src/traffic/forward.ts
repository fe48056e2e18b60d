// The part of the demo's traffic that arrives: without traffic towards and from prefixes that no router announces,
// towards black holes, and dropped by the shield. Pure, except for the hits of scrubbers.
import type { OctetChange } from '../../../server/src/drivers/sandbox-device/live-traffic.ts'
import type { Passing } from '../../../server/src/drivers/sandbox-scrubber/scrubber.ts'
import { formatNetworkBits } from '../../../server/src/collector/detector/scopes.ts'
import type { FlowPacket } from '../../../server/src/net/flow-match.ts'
import { covers, type Prefix } from '../../../server/src/net/prefix.ts'
import {
  countedOctets,
  demoExporters,
  isIpv4,
  isTowardsCustomer,
  portOfFlow,
  type DemoFlow,
  type Words,
} from './model.ts'
import type { DemoRoutes } from './routes.store.ts'

/** Returns the passing part of each flow of `seconds`. */
export type Forward = (flows: readonly Passing[], seconds: number) => readonly number[]

/** Returns the arriving part of the flows, in order. */
export function arriving(
  flows: readonly DemoFlow[],
  { announced, blackholed }: DemoRoutes,
  scrubbers: readonly Forward[],
  seconds: number,
): DemoFlow[] {
  const routed = flows.filter((flow) => {
    const isTo = isTowardsCustomer(flow)
    const local = hostOf(isTo ? flow.dst : flow.src)
    const isIn = (prefixes: readonly Prefix[]) => prefixes.some((prefix) => covers(prefix, local))
    return isIn(announced) && !(isTo && isIn(blackholed))
  })
  return scrubbers.reduce((left, forward) => {
    const inbound = left.filter(isTowardsCustomer)
    const parts = new Map(forward(inbound.map(passingOf), seconds).map((part, at) => [inbound[at]!, part]))
    return left.flatMap((flow) => {
      const part = parts.get(flow) ?? 1
      if (part === 1) return [flow]
      const packets = Math.round(flow.packets * part)
      return packets === 0 ? [] : [{ ...flow, packets, bytes: Math.round(flow.bytes * part) }]
    })
  }, routed)
}

/** Returns the differences between the octets of ports and `usual`, which their counters already contain. */
export function octetChanges(usual: readonly DemoFlow[], sent: readonly DemoFlow[]): OctetChange[] {
  const changes = new Map<string, OctetChange>()
  for (const [flows, sign] of [
    [usual, -1],
    [sent, 1],
  ] as const)
    for (const flow of flows) {
      const { device } = demoExporters[flow.exporter]!
      const { name } = portOfFlow(flow)
      const key = `${device} ${name}`
      const before = changes.get(key) ?? { device, name, octetsIn: 0, octetsOut: 0 }
      const octets = sign * countedOctets(flow)
      // The port sends traffic towards the customer.
      changes.set(
        key,
        isTowardsCustomer(flow)
          ? { ...before, octetsOut: before.octetsOut + octets }
          : { ...before, octetsIn: before.octetsIn + octets },
      )
    }
  return [...changes.values()]
}

const hostOf = (address: Words): Prefix => {
  const [w0, w1, w2, w3] = address
  const bits = isIpv4(address)
    ? ({ family: 4, length: 32, w0: w3 | 0, w1: 0, w2: 0, w3: 0 } as const)
    : ({ family: 6, length: 128, w0: w0 | 0, w1: w1 | 0, w2: w2 | 0, w3: w3 | 0 } as const)
  return formatNetworkBits(bits) as Prefix
}

function passingOf(flow: DemoFlow): Passing {
  const { samplingRate } = demoExporters[flow.exporter]!
  return {
    packet: packetOf(flow),
    packets: flow.packets * samplingRate,
    bytes: flow.bytes * samplingRate,
  }
}

function packetOf({
  src,
  dst,
  protocol,
  srcPort,
  dstPort,
  tcpFlags,
  fragment,
  bytes,
  packets,
}: DemoFlow): FlowPacket {
  const packet = {
    source: hostOf(src),
    destination: hostOf(dst),
    protocol,
    packetLength: Math.round(bytes / packets),
    dscp: 0,
    fragment,
  }
  if (fragment) return packet
  if (protocol === 1 || protocol === 58)
    return { ...packet, icmpType: dstPort >>> 8, icmpCode: dstPort & 0xff }
  const ports = { sourcePort: srcPort, destinationPort: dstPort }
  return protocol === 6 ? { ...packet, ...ports, tcpFlags } : { ...packet, ...ports }
}
