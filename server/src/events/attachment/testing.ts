// Packets and captures for tests. Not imported by the product.
import { parseAddress } from '../../net/address.ts'
import { firstOf, hostPrefix } from '../../net/prefix.ts'
import type { Capture } from './capture.ts'

/** An IPv4 header with 40 bytes behind it. */
export function ipv4Packet(source: string, destination: string): Buffer {
  const packet = Buffer.alloc(60)
  packet[0] = 0x45
  packet.writeUInt16BE(60, 2)
  packet[8] = 64
  packet[9] = 17
  packet.set(source.split('.').map(Number), 12)
  packet.set(destination.split('.').map(Number), 16)
  return packet
}

/** An IPv6 header with 20 bytes behind it. */
export function ipv6Packet(source: string, destination: string): Buffer {
  const packet = Buffer.alloc(60)
  packet[0] = 0x60
  packet.writeUInt16BE(20, 4)
  packet[6] = 17
  packet[7] = 64
  for (const [at, text] of [[8, source] as const, [24, destination] as const]) {
    const hex = firstOf(hostPrefix(parseAddress(text)))
      .toString(16)
      .padStart(32, '0')
    packet.set(Buffer.from(hex, 'hex'), at)
  }
  return packet
}

/** An Ethernet frame with the packet, with a VLAN tag for each number. */
export function ethernet(packet: Buffer, vlans: readonly number[] = []): Buffer {
  const type = packet[0]! >> 4 === 4 ? 0x0800 : 0x86dd
  const tags = vlans.map((vlan) => {
    const tag = Buffer.alloc(4)
    tag.writeUInt16BE(0x8100, 0)
    tag.writeUInt16BE(vlan, 2)
    return tag
  })
  const end = Buffer.alloc(2)
  end.writeUInt16BE(type, 0)
  return Buffer.concat([Buffer.alloc(12), ...tags, end, packet])
}

/** The capture as a pcapng file, with the times in units of 10 to the minus `resolution` seconds. */
export function pcapngOf(
  { linkType, packets }: Capture,
  { isLittle, resolution }: { readonly isLittle: boolean; readonly resolution: number },
): Buffer {
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    if (isLittle) bytes.writeUInt32LE(value >>> 0)
    else bytes.writeUInt32BE(value >>> 0)
    return bytes
  }
  const u16 = (value: number) => (isLittle ? u32(value).subarray(0, 2) : u32(value).subarray(2))
  const block = (type: number, body: Buffer) => {
    const padded = Buffer.concat([body, Buffer.alloc((4 - (body.length % 4)) % 4)])
    const length = u32(padded.length + 12)
    return Buffer.concat([u32(type), length, padded, length])
  }
  const unit = 10n ** BigInt(9 - resolution)
  const options = Buffer.concat([u16(9), u16(1), Buffer.from([resolution, 0, 0, 0]), u32(0)])
  return Buffer.concat([
    block(0x0a0d0d0a, Buffer.concat([u32(0x1a2b3c4d), u16(1), u16(0), u32(0xffffffff), u32(0xffffffff)])),
    block(1, Buffer.concat([u16(linkType), u16(0), u32(0), options])),
    ...packets.map(({ at, length, bytes }) => {
      const units = at / unit
      const [high, low] = [Number(units >> 32n), Number(units & 0xffffffffn)]
      return block(
        6,
        Buffer.concat([u32(0), u32(high), u32(low), u32(bytes.length), u32(length), Buffer.from(bytes)]),
      )
    }),
  ])
}
