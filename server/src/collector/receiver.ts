// The receiving thread: datagrams are decoded into batches, which go to the batch thread when they are full or a second
// old. It must not do other work: while it is busy, the kernel drops datagrams.
import type { DatagramBatch, DatagramSource } from '../flow/datagram-source.ts'
import type { FlowColumns } from '../flow/flow-columns.ts'
import { rowsMax, type FlowDecoder } from '../flow/flow-decoder.ts'
import type { PacketSamples } from './packet-samples.ts'
import type { EmptiedBatch, FilledBatch, ReceiveCounters } from './messages.ts'

const batchMs = 1_000
const tickMs = 100
const releaseMs = 1_000

/** Rows of a batch: half a million, and room for one more datagram of any size. */
export const batchRows = 500_000 + rowsMax
/** One is filled and one written; the others are for a disk that is slow for seconds. */
export const batchSlots = 5

export type ReceiverDeps = {
  readonly source: DatagramSource
  readonly decoder: FlowDecoder
  /** The sink of the decoder's headers. */
  readonly samples: PacketSamples
  readonly slots: readonly FlowColumns[]
  readonly send: (batch: FilledBatch) => void
  readonly now: () => number
  readonly onError: (error: Error) => void
}

export class FlowReceiver {
  readonly #deps: ReceiverDeps
  readonly #free: number[]
  #slot: number | undefined
  #openedMs = 0
  #withoutBatch = 0
  #releasedMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(deps: ReceiverDeps) {
    this.#deps = deps
    this.#free = deps.slots.map((_, slot) => slot)
  }

  start(): void {
    const { source, onError } = this.#deps
    source.start((batch) => this.#receive(batch), onError)
    this.#timer = setInterval(() => this.#tick(), tickMs)
  }

  /** Sends the open batch, and the end. */
  stop(): void {
    clearInterval(this.#timer)
    this.#deps.source.stop()
    this.#close()
    this.#deps.send({ kind: 'end' })
  }

  /** Sends the open batch before it is a second old. */
  closeBatch(): void {
    this.#close()
  }

  giveBack({ slot }: EmptiedBatch): void {
    this.#deps.slots[slot]!.length = 0
    this.#free.push(slot)
  }

  counters(): ReceiveCounters {
    const { decoder, source } = this.#deps
    return { decoder: decoder.counters, kernelDrops: source.drops(), withoutBatch: this.#withoutBatch }
  }

  #receive({ octets, count, offsets, lengths, senders, ports }: DatagramBatch): void {
    const { decoder, samples, now } = this.#deps
    const timeMs = now()
    for (let at = 0; at < count; at++) {
      const columns = this.#open()
      if (columns === undefined) {
        this.#withoutBatch++
        continue
      }
      const before = columns.length
      samples.open(columns, timeMs)
      decoder.decode(octets, offsets[at]!, lengths[at]!, senders, at * 4, ports[at]!, timeMs, columns)
      if (before === 0 && columns.length > 0) this.#openedMs = timeMs
      if (columns.length + rowsMax > columns.capacity) this.#close()
    }
  }

  /** The batch that is being filled; undefined if every batch is being written. */
  #open(): FlowColumns | undefined {
    this.#slot ??= this.#free.shift()
    return this.#slot === undefined ? undefined : this.#deps.slots[this.#slot]
  }

  #tick(): void {
    const { decoder, samples, now } = this.#deps
    const timeMs = now()
    if (timeMs - this.#releasedMs >= releaseMs) {
      this.#releasedMs = timeMs
      const columns = this.#open()
      if (columns !== undefined) {
        const before = columns.length
        samples.open(columns, timeMs)
        decoder.releaseHeld(timeMs, columns)
        if (before === 0) this.#openedMs = timeMs
      }
    }
    if (timeMs - this.#openedMs >= batchMs) this.#close()
  }

  #close(): void {
    const slot = this.#slot
    if (slot === undefined) return
    const { length } = this.#deps.slots[slot]!
    if (length === 0) return
    this.#slot = undefined
    this.#deps.send({
      kind: 'batch',
      slot,
      length,
      openedMs: this.#openedMs,
      exporters: [...this.#deps.decoder.exporters],
    })
  }
}
