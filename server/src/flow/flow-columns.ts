// A batch of decoded flows as columns. No memory is allocated per flow, and every column is on a SharedArrayBuffer, so
// that a batch passes between threads without a copy.

export type FlowColumns = {
  readonly capacity: number
  length: number
  /** Unix seconds of receipt: the clocks of exporters are not trusted. */
  readonly time: Uint32Array
  /** Index of the exporter in `exporters` of the decoder. */
  readonly exporter: Uint32Array
  /** ifIndex; 0 if not known. */
  readonly inIf: Uint32Array
  readonly outIf: Uint32Array
  /** Four words a row, the most significant first; an IPv4 address is mapped, ::ffff:a.b.c.d. */
  readonly src: Uint32Array
  readonly dst: Uint32Array
  readonly srcPort: Uint16Array
  /** For ICMP type * 256 + code, as in NetFlow v5. */
  readonly dstPort: Uint16Array
  readonly protocol: Uint8Array
  readonly tcpFlags: Uint8Array
  readonly dscp: Uint8Array
  /** 1 for a fragment, the first one included. */
  readonly fragment: Uint8Array
  /** 0 if not known. */
  readonly srcAs: Uint32Array
  readonly dstAs: Uint32Array
  /** Counters as exported, not multiplied by the sampling rate: low and high 32 bits. */
  readonly bytesLo: Uint32Array
  readonly bytesHi: Uint32Array
  readonly packetsLo: Uint32Array
  readonly packetsHi: Uint32Array
  /** 1 in so many packets is sampled; 0 if unknown. */
  readonly samplingRate: Uint32Array
  /** From the first to the last packet, in milliseconds; 0 if unknown. */
  readonly durationMs: Uint32Array
}

/** Creates an empty batch for `capacity` rows: 88 bytes a row. */
export function createFlowColumns(capacity: number): FlowColumns {
  const words = (perRow = 1) => new Uint32Array(new SharedArrayBuffer(capacity * perRow * 4))
  const halves = () => new Uint16Array(new SharedArrayBuffer(capacity * 2))
  const octets = () => new Uint8Array(new SharedArrayBuffer(capacity))
  return {
    capacity,
    length: 0,
    time: words(),
    exporter: words(),
    inIf: words(),
    outIf: words(),
    src: words(4),
    dst: words(4),
    srcPort: halves(),
    dstPort: halves(),
    protocol: octets(),
    tcpFlags: octets(),
    dscp: octets(),
    fragment: octets(),
    srcAs: words(),
    dstAs: words(),
    bytesLo: words(),
    bytesHi: words(),
    packetsLo: words(),
    packetsHi: words(),
    samplingRate: words(),
    durationMs: words(),
  }
}

/** A column of a block that is inserted into the flow store, as `NativeColumn` of drivers/clickhouse/native-block.ts. */
export type BlockColumn =
  | { readonly name: string; readonly type: 'UInt8' | `Enum8(${string})`; readonly values: Uint8Array }
  | { readonly name: string; readonly type: 'UInt16'; readonly values: Uint16Array }
  | { readonly name: string; readonly type: 'UInt32' | `DateTime(${string})`; readonly values: Uint32Array }
  | { readonly name: string; readonly type: 'UInt64'; readonly low: Uint32Array; readonly high: Uint32Array }
  | { readonly name: string; readonly type: 'IPv6'; readonly words: Uint32Array }
  | { readonly name: string; readonly type: 'FixedString(2)'; readonly bytes: Uint8Array }
