// The receiving thread and the batch thread: they live and end together.
import { randomBytes } from 'node:crypto'
import { MessageChannel, Worker } from 'node:worker_threads'
import { detectorRows } from './detector/detector.ts'
import type { ListenAddress } from '../flow/datagram-source.ts'
import { createFlowColumns } from '../flow/flow-columns.ts'
import type {
  BatchData,
  BatcherReport,
  FromBatcher,
  FromReceiver,
  ReceiveData,
  ReceiverReport,
  ToBatcher,
  ToReceiver,
} from './messages.ts'
import { batchRows, batchSlots } from './receiver.ts'

export type CollectorThreadOptions = {
  readonly addresses: readonly ListenAddress[]
  /** Directory of batches for the flow store, and of reports of the detector for the database. */
  readonly spoolDir: string
  readonly addressFiles: readonly string[]
  readonly ownAsn: number
  /** Size of the detector's table: a power of 2. */
  readonly detectorRows?: number
  /** Scripts of the threads. */
  readonly threads: { readonly receive: URL; readonly batch: URL }
  /** Rows of a batch and number of batches; for tests. */
  readonly batches?: { readonly rows: number; readonly slots: number }
}

const endMs = 5_000

export type ThreadEvents = {
  readonly onReceiver: (message: ReceiverReport) => void
  readonly onBatcher: (message: BatcherReport) => void
  /** A thread ended by itself. */
  readonly onEnd: (error: unknown) => void
}

export class CollectorThreads {
  /** Undefined once it receives, else why it cannot. */
  readonly listening: Promise<string | undefined>
  addresses: readonly ListenAddress[] = []
  source = ''
  receiveBufferBytes = 0
  readonly #receiver: Worker
  readonly #batcher: Worker
  readonly #ended = Promise.withResolvers<void>()
  #isStopping = false

  constructor(options: CollectorThreadOptions, events: ThreadEvents) {
    const { rows, slots: count } = options.batches ?? { rows: batchRows, slots: batchSlots }
    const slots = Array.from({ length: count }, () => createFlowColumns(rows))
    const { port1, port2 } = new MessageChannel()
    const receiveData: ReceiveData = { addresses: options.addresses, slots, batches: port1 }
    const batchData: BatchData = {
      slots,
      batches: port2,
      spoolDir: options.spoolDir,
      collector: randomBytes(6).toString('hex'),
      ownAsn: options.ownAsn,
      addressFiles: options.addressFiles,
      detectorRows: options.detectorRows ?? detectorRows,
    }
    const listening = Promise.withResolvers<string | undefined>()
    this.listening = listening.promise
    this.#batcher = new Worker(options.threads.batch, {
      workerData: batchData,
      transferList: [port2],
      env: {},
    })
    this.#receiver = new Worker(options.threads.receive, {
      workerData: receiveData,
      transferList: [port1],
      env: {},
      // node:ffi, whose use is decided (decision 078).
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    this.#receiver.on('message', (message: FromReceiver) => {
      if (message.kind === 'listening') {
        this.addresses = message.addresses
        this.source = message.source
        this.receiveBufferBytes = message.receiveBufferBytes
        listening.resolve(undefined)
      } else if (message.kind === 'failed') listening.resolve(message.message)
      else events.onReceiver(message)
    })
    this.#batcher.on('message', (message: FromBatcher) => {
      if (message.kind === 'ended') this.#ended.resolve()
      else events.onBatcher(message)
    })
    for (const worker of [this.#receiver, this.#batcher]) {
      worker.on('error', (error) => this.#fail(error, listening.resolve, events))
      worker.on('exit', () => this.#fail(new Error('a thread has ended'), listening.resolve, events))
    }
  }

  toReceiver(message: ToReceiver): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
    this.#receiver.postMessage(message)
  }

  toBatcher(message: ToBatcher): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
    this.#batcher.postMessage(message)
  }

  /** The receiver closes its sockets and sends the open batch; the batcher writes it. */
  async stop(): Promise<void> {
    if (!this.#isStopping) this.toReceiver({ kind: 'stop' })
    this.#isStopping = true
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, endMs)
    await Promise.race([this.#ended.promise, late.promise])
    clearTimeout(timer)
    await Promise.all([this.#receiver.terminate(), this.#batcher.terminate()])
  }

  #fail(error: unknown, listening: (problem: string) => void, events: ThreadEvents): void {
    if (this.#isStopping) return this.#ended.resolve()
    this.#isStopping = true
    this.#ended.resolve()
    listening((error as Error).message)
    events.onEnd(error)
  }
}
