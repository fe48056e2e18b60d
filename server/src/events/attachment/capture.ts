// Packet captures: reads pcap and pcapng, and writes pcap with short packets. Pure. Lengths in a file are untrusted:
// each is checked against the remaining bytes, and the result is never larger than the file. Sources:
// draft-ietf-opsawg-pcap (pcap), draft-ietf-opsawg-pcapng (pcapng).

/** Stored bytes of each packet: headers, and little of the users' content. The same as in samples of sFlow. */
export const snapLength = 128
const packetsMax = 500_000
const interfacesMax = 256

export type Packet = {
  /** Nanoseconds since 1970. */
  readonly at: bigint
  /** Length on the wire. */
  readonly length: number
  readonly bytes: Uint8Array
}

export type Capture = {
  /** Number of the registry of link types: 1 is Ethernet. */
  readonly linkType: number
  readonly packets: readonly Packet[]
}

/** The file is no capture, or a truncated or inconsistent one. */
export class CaptureError extends Error {}

/**
 * Reads a capture. Of a pcapng file with interfaces of several link types, only the packets of the first packet's link
 * type are returned, because pcap has one. A truncated last packet, as in a file that is still being written, is
 * skipped. Throws CaptureError.
 */
export function readCapture(file: Uint8Array): Capture {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (file.length < 24) throw new CaptureError('The file is too short for a capture.')
  return view.getUint32(0) === blockSection ? readPcapng(file, view) : readPcap(file, view)
}

/** Returns whether the first bytes identify a capture. */
export function isCapture(file: Uint8Array): boolean {
  if (file.length < 4) return false
  const magic = new DataView(file.buffer, file.byteOffset, 4).getUint32(0)
  return magic === blockSection || magics.has(magic)
}

/** Byte order and nanoseconds of a fraction's unit, by magic number. */
const magics: ReadonlyMap<number, readonly [isLittle: boolean, unit: bigint]> = new Map([
  [0xa1b2c3d4, [false, 1_000n]],
  [0xd4c3b2a1, [true, 1_000n]],
  [0xa1b23c4d, [false, 1n]],
  [0x4d3cb2a1, [true, 1n]],
])

function readPcap(file: Uint8Array, view: DataView): Capture {
  const format = magics.get(view.getUint32(0))
  if (!format) throw new CaptureError('The file is neither pcap nor pcapng.')
  const [isLittle, unit] = format
  // The upper bits are set if packets end with a checksum.
  const linkType = view.getUint32(20, isLittle) & 0x0fff_ffff
  const packets: Packet[] = []
  for (let at = 24; at + 16 <= file.length && packets.length < packetsMax;) {
    const included = view.getUint32(at + 8, isLittle)
    if (included > file.length - at - 16) break
    const seconds = BigInt(view.getUint32(at, isLittle)) * 1_000_000_000n
    packets.push({
      at: seconds + BigInt(view.getUint32(at + 4, isLittle)) * unit,
      length: view.getUint32(at + 12, isLittle),
      bytes: file.subarray(at + 16, at + 16 + included),
    })
    at += 16 + included
  }
  return { linkType, packets }
}

const blockSection = 0x0a0d0d0a
const blockInterface = 1
const blockSimple = 3
const blockEnhanced = 6

type Interface = { readonly linkType: number; readonly unitsPerSecond: bigint; readonly snap: number }

function readPcapng(file: Uint8Array, view: DataView): Capture {
  const packets: Packet[] = []
  let isLittle = false
  let interfaces: Interface[] = []
  let linkType: number | undefined
  for (let at = 0; at + 12 <= file.length && packets.length < packetsMax;) {
    const isSection = view.getUint32(at) === blockSection
    if (isSection) {
      const order = view.getUint32(at + 8)
      if (order !== 0x1a2b3c4d && order !== 0x4d3c2b1a)
        throw new CaptureError('The byte order of the capture is unknown.')
      isLittle = order === 0x4d3c2b1a
      interfaces = []
    }
    const length = view.getUint32(at + 4, isLittle)
    if (length < 12 || length % 4 !== 0)
      throw new CaptureError('A block of the capture has an invalid length.')
    if (length > file.length - at) break
    const block = { file, view, isLittle, at, end: at + length - 4 }
    if (!isSection) {
      const type = view.getUint32(at, isLittle)
      if (type === blockInterface) {
        if (interfaces.length >= interfacesMax) throw new CaptureError('The capture has too many interfaces.')
        interfaces.push(readInterface(block))
      }
      const read = type === blockEnhanced ? readEnhanced(block, interfaces) : undefined
      const found = type === blockSimple ? readSimple(block, interfaces) : read
      if (found && (linkType === undefined || linkType === found.linkType)) {
        linkType = found.linkType
        packets.push(found.packet)
      }
    }
    at += length
  }
  return { linkType: linkType ?? interfaces[0]?.linkType ?? 1, packets }
}

/** A block from its type to before its second length. */
type Block = {
  readonly file: Uint8Array
  readonly view: DataView
  readonly isLittle: boolean
  readonly at: number
  readonly end: number
}

function readInterface({ view, isLittle, at, end }: Block): Interface {
  if (end - at < 16) throw new CaptureError('An interface of the capture is too short.')
  let unitsPerSecond = 1_000_000n
  for (let option = at + 16; option + 4 <= end;) {
    const [code, length] = [view.getUint16(option, isLittle), view.getUint16(option + 2, isLittle)]
    if (code === 0 || option + 4 + length > end) break
    // if_tsresol: a power of 10, or of 2 with the upper bit.
    if (code === 9 && length === 1) {
      const value = view.getUint8(option + 4)
      const exponent = value & 0x7f
      if (exponent > 63) throw new CaptureError('The resolution of the times of the capture is invalid.')
      unitsPerSecond = (value & 0x80 ? 2n : 10n) ** BigInt(exponent)
    }
    option += 4 + length + ((4 - (length % 4)) % 4)
  }
  return {
    linkType: view.getUint16(at + 8, isLittle),
    unitsPerSecond,
    snap: view.getUint32(at + 12, isLittle),
  }
}

type FoundPacket = { readonly linkType: number; readonly packet: Packet }

function readEnhanced(
  { file, view, isLittle, at, end }: Block,
  interfaces: readonly Interface[],
): FoundPacket | undefined {
  if (end - at < 28) throw new CaptureError('A packet of the capture is too short.')
  const known = interfaces[view.getUint32(at + 8, isLittle)]
  if (!known) throw new CaptureError('A packet of the capture is of an unknown interface.')
  const units = (BigInt(view.getUint32(at + 12, isLittle)) << 32n) | BigInt(view.getUint32(at + 16, isLittle))
  const included = view.getUint32(at + 20, isLittle)
  if (included > end - at - 28) throw new CaptureError('A packet of the capture is longer than its block.')
  return {
    linkType: known.linkType,
    packet: {
      at: (units * 1_000_000_000n) / known.unitsPerSecond,
      length: view.getUint32(at + 24, isLittle),
      bytes: file.subarray(at + 28, at + 28 + included),
    },
  }
}

/** Packets without times, of the first interface. */
function readSimple(
  { file, view, isLittle, at, end }: Block,
  interfaces: readonly Interface[],
): FoundPacket | undefined {
  const [first] = interfaces
  if (!first || end - at < 12) throw new CaptureError('A packet of the capture is of an unknown interface.')
  const length = view.getUint32(at + 8, isLittle)
  const included = Math.min(length, first.snap || length, end - at - 12)
  return {
    linkType: first.linkType,
    packet: { at: 0n, length, bytes: file.subarray(at + 12, at + 12 + included) },
  }
}

/** Writes pcap, big endian, with times in nanoseconds and at most `snapLength` bytes of each packet. */
export function writeCapture({ linkType, packets }: Capture): Buffer {
  const sizes = packets.map(({ bytes }) => Math.min(bytes.length, snapLength))
  const file = Buffer.alloc(24 + sizes.reduce((sum, size) => sum + 16 + size, 0))
  file.writeUInt32BE(0xa1b23c4d, 0)
  file.writeUInt16BE(2, 4)
  file.writeUInt16BE(4, 6)
  file.writeUInt32BE(snapLength, 16)
  file.writeUInt32BE(linkType >>> 0, 20)
  let at = 24
  for (const [index, { at: time, length, bytes }] of packets.entries()) {
    const size = sizes[index]!
    const seconds = time / 1_000_000_000n
    // The format ends in 2106; times beyond are not of this century.
    file.writeUInt32BE(Number(seconds & 0xffff_ffffn), at)
    file.writeUInt32BE(Number(time % 1_000_000_000n), at + 4)
    file.writeUInt32BE(size, at + 8)
    file.writeUInt32BE(Math.max(length >>> 0, size), at + 12)
    file.set(bytes.subarray(0, size), at + 16)
    at += 16 + size
  }
  return file
}
