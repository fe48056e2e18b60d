// The messages between the threads of the collector. A batch passes as the number of its slot: its columns are shared memory.
import type { MessagePort } from 'node:worker_threads'
import type { EventPackets, EventPart } from '../events/attachment/save-packets.ts'
import type { ListenAddress } from '../flow/datagram-source.ts'
import type { FlowColumns } from '../flow/flow-columns.ts'
import type {
  DecoderCounters,
  ExporterSetting,
  ExporterFinding,
  InterfaceCounters,
  KnownExporter,
  SamplingRecord,
  TemplateRecord,
} from '../flow/flow-decoder.ts'
import type { DetectorRules } from './detector/limits.ts'
import type { CollectorRates, TargetRates } from './detector/remote-rates.ts'
import type { HoldingColumns } from './flow-owners.ts'
import type { ExporterPorts } from './flow-rows.ts'
import type { PacketWatch } from './packet-samples.ts'

export type TemplateKey = Omit<TemplateRecord, 'scopes' | 'fields'>

/** The `workerData` of the receiving thread. */
export type ReceiveData = {
  readonly addresses: readonly ListenAddress[]
  readonly slots: readonly FlowColumns[]
  /** Port to the batch thread. */
  readonly batches: MessagePort
}

export type ToReceiver =
  | {
      readonly kind: 'known'
      readonly templates: readonly TemplateRecord[]
      readonly samplings: readonly SamplingRecord[]
    }
  | { readonly kind: 'exporters'; readonly settings: readonly ExporterSetting[] }
  /** By address. */
  | { readonly kind: 'known-exporters'; readonly exporters: ReadonlyMap<string, KnownExporter> }
  /** Sends the packets of these events, then captures only packets of the watched networks. */
  | {
      readonly kind: 'watches'
      readonly wanted: readonly WantedPackets[]
      readonly watches: readonly PacketWatch[]
    }
  | { readonly kind: 'stop' }

export type WantedPackets = { readonly eventId: string; readonly part: EventPart }

export type ReceiveCounters = {
  readonly decoder: DecoderCounters
  /** Datagrams that the kernel dropped; undefined if it has no counter. */
  readonly kernelDrops: number | undefined
  /** Datagrams that were not decoded because every batch was being written. */
  readonly withoutBatch: number
}

export type FromReceiver =
  | {
      readonly kind: 'listening'
      readonly source: string
      readonly addresses: readonly ListenAddress[]
      readonly receiveBufferBytes: number
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'template'; readonly template: TemplateRecord }
  | { readonly kind: 'withdrawal'; readonly key: TemplateKey }
  | { readonly kind: 'sampling'; readonly sampling: SamplingRecord }
  | { readonly kind: 'outdated-sampling'; readonly sampling: SamplingRecord }
  | { readonly kind: 'unknown-template'; readonly key: TemplateKey }
  | { readonly kind: 'interface-counters'; readonly counters: InterfaceCounters }
  | { readonly kind: 'counters'; readonly counters: ReceiveCounters }
  /** Only if there are any. */
  | { readonly kind: 'findings'; readonly findings: readonly ExporterFinding[] }
  /** Only if there are any. */
  | { readonly kind: 'packets'; readonly packets: EventPackets }

/** Reports about the flows, not about the thread. */
export type ReceiverReport = Exclude<FromReceiver, { readonly kind: 'listening' | 'failed' }>

/** From the receiving thread to the batch thread. */
export type FilledBatch =
  | {
      readonly kind: 'batch'
      readonly slot: number
      readonly length: number
      /** Unix milliseconds at which its first flow was decoded. */
      readonly openedMs: number
      /** Addresses by index. */
      readonly exporters: readonly string[]
    }
  | { readonly kind: 'end' }

/** The slot is free again. */
export type EmptiedBatch = { readonly slot: number }

/** From the batch thread to the receiving thread. `close`: the open batch is wanted. */
export type ToFilling = EmptiedBatch | 'close'

/** The `workerData` of the batch thread. */
export type BatchData = {
  readonly slots: readonly FlowColumns[]
  /** Port to the receiving thread. */
  readonly batches: MessagePort
  readonly spoolDir: string
  /** In the names of files: unique for each run. */
  readonly collector: string
  readonly ownAsn: number
  readonly addressFiles: readonly string[]
  /** Size of the detector's table: a power of 2. */
  readonly detectorRows: number
}

export type ToBatcher =
  | { readonly kind: 'holdings'; readonly holdings: HoldingColumns }
  /** By address, for exporters with an id. */
  | { readonly kind: 'exporters'; readonly ports: ReadonlyMap<string, ExporterPorts> }
  /** Thresholds of the detector; undefined: the detector is off. */
  | { readonly kind: 'detector'; readonly rules: DetectorRules | undefined }
  /** Rates of other collectors. */
  | { readonly kind: 'remote-rates'; readonly collectors: readonly CollectorRates[] }

export type FromBatcher =
  | {
      readonly kind: 'file'
      readonly name: string
      readonly bytes: number
      readonly flows: number
      readonly rows: number
      /** Flows outside of the accepted time. */
      readonly refused: number
      /** Long flows that are one row, since there were too many. */
      readonly unsplit: number
      readonly longFlows: readonly LongFlow[]
      readonly openedMs: number
      /** Addresses of exporters in it. */
      readonly exporters: readonly string[]
      readonly unknownInterfaces: readonly UnknownInterfaceReport[]
    }
  /** Rows that could not be written to the spool. */
  | { readonly kind: 'lost'; readonly rows: number; readonly message: string }
  /** These exporters have no id yet. */
  | { readonly kind: 'ask-exporters'; readonly addresses: readonly string[] }
  | {
      readonly kind: 'address-files'
      readonly error: string | undefined
      readonly asns: number
      readonly countries: number
      readonly asNames: ReadonlyMap<number, string>
    }
  /** A file of reports of the detector is in the spool. */
  | { readonly kind: 'reports'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'reports-lost'; readonly reports: number; readonly message: string }
  /** Rates of this collector towards destinations that may be attacked. */
  | { readonly kind: 'targets'; readonly targets: readonly TargetRates[] }
  /** Flows that found no row in the table of the detector, and targets that left it because it was full. */
  | { readonly kind: 'detector-overflows'; readonly count: number }
  | { readonly kind: 'ended' }

/** Reports about the flows, not about the thread. */
export type BatcherReport = Exclude<FromBatcher, { readonly kind: 'ended' }>

/** The longest flow of an exporter in a batch; only long ones. */
export type LongFlow = { readonly exporter: string; readonly seconds: number }

export type UnknownInterfaceReport = { readonly exporterId: number; readonly ifIndex: number }
