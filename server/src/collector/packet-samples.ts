// The packets of attacks: headers in sFlow samples of packets towards the network of an open event. It runs in the
// receiving thread, so it costs almost no time without an open event, and its memory is bounded.
import { snapLength, writeCapture, type Packet } from '../events/attachment/capture.ts'
import type { FlowColumns } from '../flow/flow-columns.ts'

/** Networks of events whose packets are kept: 9 MB at most, with the packets of each. */
export const watchesMax = 64
export const packetsMax = 1_000

/** `words` and `bits` are the stored network, IPv4 as ::ffff:a.b.c.d. */
export type PacketWatch = {
  readonly eventId: string
  readonly words: readonly [number, number, number, number]
  readonly bits: number
}

/** The last packets of one event; older ones are overwritten. */
type Ring = {
  readonly watch: PacketWatch
  readonly masks: readonly number[]
  /** Of the first packet: a capture has one. Undefined until then, and the buffers are empty. */
  linkType: number | undefined
  octets: Uint8Array
  sizes: Uint8Array
  lengths: Uint32Array
  timesMs: Float64Array
  count: number
}

/** By the header protocol of sFlow: Ethernet, and packets that begin with IPv4 or IPv6. */
const linkTypes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [11, 101],
  [12, 101],
])

export class PacketSamples {
  #rings: readonly Ring[] = []
  #columns: FlowColumns | undefined
  #timeMs = 0

  /** Replaces the networks; packets of remaining networks stay. */
  setWatches(watches: readonly PacketWatch[]): void {
    this.#rings = watches
      .slice(0, watchesMax)
      .map((watch) => this.#rings.find((ring) => isSame(ring.watch, watch)) ?? createRing(watch))
  }

  /** Called before a datagram is decoded, with the columns of its rows. */
  open(columns: FlowColumns, timeMs: number): void {
    this.#columns = columns
    this.#timeMs = timeMs
  }

  /** A HeaderSink: copies the header if the packet is towards a watched network. */
  add(
    octets: Uint8Array,
    offset: number,
    length: number,
    protocol: number,
    frameLength: number,
    row: number,
  ): void {
    if (this.#rings.length === 0 || this.#columns === undefined) return
    const { dst } = this.#columns
    for (const ring of this.#rings) {
      const { masks, watch } = ring
      let isInside = true
      for (let word = 0; word < 4 && isInside; word++)
        isInside = ((dst[row * 4 + word]! ^ watch.words[word]!) & masks[word]!) === 0
      if (isInside)
        write(
          ring,
          octets.subarray(offset, offset + Math.min(length, snapLength)),
          protocol,
          frameLength,
          this.#timeMs,
        )
    }
  }

  /** Returns the packets of an event as pcap, oldest first; undefined without packets. */
  capture(eventId: string): Uint8Array | undefined {
    const ring = this.#rings.find(({ watch }) => watch.eventId === eventId)
    if (ring?.linkType === undefined) return undefined
    const packets: Packet[] = []
    for (let number = Math.max(0, ring.count - packetsMax); number < ring.count; number++) {
      const at = number % packetsMax
      packets.push({
        at: BigInt(Math.floor(ring.timesMs[at]!)) * 1_000_000n,
        length: ring.lengths[at]!,
        bytes: ring.octets.subarray(at * snapLength, at * snapLength + ring.sizes[at]!),
      })
    }
    return writeCapture({ linkType: ring.linkType, packets })
  }
}

const isSame = (a: PacketWatch, b: PacketWatch): boolean =>
  a.eventId === b.eventId && a.bits === b.bits && a.words.every((word, at) => word === b.words[at])

function createRing(watch: PacketWatch): Ring {
  const masks = [0, 1, 2, 3].map((word) => {
    const bits = Math.min(32, Math.max(0, watch.bits - word * 32))
    return bits === 0 ? 0 : (-1 << (32 - bits)) >>> 0
  })
  return {
    watch,
    masks,
    linkType: undefined,
    octets: new Uint8Array(0),
    sizes: new Uint8Array(0),
    lengths: new Uint32Array(0),
    timesMs: new Float64Array(0),
    count: 0,
  }
}

function write(ring: Ring, header: Uint8Array, protocol: number, frameLength: number, timeMs: number): void {
  const linkType = linkTypes.get(protocol)
  if (linkType === undefined || (ring.linkType !== undefined && ring.linkType !== linkType)) return
  if (ring.linkType === undefined) {
    ring.linkType = linkType
    ring.octets = new Uint8Array(packetsMax * snapLength)
    ring.sizes = new Uint8Array(packetsMax)
    ring.lengths = new Uint32Array(packetsMax)
    ring.timesMs = new Float64Array(packetsMax)
  }
  const at = ring.count++ % packetsMax
  ring.octets.set(header, at * snapLength)
  ring.sizes[at] = header.length
  ring.lengths[at] = frameLength
  ring.timesMs[at] = timeMs
}
