// The collector in the main thread: it starts the receiving thread and the batch thread, gives them what they need of the database, stores
// what they learn, and inserts their files. No flow passes through this thread.
import { randomBytes } from 'node:crypto'
import { MessageChannel, Worker } from 'node:worker_threads'
import { readHoldings } from '../../../inventory/ownership.ts'
import type { Postgres } from '../../../db/postgres.ts'
import type { Log } from '../../../runtime/log.ts'
import type { Metrics } from '../../../runtime/metrics.ts'
import { saveEventPackets, watchOf, type EventPackets } from '../../attachment/save-packets.ts'
import { listOpenEvents } from '../../attachment/save-packets.store.ts'
import type { TargetRates } from '../../detector/remote-rates.ts'
import { reportFiles } from '../../detector/report-file.ts'
import { exchangeRates } from '../../detector/shared-attack.store.ts'
import { storeReports } from '../../detector/store-reports.ts'
import type { ListenAddress } from '../datagram-source.ts'
import { createFlowColumns } from '../flow-columns.ts'
import type { FlowStore } from '../flow-store.ts'
import {
  listExporterPorts,
  listExporterSettings,
  listSamplings,
  listTemplates,
  relinkExporters,
  saveExporters,
  saveUnknownInterfaces,
} from './exporter.store.ts'
import { collectorId } from './collector-id.ts'
import { createBaselineCache, findDetectorSource, readDetectorRules } from './detector-rules.ts'
import { createCounterSamples } from './counter-samples.ts'
import { toHoldingColumns } from './flow-owners.ts'
import { createLearned } from './learned.ts'
import type {
  BatchData,
  FromBatcher,
  FromReceiver,
  ReceiveCounters,
  ReceiveData,
  ToBatcher,
  ToReceiver,
  TemplateKey,
  UnknownInterfaceReport,
  WantedPackets,
} from './messages.ts'
import { watchesMax } from './packet-samples.ts'
import { batchRows, batchSlots } from './receiver.ts'
import { collectorOf, createSpool, insertInto, type Spool } from './spool.ts'

export type FlowCollectorOptions = {
  readonly postgres: Postgres
  readonly store: FlowStore
  readonly log: Log
  readonly metrics: Pick<
    Metrics,
    | 'flowDatagrams'
    | 'flows'
    | 'flowsLost'
    | 'flowSpoolFiles'
    | 'flowSpoolBytes'
    | 'flowDelaySeconds'
    | 'flowsListening'
  >
  readonly addresses: readonly ListenAddress[]
  /** Of batches for the flow store, and of reports of the detector for the database. */
  readonly spoolDir: string
  readonly spoolBytesMax: number
  readonly addressFiles: readonly string[]
  readonly ownAsn: number
  /** Scripts of the threads. */
  readonly threads: { readonly receive: URL; readonly batch: URL }
  /** The detector has rates for other collectors: `exchangeRates` writes them. */
  readonly onTargets?: () => void
  /** Packets of an event are there: `refreshPackets` stores them. */
  readonly onPackets?: () => void
  /** Called for each batch that is in the spool. */
  readonly onBatch?: (batch: { readonly rows: number; readonly flows: number }) => void
  /** Rows of a batch and number of batches; for tests. */
  readonly batches?: { readonly rows: number; readonly slots: number }
}

/** The open batch and those before it are written and inserted; beyond this they wait in the spool for the next start. */
const drainMs = 5_000
const endMs = 5_000
/** Reports that wait for the database; each attack repeats its own every ten seconds. */
const reportBytesMax = 64 * 2 ** 20
/** Events that are open for longer were forgotten by their detector. */
const watchedMs = 86_400_000
/** Packets since the event was noticed, in the first file. */
const startMs = 3 * 60_000
/** Files that wait for the database. */
const packetFilesMax = 2 * watchesMax

export class FlowCollector {
  readonly #options: FlowCollectorOptions
  readonly #spool: Spool
  readonly #learned = createLearned()
  readonly #counterSamples = createCounterSamples()
  /** When the first flow of a file was decoded. */
  readonly #opened = new Map<string, number>()
  readonly #unknownInterfaces = new Map<string, UnknownInterfaceReport>()
  readonly #seenExporters = new Set<string>()
  #threads: Threads | undefined
  #revision: number | undefined
  #counted: ReceiveCounters | undefined
  #problem = ''
  readonly #baselines = createBaselineCache()
  readonly #reports: Spool
  #targets: readonly TargetRates[] = []
  #id: string | undefined
  /** Events whose packets are kept, and whether those of the start were asked for. */
  readonly #watched = new Map<string, { readonly sinceMs: number; hasStart: boolean }>()
  readonly #packets: EventPackets[] = []

  constructor(options: FlowCollectorOptions) {
    this.#options = options
    this.#spool = createSpool({
      dir: options.spoolDir,
      bytesMax: options.spoolBytesMax,
      insert: insertInto(options.store),
      onInserted: ({ name }) => this.#reportDelay(name),
      onLost: (reason, rows, error) => this.#reportLost(reason, rows, error),
      onState: (error) => this.#reportStore(error),
    })
    this.#reports = createSpool({
      dir: options.spoolDir,
      bytesMax: reportBytesMax,
      format: reportFiles,
      insert: (file, name) => this.#storeReports(file, name),
      onLost: (reason, reports, error) => this.#reportLostReports(reason, reports, error),
    })
  }

  /** Where it receives; empty while it does not. */
  get addresses(): readonly ListenAddress[] {
    return this.#threads?.addresses ?? []
  }

  get spool(): Pick<Spool, 'waiting' | 'drained'> {
    return this.#spool
  }

  /** Reports of the detector that wait for the database. */
  get reports(): Pick<Spool, 'waiting' | 'drained'> {
    return this.#reports
  }

  /**
   * Starts to insert and to receive, unless it does. Logs, and returns false, if an address or the directory cannot be used: everything else of
   * the process works. Rejects if the database does not answer.
   */
  async listen(): Promise<boolean> {
    if (this.#threads) return true
    try {
      this.#spool.start()
      this.#reports.start()
    } catch (error) {
      return this.#reportProblem((error as Error).message)
    }
    const { postgres, addresses, log, metrics } = this.#options
    if (addresses.length === 0) return false
    const [templates, samplings] = [await listTemplates(postgres.owner), await listSamplings(postgres.owner)]
    const threads = new Threads(this.#options, {
      onReceiver: (message) => this.#onReceiver(message),
      onBatcher: (message) => this.#onBatcher(message),
      onEnd: (error) => this.#onEnd(threads, error),
    })
    this.#revision = undefined
    this.#counted = undefined
    this.#watched.clear()
    this.#threads = threads
    threads.toReceiver({ kind: 'known', templates, samplings })
    await this.refreshExporters()
    await this.refreshOwnership()
    await this.refreshDetector()
    const problem = await threads.listening
    if (problem === undefined) {
      this.#problem = ''
      metrics.flowsListening.set(1)
      log.info(
        { addresses: threads.addresses, source: threads.source, buffer: threads.receiveBufferBytes },
        'receiving flows',
      )
      return true
    }
    this.#threads = undefined
    await threads.stop()
    return this.#reportProblem(problem)
  }

  /** Once for each problem. */
  #reportProblem(problem: string): false {
    if (problem !== this.#problem)
      this.#options.log.warn({ problem }, 'flows are not received; it is tried again every few seconds')
    this.#problem = problem
    return false
  }

  /** Thresholds of the detector, and the usual traffic of prefixes. */
  async refreshDetector(): Promise<void> {
    const { postgres, store } = this.#options
    const source = await findDetectorSource(postgres.owner)
    const rules =
      source && (await readDetectorRules(postgres.owner, store, source, Date.now() / 1000, this.#baselines))
    this.#threads?.toBatcher({ kind: 'detector', rules })
  }

  /** Writes the rates of this collector, and gives those of the others to the detector. Rejects if the database does not answer. */
  async exchangeRates(): Promise<void> {
    if (!this.#threads) return
    const { postgres, spoolDir } = this.#options
    this.#id ??= collectorId(spoolDir)
    const collectors = await exchangeRates(postgres.owner, this.#id, this.#targets)
    this.#threads?.toBatcher({ kind: 'remote-rates', collectors })
  }

  async #storeReports(file: Uint8Array, name: string): Promise<void> {
    const { postgres, log } = this.#options
    const source = await findDetectorSource(postgres.owner)
    if (source) await storeReports(postgres, source.key, collectorOf(name), file)
    else
      log.warn(
        { reports: reportFiles.rowsIn(file) },
        'reports of the detector dropped: no source has kind flows',
      )
  }

  /**
   * Has packets of sFlow towards the networks of open events kept, and stores them as files: some minutes after the start, and after the end.
   * Rejects if the database does not answer; then they wait.
   */
  async refreshPackets(now: Date): Promise<void> {
    const { owner: db } = this.#options.postgres
    for (let packets = this.#packets[0]; packets !== undefined; packets = this.#packets[0]) {
      await saveEventPackets(db, packets)
      this.#packets.shift()
    }
    if (!this.#threads) return
    const open = await listOpenEvents(db, new Date(now.getTime() - watchedMs), watchesMax)
    const isOpen = new Set(open.map(({ eventId }) => eventId))
    const wanted: WantedPackets[] = [...this.#watched.keys()]
      .filter((eventId) => !isOpen.has(eventId))
      .map((eventId) => ({ eventId, part: 'end' }))
    for (const { eventId } of wanted) this.#watched.delete(eventId)
    for (const { eventId } of open) {
      const state = this.#watched.get(eventId) ?? { sinceMs: now.getTime(), hasStart: false }
      this.#watched.set(eventId, state)
      if (state.hasStart || now.getTime() - state.sinceMs < startMs) continue
      state.hasStart = true
      wanted.push({ eventId, part: 'start' })
    }
    this.#threads.toReceiver({ kind: 'watches', wanted, watches: open.map(watchOf) })
  }

  async refreshOwnership(): Promise<void> {
    const found = await readHoldings(this.#options.postgres.owner, this.#revision)
    if (!found || !this.#threads) return
    this.#revision = found.revision
    this.#threads.toBatcher({ kind: 'holdings', holdings: toHoldingColumns(found.revision, found.holdings) })
  }

  /** Interfaces, ports and settings of exporters, and what was seen of them. */
  async refreshExporters(): Promise<void> {
    const { owner: db } = this.#options.postgres
    const seen = [...this.#seenExporters]
    this.#seenExporters.clear()
    if (seen.length > 0) await saveExporters(db, seen)
    await relinkExporters(db)
    const unknown = [...this.#unknownInterfaces.values()]
    this.#unknownInterfaces.clear()
    if (unknown.length > 0) await saveUnknownInterfaces(db, unknown)
    this.#threads?.toReceiver({ kind: 'exporters', settings: await listExporterSettings(db) })
    this.#threads?.toBatcher({ kind: 'exporters', ports: await listExporterPorts(db) })
  }

  /** Gives counters of interfaces to the inventory. */
  saveCounterSamples(): Promise<void> {
    return this.#counterSamples.save(this.#options.postgres.owner)
  }

  saveLearned(): Promise<void> {
    return this.#learned.save(this.#options.postgres.owner)
  }

  /** Sets the gauges of the spool. */
  reportSpool(): void {
    const { files, bytes } = this.#spool.waiting
    this.#options.metrics.flowSpoolFiles.set(files)
    this.#options.metrics.flowSpoolBytes.set(bytes)
  }

  async stop(): Promise<void> {
    const threads = this.#threads
    this.#threads = undefined
    await threads?.stop()
    this.#options.metrics.flowsListening.set(0)
    await Promise.all([this.#spool.stop(drainMs), this.#reports.stop(drainMs)])
    await this.saveLearned().catch((error: unknown) =>
      this.#options.log.warn(
        { err: error },
        'templates and sampling rates not stored; exporters repeat them',
      ),
    )
  }

  #onReceiver(message: FromReceiver): void {
    if (message.kind === 'template') this.#learned.addTemplate(message.template)
    else if (message.kind === 'withdrawal') this.#learned.removeTemplate(message.key)
    else if (message.kind === 'sampling') this.#learned.addSampling(message.sampling)
    else if (message.kind === 'unknown-template') void this.#findTemplate(message.key)
    else if (message.kind === 'interface-counters') {
      this.#seenExporters.add(message.counters.exporter)
      this.#counterSamples.add(message.counters)
    } else if (message.kind === 'counters') this.#count(message.counters)
    else if (message.kind === 'packets' && this.#packets.length < packetFilesMax) {
      this.#packets.push(message.packets)
      this.#options.onPackets?.()
    }
  }

  #onBatcher(message: FromBatcher): void {
    const { log } = this.#options
    if (message.kind === 'file') {
      this.#opened.set(message.name, message.openedMs)
      for (const address of message.exporters) this.#seenExporters.add(address)
      for (const one of message.unknownInterfaces)
        this.#unknownInterfaces.set(`${one.exporterId} ${one.ifIndex}`, one)
      if (message.refused > 0) this.#reportLost('time', message.refused)
      this.#spool.add({ name: message.name, bytes: message.bytes })
      this.#options.onBatch?.(message)
    } else if (message.kind === 'reports') {
      this.#reports.add({ name: message.name, bytes: message.bytes })
    } else if (message.kind === 'reports-lost') {
      this.#reportLostReports('disk', message.reports, message.message)
    } else if (message.kind === 'targets') {
      this.#targets = message.targets
      this.#options.onTargets?.()
    } else if (message.kind === 'lost') {
      this.#reportLost('disk', message.rows, message.message)
    } else if (message.kind === 'ask-exporters') {
      void this.#createExporters(message.addresses)
    } else if (message.kind === 'address-files') {
      const { error, asns, countries, asNames } = message
      if (error === undefined) {
        this.#learned.setAsNames(asNames)
        log.info({ asns, countries, names: asNames.size }, 'AS numbers and countries of addresses read')
      } else
        log.warn({ error }, 'AS numbers and countries of addresses not read; the former ones stay in use')
    }
  }

  async #createExporters(addresses: readonly string[]): Promise<void> {
    const { owner: db } = this.#options.postgres
    try {
      await saveExporters(db, addresses)
      this.#threads?.toBatcher({ kind: 'exporters', ports: await listExporterPorts(db) })
    } catch (error) {
      this.#options.log.warn(
        { addresses, err: error },
        'exporters not stored; their flows are stored without them',
      )
    }
  }

  async #findTemplate(key: TemplateKey): Promise<void> {
    try {
      const templates = await listTemplates(this.#options.postgres.owner, [key])
      if (templates.length > 0) this.#threads?.toReceiver({ kind: 'known', templates, samplings: [] })
    } catch (error) {
      this.#options.log.warn({ template: key, err: error }, 'template not found; the exporter repeats it')
    }
  }

  /** The threads are started again by the next `listen`. */
  #onEnd(threads: Threads, error: unknown): void {
    if (this.#threads !== threads) return
    this.#threads = undefined
    this.#options.metrics.flowsListening.set(0)
    this.#options.log.error({ err: error }, 'the threads that receive flows ended; they are started again')
    void threads.stop()
  }

  /** Counters are totals of a thread. */
  #count(counters: ReceiveCounters): void {
    const { metrics } = this.#options
    const { decoder, kernelDrops = 0, withoutBatch } = counters
    const before = this.#counted
    this.#counted = counters
    const add = (reason: string, total: number, earlier = 0) => {
      if (total > earlier) metrics.flowsLost.inc({ reason }, total - earlier)
    }
    for (const protocol of ['netflow5', 'netflow9', 'ipfix', 'sflow'] as const)
      metrics.flowDatagrams.inc(
        { protocol },
        decoder.datagrams[protocol] - (before?.decoder.datagrams[protocol] ?? 0),
      )
    metrics.flows.inc(decoder.flows - (before?.decoder.flows ?? 0))
    add('kernel_buffer', kernelDrops, before?.kernelDrops)
    add('no_batch', withoutBatch, before?.withoutBatch)
    add('malformed', decoder.malformedDatagrams, before?.decoder.malformedDatagrams)
    add('over_limit', decoder.overLimit, before?.decoder.overLimit)
    add('truncated', decoder.truncated, before?.decoder.truncated)
    add(
      'unknown_template',
      decoder.expiredSets + decoder.overflowedSets,
      before && before.decoder.expiredSets + before.decoder.overflowedSets,
    )
  }

  #reportDelay(name: string): void {
    const opened = this.#opened.get(name)
    this.#opened.delete(name)
    if (opened !== undefined) this.#options.metrics.flowDelaySeconds.observe((Date.now() - opened) / 1000)
  }

  #reportLost(reason: 'time' | 'disk' | 'spool_full' | 'refused', rows: number, error?: unknown): void {
    this.#options.metrics.flowsLost.inc({ reason }, rows)
    this.#options.log.error({ reason, rows, err: error }, 'flows lost')
  }

  #reportLostReports(reason: 'disk' | 'spool_full' | 'refused', reports: number, error?: unknown): void {
    this.#options.log.error({ reason, reports, err: error }, 'reports of the detector lost')
  }

  #reportStore(error: unknown): void {
    const { log } = this.#options
    if (error === undefined) log.info('flows are inserted again')
    else log.warn({ reason: (error as Error).message }, 'flows cannot be inserted; they wait in the spool')
  }
}

type ThreadEvents = {
  readonly onReceiver: (message: FromReceiver) => void
  readonly onBatcher: (message: FromBatcher) => void
  /** One of them ended by itself. */
  readonly onEnd: (error: unknown) => void
}

/** The receiving thread and the batch thread: they live and end together. */
class Threads {
  /** Undefined once it receives, else why it cannot. */
  readonly listening: Promise<string | undefined>
  addresses: readonly ListenAddress[] = []
  source = ''
  receiveBufferBytes = 0
  readonly #receiver: Worker
  readonly #batcher: Worker
  readonly #ended = Promise.withResolvers<void>()
  #isStopping = false

  constructor(options: FlowCollectorOptions, events: ThreadEvents) {
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
