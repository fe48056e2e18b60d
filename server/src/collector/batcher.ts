// The batch thread: a batch of decoded flows becomes rows of teams, one block and one file of the spool. It waits for the ownership before
// the first batch: traffic must not lose its team because a process has just started.
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import type { BlockColumn, FlowColumns } from '../flow/flow-columns.ts'
import { dispatch, type Handlers } from '../runtime/handlers.ts'
import { toBlockColumns } from './flow-block.ts'
import type { Detection } from './detector/detection.ts'
import { Detector } from './detector/detector.ts'
import { encodeReports, reportFiles } from './detector/report-file.ts'
import { createFlowOwners, type FlowOwners } from './flow-owners.ts'
import { createRowAssigner, type ExporterPorts } from './flow-rows.ts'
import type { FilledBatch, FromBatcher, LongFlow, ToBatcher, UnknownInterfaceReport } from './messages.ts'
import { noAddressTables, readAddressTables, versionOfFiles, type AddressTables } from './range-file.ts'
import { splitMs } from './split-flows.ts'
import { spoolName, temporaryName } from './spool.ts'

export type BatcherDeps = {
  readonly slots: readonly FlowColumns[]
  readonly spoolDir: string
  readonly collector: string
  readonly ownAsn: number
  readonly addressFiles: readonly string[]
  /** Size of the detector's table: a power of 2. */
  readonly detectorRows: number
  readonly encode: (rows: number, columns: readonly BlockColumn[]) => Uint8Array
  readonly send: (message: FromBatcher) => void
  readonly giveBack: (slot: number) => void
  /** Requests the batch that is being filled. */
  readonly closeBatch: () => void
  /** Unix seconds. */
  readonly now: () => number
}

/** Rows may wait in the receiving thread for a moment, and the clocks of both threads may differ by a second. */
const pastSeconds = 3600
const futureSeconds = 60
/** If the database does not answer, flows are stored without an exporter. */
const exporterWaitMs = 3_000
const filesCheckedMs = 60_000
/** Interval of exchanged rates with other collectors, and the limit of destinations. */
const targetsSeconds = 2
const targetsMax = 1_000
const noInterfaces: ExporterPorts = { id: 0, hasDevice: false, interfaces: new Map() }

export class FlowBatcher {
  readonly #deps: BatcherDeps
  readonly #assign = createRowAssigner()
  readonly #loaded = Promise.withResolvers<void>()
  #owners: FlowOwners | undefined
  #tables: AddressTables = noAddressTables
  #tablesVersion = ''
  #tablesChecked = -Infinity
  #ports: ReadonlyMap<string, ExporterPorts> = new Map()
  #portsChanged = Promise.withResolvers<void>()
  #exporters: readonly string[] = []
  #number = 0
  #reports = 0
  #targetsSecond = 0
  #hasTargets = false
  /** Its tables take 84 MB: only with thresholds. */
  #detector: Detector | undefined
  #overflows = 0
  readonly #ongoing = new Set<string>()
  #queue: Promise<void> = Promise.resolve()

  readonly #onMessage: Handlers<ToBatcher> = {
    holdings: ({ holdings }) => {
      this.#owners = createFlowOwners(holdings)
      this.#loaded.resolve()
    },
    exporters: ({ ports }) => {
      this.#ports = ports
      this.#portsChanged.resolve()
      this.#portsChanged = Promise.withResolvers()
    },
    detector: ({ rules }) => {
      if (rules === undefined) this.#detector = undefined
      else (this.#detector ??= new Detector(this.#deps.detectorRows)).setRules(rules)
    },
    'remote-rates': ({ collectors }) => this.#detector?.setRemote(collectors),
  }

  constructor(deps: BatcherDeps) {
    this.#deps = deps
  }

  take(message: ToBatcher): void {
    dispatch(this.#onMessage, message)
  }

  /** Batches are written one after the other, in order of arrival. */
  add(batch: FilledBatch): void {
    this.#queue = this.#queue.then(() => this.#write(batch))
  }

  /** Reports attacks; called every second. */
  detect(): void {
    if (!this.#owners || !this.#detector) return
    const second = Math.floor(this.#deps.now())
    const detections = this.#detector.advance(second, this.#owners)
    if (detections.length > 0) this.#storeReports(detections)
    if (this.#begins(detections)) this.#deps.closeBatch()
    this.#reportOverflows(this.#detector.overflows)
    if (Math.abs(second - this.#targetsSecond) < targetsSeconds) return
    this.#targetsSecond = second
    const targets = this.#detector.targets(targetsMax)
    if (targets.length > 0 || this.#hasTargets) this.#deps.send({ kind: 'targets', targets })
    this.#hasTargets = targets.length > 0
  }

  /** Returns whether an attack is reported for the first time; the batch is then stored without delay. */
  #begins(detections: readonly Detection[]): boolean {
    const known = this.#ongoing.size
    for (const { id, status } of detections) if (status === 'ongoing') this.#ongoing.add(id)
    const begins = this.#ongoing.size > known
    for (const { id, status } of detections) if (status === 'ended') this.#ongoing.delete(id)
    return begins
  }

  #reportOverflows(total: number): void {
    if (total > this.#overflows)
      this.#deps.send({ kind: 'detector-overflows', count: total - this.#overflows })
    this.#overflows = total
  }

  /** In a file, since the database may be down. */
  #storeReports(detections: readonly Detection[]): void {
    const { spoolDir, collector, send } = this.#deps
    const name = spoolName(collector, ++this.#reports, reportFiles)
    const file = encodeReports(detections)
    try {
      writeFile(join(spoolDir, name), file)
      send({ kind: 'reports', name, bytes: file.length })
    } catch (error) {
      send({ kind: 'reports-lost', reports: detections.length, message: (error as Error).message })
    }
  }

  async #write(batch: FilledBatch): Promise<void> {
    const { slots, send, giveBack } = this.#deps
    if (batch.kind === 'end') return send({ kind: 'ended' })
    this.#exporters = batch.exporters
    const columns = slots[batch.slot]!
    columns.length = batch.length
    try {
      await this.#loaded.promise
      await this.#refreshTables()
      await this.#awaitExporters(columns)
      this.#store(columns, batch.openedMs)
    } catch (error) {
      send({ kind: 'lost', rows: batch.length, message: (error as Error).message })
    } finally {
      giveBack(batch.slot)
    }
  }

  #store(columns: FlowColumns, openedMs: number): void {
    const { spoolDir, collector, ownAsn, encode, send, now } = this.#deps
    const owners = this.#owners!
    const unknownInterfaces: UnknownInterfaceReport[] = []
    const time = now()
    const context = {
      owners,
      tables: this.#tables,
      ownAsn,
      exporters: this.#exporters.map((address) => this.#ports.get(address) ?? noInterfaces),
      timeMin: time - pastSeconds,
      timeMax: time + futureSeconds,
    }
    const rows = this.#assign(columns, context, ({ id, hasDevice }, ifIndex) => {
      if (hasDevice) unknownInterfaces.push({ exporterId: id, ifIndex })
    })
    this.#detector?.add(columns, owners)
    if (rows.length === 0) return
    const name = spoolName(collector, ++this.#number)
    const block = encode(rows.length, toBlockColumns(columns, rows, context))
    writeFile(join(spoolDir, name), block)
    send({
      kind: 'file',
      name,
      bytes: block.length,
      flows: columns.length,
      rows: rows.length,
      refused: rows.refused,
      unsplit: rows.unsplit,
      longFlows: longFlowsOf(columns, this.#exporters),
      openedMs,
      exporters: usedExporters(columns, this.#exporters),
      unknownInterfaces,
    })
  }

  /** Exporters that have no id yet are reported, and waited for. */
  async #awaitExporters(columns: FlowColumns): Promise<void> {
    const missing = () =>
      usedExporters(columns, this.#exporters).filter((address) => !this.#ports.has(address))
    const addresses = missing()
    if (addresses.length === 0) return
    this.#deps.send({ kind: 'ask-exporters', addresses })
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), exporterWaitMs)
    const aborted = once(late.signal, 'abort')
    while (!late.signal.aborted && missing().length > 0)
      await Promise.race([this.#portsChanged.promise, aborted])
    clearTimeout(timer)
  }

  /** Owners may replace files at any time. If a file cannot be parsed, the former tables stay in use. */
  async #refreshTables(): Promise<void> {
    const { addressFiles, send } = this.#deps
    if (addressFiles.length === 0 || performance.now() - this.#tablesChecked < filesCheckedMs) return
    this.#tablesChecked = performance.now()
    const version = await versionOfFiles(addressFiles)
    if (version === this.#tablesVersion) return
    this.#tablesVersion = version
    try {
      this.#tables = await readAddressTables(addressFiles)
      const { asns, countries, asNames } = this.#tables
      send({ kind: 'address-files', error: undefined, asns: asns.size, countries: countries.size, asNames })
    } catch (error) {
      const message = (error as Error).message
      send({ kind: 'address-files', error: message, asns: 0, countries: 0, asNames: new Map() })
    }
  }
}

/** Complete under its name, or not there. */
function writeFile(path: string, block: Uint8Array): void {
  const temporary = temporaryName(path)
  try {
    const file = openSync(temporary, 'w', 0o600)
    try {
      for (let at = 0; at < block.length;) at += writeSync(file, block, at)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** The longest flow of each exporter that has long ones. */
function longFlowsOf(
  { length, exporter, durationMs }: FlowColumns,
  addresses: readonly string[],
): LongFlow[] {
  const longest = new Map<number, number>()
  for (let row = 0; row < length; row++) {
    const ms = durationMs[row]!
    if (ms >= splitMs && ms > (longest.get(exporter[row]!) ?? 0)) longest.set(exporter[row]!, ms)
  }
  return Array.from(longest, ([index, ms]) => ({
    exporter: addresses[index]!,
    seconds: Math.floor(ms / 1000),
  }))
}

function usedExporters({ length, exporter }: FlowColumns, addresses: readonly string[]): string[] {
  const used = new Set<number>()
  let last = -1
  for (let row = 0; row < length; row++) {
    if (exporter[row] === last) continue
    last = exporter[row]!
    used.add(last)
  }
  return [...used].map((index) => addresses[index]!)
}
