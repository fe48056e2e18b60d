// The port to the decoder of flow datagrams: NetFlow v5, v9, IPFIX and sFlow v5 into FlowColumns. Templates and
// sampling rates of exporters leave and enter it as plain values, so that it outlives the process and another collector can go on.
import type { FlowColumns } from './flow-columns.ts'

/** A template as the exporter sent it. Its key is (exporter, port, version, domain, id). */
export type TemplateRecord = {
  readonly exporter: string
  /** Source port, only if several exporters are behind the address: others change it when they restart. */
  readonly port?: number
  readonly version: 9 | 10
  /** Source id of NetFlow v9, observation domain of IPFIX. */
  readonly domain: number
  readonly id: number
  /** The number of scope fields of an options template; 0 for a template of flows. */
  readonly scopes: number
  /** Enterprise number (0 for IANA), element, length (65535 for a variable one). Scope fields first. */
  readonly fields: readonly (readonly [enterprise: number, element: number, length: number])[]
}

/** A sampling rate that an exporter announced: for one sampler, one interface, or (both 0) the whole domain. */
export type SamplingRecord = {
  readonly exporter: string
  /** As in templates. */
  readonly port?: number
  readonly version: 9 | 10
  readonly domain: number
  readonly sampler: number
  readonly inIf: number
  readonly rate: number
  /** When it was last announced: Unix seconds. */
  readonly announced: number
}

/** Counters of one interface from a counter sample of sFlow (generic interface counters). All ones mean that the agent has no such counter. */
export type InterfaceCounters = {
  readonly exporter: string
  /** The agent address inside of the datagram; it differs from the sender behind NAT. */
  readonly agent: string
  /** Unix milliseconds of receipt. */
  readonly timeMs: number
  /** Uptime of the agent, 32 bits: it wraps after 49 days. */
  readonly uptimeMs: number
  /** From the agent (structure 1005); empty if missing. */
  readonly name: string
  readonly ifIndex: number
  readonly ifType: number
  /** Bits per second; 0 if not known. */
  readonly speed: bigint
  /** 1 full-duplex, 2 half-duplex, 3 in, 4 out, 0 unknown. */
  readonly direction: number
  readonly adminUp: boolean
  readonly operUp: boolean
  readonly inOctets: bigint
  readonly inUnicast: number
  readonly inMulticast: number
  readonly inBroadcast: number
  readonly inDiscards: number
  readonly inErrors: number
  readonly outOctets: bigint
  readonly outUnicast: number
  readonly outMulticast: number
  readonly outBroadcast: number
  readonly outDiscards: number
  readonly outErrors: number
}

/**
 * The header bytes of a sampled packet. `octets` is reused: copy them to keep them. The row of the sample is `row` of
 * the batch.
 */
export type HeaderSink = (
  octets: Uint8Array,
  offset: number,
  length: number,
  /** The type of the first header as in sFlow: 1 Ethernet, 11 IPv4, 12 IPv6. */
  headerProtocol: number,
  /** The length of the packet before it was cut, in octets. */
  frameLength: number,
  row: number,
) => void

/** Totals since the start: decoded, lost and refused data. Names are labels of metrics. */
export type DecoderCounters = {
  /** Decoded datagrams by protocol. */
  readonly datagrams: { netflow5: number; netflow9: number; ipfix: number; sflow: number }
  /** Rows written, including data that waited for its template. */
  flows: number
  /** Datagrams without any decoded data: an unknown version, too short, or an inconsistent header. */
  malformedDatagrams: number
  /** Datagrams that were among the last 32 of their exporter. */
  repeatedDatagrams: number
  /** Sets, samples and records whose length exceeds their container; the rest of the datagram is not decoded. */
  truncated: number
  /** Templates refused: no fields, over 256 fields, a record over 64 kB, or a width of 0. */
  refusedTemplates: number
  /** Sets of unknown templates: waiting, dropped after 60 s, and dropped because 1 MB per exporter was full. */
  heldSets: number
  expiredSets: number
  overflowedSets: number
  /** Records without an IP address: layer 2 only, MPLS only. */
  recordsWithoutAddress: number
  /** Records without octets and packets: events of firewalls (ASA) and of address translation (NEL), not traffic. Neither is traffic that was counted before. */
  recordsWithoutCounters: number
  /** Records with more octets than their packets can have, or than their interface can send. */
  implausibleRecords: number
  /** Records of options whose complete pairs of elements have two sampling rates. */
  ambiguousRates: number
  /** Flows that entered by an interface towards another exporter, which has counted them. */
  internalFlows: number
  /** Samples whose packet is not IP, or cut before the addresses. */
  samplesWithoutAddress: number
  /** Jumps in the sequence of exporters, and by how much in total (v5 and IPFIX count flows, v9 and sFlow datagrams). */
  sequenceGaps: number
  sequenceMissing: number
  /** Datagrams dropped since too many exporters, domains or templates are in use. */
  overLimit: number
}

export type DecoderEvents = {
  /** A template was new or changed. Not called for `addTemplate`. */
  readonly onTemplate?: (template: TemplateRecord) => void
  /** A template was withdrawn. */
  readonly onWithdrawal?: (key: Omit<TemplateRecord, 'scopes' | 'fields'>) => void
  /** A sampling rate was new or changed, or is announced again an hour later. Not called for `addSampling`. */
  readonly onSampling?: (sampling: SamplingRecord) => void
  /** A sampling rate no longer counts: the exporter announces others instead. */
  readonly onOutdatedSampling?: (sampling: SamplingRecord) => void
  /** Data came before its template; called once while data waits for it. `addTemplate` may answer at any later time. */
  readonly onUnknownTemplate?: (key: Omit<TemplateRecord, 'scopes' | 'fields'>) => void
  readonly onInterfaceCounters?: (counters: InterfaceCounters) => void
  readonly onHeader?: HeaderSink
}

/**
 * An exporter of the platform file. It always has a place in the table, and its sampling rate replaces announced ones.
 */
export type ExporterSetting = {
  readonly address: string
  readonly samplingRate?: number
  /** Interfaces towards other exporters: flows that enter there are dropped. */
  readonly internal?: 'all' | readonly number[]
}

/** Bits per second of interfaces by number, if known and a limit of their traffic. */
export type InterfaceSpeeds = ReadonlyMap<number, number>

/** The state of an exporter in the database. */
export type KnownExporter = {
  /** Unix seconds. */
  readonly firstSeen: number
  readonly speeds: InterfaceSpeeds
  /** Whether several exporters are behind its address. */
  readonly isByPort: boolean
}

/** A dropped record, as exported. */
export type ImplausibleRecord = {
  /** Unix seconds of receipt. */
  readonly at: number
  readonly octets: number
  readonly packets: number
  readonly rate: number
  readonly in_if: number
  readonly out_if: number
  readonly duration_ms: number
}

/** Problems of the records of an exporter: the last of each kind. */
export type ExporterFinding = {
  readonly exporter: string
  readonly implausible: ImplausibleRecord | undefined
  /** Two results of a record with several complete pairs of elements. */
  readonly ambiguousRates: readonly [number, number] | undefined
  /** Two exporters behind its address announce different templates with one id, found since the last call. */
  readonly isByPort: boolean
}

export interface FlowDecoder {
  /**
   * Decodes one datagram and appends its flows. `columns` must have `rowsMax` free rows. The protocol is recognised by the version, so
   * all protocols may share a socket. `sender` has the four words of the sender's address at `senderAt`; `port` is its source port.
   * Never throws on any content.
   */
  decode(
    octets: Uint8Array,
    offset: number,
    length: number,
    sender: Uint32Array,
    senderAt: number,
    port: number,
    timeMs: number,
    columns: FlowColumns,
  ): void
  /**
   * Decodes waiting data whose template has arrived, as far as `columns` has space, and drops data after 60 s. Call it
   * about once a second.
   */
  releaseHeld(timeMs: number, columns: FlowColumns): void
  addTemplate(template: TemplateRecord): void
  addSampling(sampling: SamplingRecord): void
  setExporters(settings: readonly ExporterSetting[]): void
  /** Replaces the known state of all exporters, by address. */
  setKnown(known: ReadonlyMap<string, KnownExporter>): void
  /** Returns the findings since the last call, at most one per exporter. */
  takeFindings(): ExporterFinding[]
  /** Addresses by index of FlowColumns.exporter. An index is given to another address only after an hour without a datagram. */
  readonly exporters: readonly string[]
  /** Every template and rate that is in use, to be stored as a whole. */
  templates(): TemplateRecord[]
  samplings(): SamplingRecord[]
  readonly counters: DecoderCounters
}

/** The largest number of rows that one datagram can hold: 65,507 octets of records of at least one octet. */
export const rowsMax = 65_536
