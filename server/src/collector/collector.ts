// The collector in the main thread: it starts the receiving thread and the batch thread, sends them the data of the
// database, stores their reports, and inserts their files. No flow passes through this thread.
import { readHoldings } from '../inventory/holding/ownership.ts'
import type { Postgres } from '../db/postgres.ts'
import { reportRefused, writeRows, type RefusedRow } from '../db/write-rows.ts'
import { dispatch, type Handlers } from '../runtime/handlers.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { TargetRates } from './detector/remote-rates.ts'
import { reportFiles } from './detector/report-file.ts'
import { exchangeRates } from './detector/shared-attack.store.ts'
import { storeReports } from './detector/store-reports.ts'
import type { ListenAddress } from '../flow/datagram-source.ts'
import { saveFlowDelay } from '../flow/flow-delay.ts'
import type { ExporterFinding } from '../flow/flow-decoder.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import {
  listExporterPorts,
  listExporterSettings,
  listKnownExporters,
  listSamplings,
  listFlowTemplates,
  relinkExporters,
  saveExporters,
  saveFindings,
  saveLongFlows,
  saveUnknownInterfaces,
} from './exporter.store.ts'
import { collectorId } from './collector-id.ts'
import { CollectorThreads, type CollectorThreadOptions } from './collector-threads.ts'
import {
  createBaselineCache,
  findDetectorSource,
  readDetectorRules,
  type BaselineCache,
} from './detector-rules.ts'
import { createCounterSamples } from './counter-samples.ts'
import { createEventPackets } from './event-packets.ts'
import { toHoldingColumns } from './flow-owners.ts'
import { createExporterState } from './exporter-state.ts'
import { createNearHosts } from './near-hosts.ts'
import type {
  BatcherReport,
  LongFlow,
  ReceiverReport,
  TemplateKey,
  UnknownInterfaceReport,
} from './messages.ts'
import { createReceiveMetrics, type ReceiveMetrics } from './receive-metrics.ts'
import { createTemplateRequests } from './template-requests.ts'
import { collectorOf, createSpool, insertInto, type Spool, type SpoolFile } from './spool.ts'

export type FlowCollectorOptions = CollectorThreadOptions & {
  readonly postgres: Postgres
  readonly store: FlowStore
  readonly log: Log
  readonly metrics: Pick<
    Metrics,
    | 'flowDatagrams'
    | 'flows'
    | 'flowsLost'
    | 'flowRatesAmbiguous'
    | 'flowsUnsplit'
    | 'flowSpoolFiles'
    | 'flowSpoolBytes'
    | 'flowDelaySeconds'
    | 'flowsListening'
    | 'detectorOverflows'
  >
  readonly spoolBytesMax: number
  /** The detector has rates for other collectors: `exchangeRates` writes them. */
  readonly onTargets?: () => void
  /** Packets of an event are there: `refreshPackets` stores them. */
  readonly onPackets?: () => void
  /** Called for each batch that is in the spool. */
  readonly onBatch?: (batch: { readonly rows: number; readonly flows: number }) => void
}

/**
 * Time for writing and inserting the open batch and earlier ones; afterwards they wait in the spool for the next start.
 */
const drainMs = 5_000
/** Minutes with losses that wait for the database. */
const lostMinutesMax = 10_000
/** Reports that wait for the database; each attack repeats its own every ten seconds. */
const reportBytesMax = 64 * 2 ** 20

export class FlowCollector {
  readonly #options: FlowCollectorOptions
  readonly #spool: Spool
  readonly #learned = createExporterState()
  readonly #counterSamples = createCounterSamples()
  /** Minutes of which flows were lost, Unix seconds, that the database does not know yet. */
  #lost: number[] = []
  readonly #unknownInterfaces = new Map<string, UnknownInterfaceReport>()
  readonly #seenExporters = new Set<string>()
  /** By exporter, for the database. */
  readonly #findings = new Map<string, ExporterFinding>()
  readonly #longFlows = new Map<string, LongFlow>()
  readonly #requestTemplate = createTemplateRequests((keys) => this.#findTemplates(keys))
  #threads: CollectorThreads | undefined
  #revision: number | undefined
  readonly #received: ReceiveMetrics
  #problem = ''
  #dgramReported = false
  #baselines: BaselineCache | undefined
  readonly #reports: Spool
  #targets: readonly TargetRates[] = []
  readonly #nearHosts = createNearHosts()
  #id: string | undefined
  readonly #packets = createEventPackets()

  constructor(options: FlowCollectorOptions) {
    this.#options = options
    this.#received = createReceiveMetrics(options.metrics)
    this.#spool = createSpool({
      dir: options.spoolDir,
      bytesMax: options.spoolBytesMax,
      insert: insertInto(options.store),
      onInserted: (file) => this.#reportDelay(file),
      onLost: (reason, rows, { openedMs }, error) => this.#reportLost(reason, rows, error, openedMs),
      onState: (error) => this.#reportStore(error),
    })
    this.#reports = createSpool({
      dir: options.spoolDir,
      bytesMax: reportBytesMax,
      format: reportFiles,
      insert: (file, name) => this.#storeReports(file, name),
      onLost: (reason, reports, _file, error) => this.#reportLostReports(reason, reports, error),
    })
  }

  /** The listen addresses; empty while stopped. */
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
    const settings = await listExporterSettings(postgres.owner)
    const known = await listKnownExporters(postgres.owner)
    const [templates, samplings] = [
      await listFlowTemplates(postgres.owner),
      await listSamplings(postgres.owner),
    ]
    const threads = new CollectorThreads(this.#options, {
      onReceiver: (message) => dispatch(this.#onReceiver, message),
      onBatcher: (message) => dispatch(this.#onBatcher, message),
      onEnd: (error) => this.#onEnd(threads, error),
    })
    this.#revision = undefined
    this.#received.restart()
    this.#packets.forget()
    // The rates of an earlier thread would stay on the other collectors forever.
    this.#targets = []
    this.#threads = threads
    // Exporters of the platform file first, so that their known state always fits.
    threads.toReceiver({ kind: 'exporters', settings })
    threads.toReceiver({ kind: 'known-exporters', exporters: known })
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
      if (threads.source === 'dgram') this.#reportDgram()
      return true
    }
    this.#threads = undefined
    await threads.stop()
    return this.#reportProblem(problem)
  }

  /** Once: threads that ended are started again. */
  #reportDgram(): void {
    if (this.#dgramReported) return
    this.#dgramReported = true
    this.#options.log.info(
      { node: process.version },
      'flows are received one datagram at a time: recvmmsg needs Linux and node:ffi of Node.js 26',
    )
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
    const { postgres, store, spoolDir } = this.#options
    const baselines = (this.#baselines ??= createBaselineCache(spoolDir))
    const source = await findDetectorSource(postgres.owner)
    const rules =
      source &&
      (await readDetectorRules(
        postgres.owner,
        store,
        source,
        Date.now() / 1000,
        baselines,
        this.#nearHosts.list(),
      ))
    this.#threads?.toBatcher({ kind: 'detector', rules })
  }

  /**
   * Writes the rates of this collector, and passes the rates of the others to the detector. Rejects if the database
   * does not answer.
   */
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
   * Selects the networks whose packets are captured, and stores captured packets. Rejects if the database does not
   * answer; the packets stay queued.
   */
  async refreshPackets(now: Date): Promise<void> {
    const { owner: db } = this.#options.postgres
    await this.#packets.save(db)
    if (!this.#threads) return
    const watches = await this.#packets.watch(db, now)
    this.#threads?.toReceiver({ kind: 'watches', ...watches })
  }

  async refreshOwnership(): Promise<void> {
    const found = await readHoldings(this.#options.postgres.owner, this.#revision)
    if (!found || !this.#threads) return
    this.#revision = found.revision
    this.#threads.toBatcher({ kind: 'holdings', holdings: toHoldingColumns(found.revision, found.holdings) })
  }

  /** Saves the observed exporters, and sends interfaces, ports and settings of exporters to the threads. */
  async refreshExporters(): Promise<void> {
    const { owner: db } = this.#options.postgres
    const seen = [...this.#seenExporters]
    this.#seenExporters.clear()
    const refused: RefusedRow<unknown>[] = await writeRows(db, seen, (some) => saveExporters(db, some))
    await relinkExporters(db)
    const findings = [...this.#findings.values()]
    this.#findings.clear()
    refused.push(...(await writeRows(db, findings, (some) => saveFindings(db, some))))
    const longFlows = [...this.#longFlows.values()]
    this.#longFlows.clear()
    refused.push(...(await writeRows(db, longFlows, (some) => saveLongFlows(db, some))))
    const unknown = [...this.#unknownInterfaces.values()]
    this.#unknownInterfaces.clear()
    refused.push(...(await writeRows(db, unknown, (some) => saveUnknownInterfaces(db, some))))
    this.#threads?.toReceiver({ kind: 'exporters', settings: await listExporterSettings(db) })
    this.#threads?.toReceiver({ kind: 'known-exporters', exporters: await listKnownExporters(db) })
    this.#threads?.toBatcher({ kind: 'exporters', ports: await listExporterPorts(db) })
    reportRefused('exporters and numbers of interfaces', refused)
  }

  /** Gives counters of interfaces to the inventory. */
  saveCounterSamples(): Promise<void> {
    return this.#counterSamples.save(this.#options.postgres.owner)
  }

  saveLearned(): Promise<void> {
    return this.#learned.save(this.#options.postgres.owner)
  }

  /** Saves the delay and the losses of the store, for every process. Rejects if the database does not answer. */
  async saveDelay(): Promise<void> {
    const { postgres, spoolDir } = this.#options
    if (!this.#threads && this.#spool.waiting.files === 0 && this.#lost.length === 0) return
    this.#id ??= collectorId(spoolDir)
    const { sinceMs } = this.#spool.waiting
    const lost = this.#lost
    this.#lost = []
    try {
      await saveFlowDelay(postgres.owner, this.#id, { waitingMs: sinceMs, lost })
    } catch (error) {
      this.#lost = [...lost, ...this.#lost]
      throw error
    }
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

  readonly #onReceiver: Handlers<ReceiverReport> = {
    template: ({ template }) => this.#learned.addTemplate(template),
    withdrawal: ({ key }) => this.#learned.removeTemplate(key),
    sampling: ({ sampling }) => this.#learned.addSampling(sampling),
    'outdated-sampling': ({ sampling }) => this.#learned.removeSampling(sampling),
    'unknown-template': ({ key }) => this.#requestTemplate(key),
    'interface-counters': ({ counters }) => {
      this.#seenExporters.add(counters.exporter)
      this.#counterSamples.add(counters)
    },
    counters: ({ counters }) => this.#received.count(counters),
    findings: ({ findings }) => this.#addFindings(findings),
    packets: ({ packets }) => {
      if (this.#packets.add(packets)) this.#options.onPackets?.()
    },
  }

  readonly #onBatcher: Handlers<BatcherReport> = {
    file: (file) => this.#addFile(file),
    reports: ({ name, bytes }) => this.#reports.add({ name, bytes }),
    'reports-lost': ({ reports, message }) => this.#reportLostReports('disk', reports, message),
    targets: ({ targets }) => {
      this.#targets = targets
      this.#nearHosts.add(targets)
      this.#options.onTargets?.()
    },
    'detector-overflows': ({ count }) => this.#options.metrics.detectorOverflows.inc(count),
    lost: ({ rows, message }) => this.#reportLost('disk', rows, message),
    'ask-exporters': ({ addresses }) => void this.#createExporters(addresses),
    'address-files': (read) => this.#noteAddressFiles(read),
  }

  #addFile(file: Extract<BatcherReport, { kind: 'file' }>): void {
    for (const address of file.exporters) this.#seenExporters.add(address)
    for (const one of file.unknownInterfaces)
      this.#unknownInterfaces.set(`${one.exporterId} ${one.ifIndex}`, one)
    for (const one of file.longFlows) this.#longFlows.set(one.exporter, one)
    if (file.unsplit > 0) this.#options.metrics.flowsUnsplit.inc(file.unsplit)
    if (file.refused > 0) this.#reportLost('time', file.refused)
    this.#spool.add({ name: file.name, bytes: file.bytes, openedMs: file.openedMs })
    this.#options.onBatch?.(file)
  }

  #noteAddressFiles({
    error,
    asns,
    countries,
    asNames,
  }: Extract<BatcherReport, { kind: 'address-files' }>): void {
    const { log } = this.#options
    if (error !== undefined)
      return log.warn(
        { error },
        'AS numbers and countries of addresses not read; the former ones stay in use',
      )
    this.#learned.setAsNames(asNames)
    log.info({ asns, countries, names: asNames.size }, 'AS numbers and countries of addresses read')
  }

  #addFindings(findings: readonly ExporterFinding[]): void {
    for (const { exporter, implausible, ambiguousRates, isByPort } of findings) {
      const known = this.#findings.get(exporter)
      this.#seenExporters.add(exporter)
      this.#findings.set(exporter, {
        exporter,
        implausible: implausible ?? known?.implausible,
        ambiguousRates: ambiguousRates ?? known?.ambiguousRates,
        isByPort: isByPort || known?.isByPort === true,
      })
    }
  }

  async #createExporters(addresses: readonly string[]): Promise<void> {
    const { owner: db } = this.#options.postgres
    try {
      const refused = await writeRows(db, addresses, (some) => saveExporters(db, some))
      this.#threads?.toBatcher({ kind: 'exporters', ports: await listExporterPorts(db) })
      reportRefused('exporters', refused)
    } catch (error) {
      this.#options.log.warn(
        { addresses, err: error },
        'exporters not stored; their flows are stored without them',
      )
    }
  }

  async #findTemplates(keys: readonly TemplateKey[]): Promise<void> {
    try {
      const templates = await listFlowTemplates(this.#options.postgres.owner, keys)
      if (templates.length > 0) this.#threads?.toReceiver({ kind: 'known', templates, samplings: [] })
    } catch (error) {
      const { length } = keys
      this.#options.log.warn({ templates: length, err: error }, 'templates not found; exporters repeat them')
    }
  }

  /** The threads are started again by the next `listen`. */
  #onEnd(threads: CollectorThreads, error: unknown): void {
    if (this.#threads !== threads) return
    this.#threads = undefined
    this.#options.metrics.flowsListening.set(0)
    this.#options.log.error({ err: error }, 'the threads that receive flows ended; they are started again')
    void threads.stop()
  }

  #reportDelay({ openedMs }: SpoolFile): void {
    if (openedMs !== undefined) this.#options.metrics.flowDelaySeconds.observe((Date.now() - openedMs) / 1000)
  }

  /** Rows that were refused for their time are outside of all requested windows. */
  #reportLost(
    reason: 'time' | 'disk' | 'spool_full' | 'refused',
    rows: number,
    error?: unknown,
    openedMs = Date.now(),
  ): void {
    if (reason !== 'time' && this.#lost.length < lostMinutesMax)
      this.#lost.push(Math.floor(openedMs / 60_000) * 60)
    this.#options.metrics.flowsLost.inc({ reason }, rows)
    this.#options.log.error({ reason, rows, err: error }, 'flows lost')
  }

  #reportLostReports(reason: 'disk' | 'spool_full' | 'refused', reports: number, error?: unknown): void {
    this.#options.log.error({ reason, reports, err: error }, 'reports of the detector lost')
  }

  #reportStore(error: unknown): void {
    const { log } = this.#options
    if (error === undefined) log.info('inserts of flows recovered')
    else log.warn({ reason: (error as Error).message }, 'flows cannot be inserted; they wait in the spool')
  }
}
