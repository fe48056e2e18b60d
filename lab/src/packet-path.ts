// Three network namespaces in a row: sender, host with nftables, receiver. Packets really pass; they are made octet by octet and sent
// through raw sockets. It needs root.
import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { FlowPacket } from '../../server/src/net/flow-match.ts'
import { networkOf, prefixBits, type Prefix } from '../../server/src/net/prefix.ts'

const run = promisify(execFile)
/** The header of a frame. */
const ethernetOctets = 14

export type PacketPath = {
  /** The namespace of the host in the middle; packets enter it at `in1`. */
  readonly host: string
  /** The command line that runs nft on the host in the middle. */
  readonly nft: readonly string[]
  /** Sends each packet `count` times, and resolves when all are sent. */
  send(packets: readonly FlowPacket[], count?: number): Promise<void>
  /** Sends a packet at a rate until it is stopped; resolves with the number of sent packets and the seconds. */
  flood(packet: FlowPacket, packetsPerSecond: number): { stop(): Promise<{ sent: number; seconds: number }> }
  /** Packets, and octets of IP, that the host has received from the sender so far, by the counters of the interface. */
  entered(): Promise<{ packets: number; octets: number }>
  /** The number of packets that arrived at the receiver so far. */
  received(): Promise<number>
  stop(): Promise<void>
}

/** Packets to these prefixes are forwarded. The namespaces are named `key-sender`, `key-host` and `key-receiver`. */
export async function createPacketPath(
  prefixes: readonly Prefix[],
  key = `ps${randomInt(100_000, 1_000_000)}`,
): Promise<PacketPath> {
  const [sender, host, receiver] = [`${key}-sender`, `${key}-host`, `${key}-receiver`]
  const ip = async (...args: string[]) => void (await run('ip', args))
  const inside = async (name: string, ...args: string[]) =>
    (await run('ip', ['netns', 'exec', name, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout
  const stop = async (): Promise<void> => {
    for (const name of [sender, host, receiver]) await ip('netns', 'delete', name).catch(() => {})
  }
  try {
    await stop() // rest of a killed process
    for (const name of [sender, host, receiver]) await ip('netns', 'add', name)
    await ip('link', 'add', 'in0', 'netns', sender, 'type', 'veth', 'peer', 'name', 'in1', 'netns', host)
    await ip('link', 'add', 'out0', 'netns', host, 'type', 'veth', 'peer', 'name', 'out1', 'netns', receiver)
    const links = [
      [sender, 'in0', '10.99.1.1/24', 'fd99:1::1/64'],
      [host, 'in1', '10.99.1.2/24', 'fd99:1::2/64'],
      [host, 'out0', '10.99.2.1/24', 'fd99:2::1/64'],
      [receiver, 'out1', '10.99.2.2/24', 'fd99:2::2/64'],
    ] as const
    for (const [name, device, address4, address6] of links) {
      await ip('-n', name, 'address', 'add', address4, 'dev', device)
      await ip('-n', name, 'address', 'add', address6, 'dev', device, 'nodad')
      await ip('-n', name, 'link', 'set', device, 'up')
    }
    // Not by sysctl(8), which a small Debian lacks.
    for (const setting of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding'])
      await inside(host, 'sh', '-c', `echo 1 > /proc/sys/net/${setting}`)
    for (const prefix of prefixes) {
      const isV6 = prefix.includes(':')
      const family = isV6 ? '-6' : '-4'
      await ip('-n', sender, family, 'route', 'add', prefix, 'via', isV6 ? 'fd99:1::2' : '10.99.1.2')
      await ip('-n', host, family, 'route', 'add', prefix, 'via', isV6 ? 'fd99:2::2' : '10.99.2.2')
    }
    // Neighbors are known from the beginning, so that the first packets are not lost.
    await neighbor(sender, 'in0', host, 'in1', ['10.99.1.2', 'fd99:1::2'])
    await neighbor(host, 'out0', receiver, 'out1', ['10.99.2.2', 'fd99:2::2'])
    const own = (isV6: boolean) => prefixes.filter((prefix) => prefix.includes(':') === isV6).join(', ')
    const counted = `add table inet seen; add counter inet seen arrived;
      add chain inet seen prerouting { type filter hook prerouting priority -500; };
      add rule inet seen prerouting ip daddr { ${own(false)} } counter name arrived;
      add rule inet seen prerouting ip6 daddr { ${own(true)} } counter name arrived`
    await inside(receiver, 'nft', counted)
  } catch (error) {
    await stop()
    throw error
  }

  async function neighbor(from: string, device: string, to: string, peer: string, addresses: string[]) {
    const [link] = JSON.parse((await run('ip', ['-n', to, '-j', 'link', 'show', peer])).stdout) as [
      { address: string },
    ]
    for (const address of addresses)
      await ip(
        '-n',
        from,
        'neighbor',
        'replace',
        address,
        'lladdr',
        link.address,
        'dev',
        device,
        'nud',
        'permanent',
      )
  }

  const start = () => {
    const script = new URL('packet-sender.ts', import.meta.url).pathname
    const args = ['netns', 'exec', sender, process.execPath, '--no-warnings', script]
    // Ctrl-C reaches the lab alone, which ends it by its input.
    const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return {
      write: (line: string) => void child.stdin.write(`${line}\n`),
      end: () => void child.stdin.end(),
      async next(): Promise<string> {
        const { value, done } = await lines.next()
        if (done) throw new Error('the sender has ended')
        return value
      },
    }
  }
  // One process sends the packets of all calls: its start takes longer than they do.
  let single: ReturnType<typeof start> | undefined
  return {
    host,
    nft: ['ip', 'netns', 'exec', host, 'nft'],
    async send(packets, count = 1) {
      single ??= start()
      for (const packet of packets) single.write(`${count} 0 ${lineOf(packet)}`)
      for (const _ of packets) await single.next()
    },
    flood(packet, packetsPerSecond) {
      const flooding = start()
      flooding.write(`0 ${packetsPerSecond} ${lineOf(packet)}`)
      return {
        async stop() {
          flooding.end()
          return JSON.parse(await flooding.next()) as { sent: number; seconds: number }
        },
      }
    },
    async entered() {
      const [link] = JSON.parse(
        (await run('ip', ['-n', host, '-s', '-j', 'link', 'show', 'in1'])).stdout,
      ) as [{ stats64: { rx: { packets: number; bytes: number } } }]
      const { packets, bytes } = link.stats64.rx
      return { packets, octets: bytes - packets * ethernetOctets }
    },
    async received() {
      const answer = JSON.parse(
        await inside(receiver, 'nft', '-j', 'list', 'counter', 'inet', 'seen', 'arrived'),
      ) as {
        nftables: { counter?: { packets: number } }[]
      }
      return answer.nftables.find(({ counter }) => counter)!.counter!.packets
    },
    async stop() {
      single?.end()
      await stop()
    },
  }
}

function lineOf(packet: FlowPacket): string {
  return `${networkOf(packet.destination)} ${Buffer.from(octetsOf(packet)).toString('hex')}`
}

/** A later fragment has no header of the transport protocol. */
function octetsOf(packet: FlowPacket): number[] {
  const isV6 = packet.destination.includes(':')
  const isLater = packet.fragment && packet.sourcePort === undefined
  const extension = isV6 && packet.fragment ? 8 : 0
  const transport = isLater ? [] : transportOctets(packet)
  const head = isV6 ? 40 : 20
  const payload = Math.max(0, packet.packetLength - head - extension - transport.length)
  if (packet.protocol === 17 && transport.length > 0) transport.splice(4, 2, ...word16(8 + payload))
  const body = [...transport, ...Array.from({ length: payload }, () => 0)]
  // Offset 64 in units of 8 octets; the first fragment announces more.
  const offset = packet.fragment ? (isLater ? 64 : 0) : 0
  if (isV6) {
    const fragment =
      extension > 0 ? [packet.protocol, 0, ...word16((offset << 3) | (isLater ? 0 : 1)), 0, 0, 0, 7] : []
    const next = extension > 0 ? 44 : packet.protocol
    const first = [0x60 | (packet.dscp >>> 2), (packet.dscp & 3) << 6, 0, 0]
    const addresses = [...addressOctets(packet.source), ...addressOctets(packet.destination)]
    return [...first, ...word16(body.length + extension), next, 64, ...addresses, ...fragment, ...body]
  }
  const flags = packet.fragment ? (isLater ? offset : 0x2000) : 0
  const header = [
    0x45,
    packet.dscp << 2,
    ...word16(20 + body.length),
    0,
    7,
    ...word16(flags),
    64,
    packet.protocol,
    0,
    0,
    ...addressOctets(packet.source),
    ...addressOctets(packet.destination),
  ]
  return [...header, ...body]
}

function transportOctets({
  protocol,
  sourcePort,
  destinationPort,
  tcpFlags,
  icmpType,
  icmpCode,
}: FlowPacket): number[] {
  const ports = [...word16(sourcePort ?? 0), ...word16(destinationPort ?? 0)]
  if (protocol === 17) return [...ports, 0, 8, 0, 0]
  if (protocol === 6) return [...ports, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, tcpFlags ?? 0, 16, 0, 0, 0, 0, 0]
  if (icmpType !== undefined) return [icmpType, icmpCode ?? 0, 0, 0, 0, 1, 0, 1]
  return [0, 0, 0, 0]
}

function addressOctets(prefix: Prefix): number[] {
  const { family, w0, w1, w2, w3 } = prefixBits(prefix)
  return (family === 4 ? [w0] : [w0, w1, w2, w3]).flatMap((word) => [
    ...word16(word >>> 16),
    ...word16(word & 0xffff),
  ])
}

function word16(value: number): [number, number] {
  return [(value >>> 8) & 255, value & 255]
}
