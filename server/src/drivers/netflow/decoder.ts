// Decodes datagrams of NetFlow v5, v9, IPFIX and sFlow v5 into columns. It has no I/O and never throws on input:
// datagrams and their senders are untrusted.
//
// Decisions in which collectors differ:
// - octets are counted at the IP layer in all protocols, even if the exporter sends the length of the frame;
// - tunnels (GRE, VXLAN, IP in IP, SRv6) are flows of their outer addresses, even if a template also has the inner
//   ones; labels and pseudowires are skipped;
// - a record with more octets than its packets can have, or than an interface can send, is dropped;
// - a record with only one address (wireless controllers) or without octets and packets is dropped;
// - egress and ingress records of one packet are two flows: an exporter should send one of them.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type {
  ExporterFinding,
  ExporterSetting,
  FlowDecoder,
  KnownExporter,
  TemplateRecord,
} from '../../flow/flow-decoder.ts'
import { createDecoding, type DecoderOptions, type Decoding } from './decoding.ts'
import { createTemplate, templateRecord, type ObservationDomain, type FlowTemplate } from './domain.ts'
import type { Exporter, ExporterTable } from './exporter-table.ts'
import { dropInternal } from './internal.ts'
import { createMessageDecoder } from './message.ts'
import { dropImplausible } from './plausible.ts'
import { isRepeated } from './repeated.ts'
import { listRates } from './sampling-rates.ts'
import { createSflowDecoder } from './sflow.ts'
import { speedLimitsOf } from './speed-limits.ts'
import { decodeV5 } from './v5.ts'

/** Creates a decoder without any templates. One per thread. */
export function createDecoder(options: DecoderOptions = {}): FlowDecoder {
  const decoding = createDecoding(options)
  const { exporters, counters, context } = decoding
  const messages = createMessageDecoder(decoding)
  const sflow = createSflowDecoder(decoding)
  // A view is created per buffer, not per datagram: the source reuses its buffer.
  let view: DataView = new DataView(new ArrayBuffer(0))

  function decode(
    octets: Uint8Array,
    offset: number,
    length: number,
    sender: Uint32Array,
    senderAt: number,
    port: number,
    timeMs: number,
    columns: FlowColumns,
  ): void {
    if (
      view.buffer !== octets.buffer ||
      view.byteOffset !== octets.byteOffset ||
      view.byteLength !== octets.byteLength
    ) {
      view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
    }
    const end = offset + length
    const version = length >= 4 ? view.getUint16(offset) : -1
    const headerOctets = headerLengths[version]
    if (headerOctets === undefined || length < headerOctets) {
      counters.malformedDatagrams++
      return
    }
    const exporter = exporters.find(sender, senderAt, port, timeMs)
    if (!exporter) {
      counters.overLimit++
      return
    }
    exporter.lastMs = timeMs
    if (isRepeated(exporter.recent, view, offset, length, version)) {
      counters.repeatedDatagrams++
      return
    }
    const { shared } = exporter
    context.exporter = exporter.index
    context.connectionsOf = exporter.connections
    context.port = port
    context.time = Math.floor(timeMs / 1000)
    context.override = shared.override
    const before = columns.length
    if (version === 5) decodeV5(decoding, exporter, view, offset, end, columns)
    else if (version === 0) sflow(exporter, octets, view, offset, end, timeMs, columns)
    else messages.decode(exporter, octets, view, offset, end, timeMs, columns)
    if (shared.isDivided) {
      shared.isDivided = false
      shared.isNewlyByPort = true
      divide(exporter, timeMs)
    }
    takeFlows(columns, before, shared.internal !== undefined, shared.smallOctets)
  }

  /** From now on the ports have separate templates; flows of known ports continue. */
  function divide(exporter: Exporter, timeMs: number): void {
    const domains = [...exporter.domains.values()]
    for (const rate of listRates(exporter)) options.onOutdatedSampling?.(rate)
    counters.expiredSets += exporters.divide(exporter.address)
    for (const domain of domains) {
      const { version, id: domainId, templates } = domain
      for (const { id, scopes, fields, port, former } of templates.values()) {
        options.onWithdrawal?.({ exporter: exporter.address, version, domain: domainId, id })
        keepTemplate(exporter, domain, { id, scopes, fields, port }, timeMs)
        if (former) keepTemplate(exporter, domain, { ...former, id }, timeMs)
      }
    }
  }

  function keepTemplate(
    { address }: Exporter,
    { version, id: domainId }: ObservationDomain,
    { id, scopes, fields, port }: Pick<FlowTemplate, 'id' | 'scopes' | 'fields' | 'port'>,
    timeMs: number,
  ): void {
    const state = port === 0 ? undefined : exporters.findAddress(address, port, timeMs)
    const domain = state && messages.domainOf(state, version, domainId)
    const template = createTemplate(id, scopes, fields)
    if (!state || !domain || !template || domain.templates.has(id)) return
    template.port = port
    messages.saveTemplate(state, domain, template)
    options.onTemplate?.(templateRecord(state, domain, template))
  }

  function takeFlows(columns: FlowColumns, before: number, hasInternal: boolean, smallOctets: number): void {
    if (hasInternal) counters.internalFlows += dropInternal(columns, before, exporters.all)
    counters.implausibleRecords += dropImplausible(columns, before, exporters.all, smallOctets)
    counters.flows += columns.length - before
  }

  /** A port in a record means that the exporter was divided; records without a port then belong to no port. */
  function findKnown(address: string, port = 0): Exporter | undefined {
    if (port > 0) counters.expiredSets += exporters.divide(address)
    const exporter = exporters.findAddress(address, port, Date.now())
    return exporter?.port === port ? exporter : undefined
  }

  return {
    decode,
    releaseHeld(timeMs, columns) {
      const before = columns.length
      messages.release(timeMs, columns)
      // Rows of several exporters: each row is looked up.
      takeFlows(columns, before, true, 0)
    },
    addTemplate({ exporter: address, port, version, domain: domainId, id, scopes, fields }) {
      const exporter = findKnown(address, port)
      const domain = exporter && messages.domainOf(exporter, version, domainId)
      const template = createTemplate(id, scopes, Uint32Array.from(fields.flat()))
      if (exporter && domain && template && !domain.templates.has(id))
        messages.saveTemplate(exporter, domain, template)
    },
    addSampling(record) {
      const exporter = findKnown(record.exporter, record.port)
      const domain = exporter && messages.domainOf(exporter, record.version, record.domain)
      if (exporter && domain) messages.rates.restore(exporter, domain, record)
    },
    setExporters: (settings) => setExporters(exporters, settings),
    setKnown: (known) => setKnown(decoding, known),
    takeFindings: () => takeFindings(exporters.all),
    exporters: exporters.addresses,
    templates: () => listTemplates(exporters),
    samplings: () => exporters.states.flatMap(listRates),
    counters,
  }
}

/** By version: the octets of the header. sFlow has a version of four octets, so the first two are 0. */
const headerLengths: Readonly<Record<number, number>> = { 0: 28, 5: 24, 9: 20, 10: 16 }

function setExporters(exporters: ExporterTable, settings: readonly ExporterSetting[]): void {
  for (const { shared } of exporters.all) {
    shared.isConfigured = false
    shared.override = 0
    shared.internal = undefined
  }
  for (const { address, samplingRate, internal = [] } of settings) {
    const shared = exporters.findShared(address, Date.now())
    if (!shared) continue
    shared.isConfigured = true
    shared.override = samplingRate ?? 0
    if (internal.length > 0) shared.internal = internal === 'all' ? 'all' : new Set(internal)
  }
}

function setKnown({ exporters, counters }: Decoding, known: ReadonlyMap<string, KnownExporter>): void {
  for (const [address, { isByPort }] of known) if (isByPort) counters.expiredSets += exporters.divide(address)
  for (const { address, shared } of exporters.all) {
    const { firstSeen = Infinity, speeds = new Map() } = known.get(address) ?? {}
    shared.firstSeen = Math.min(shared.firstSeen, firstSeen)
    Object.assign(shared, speedLimitsOf(speeds))
  }
}

function takeFindings(exporters: readonly Exporter[]): ExporterFinding[] {
  const found = exporters.filter(
    ({ shared }) =>
      shared.implausible !== undefined || shared.ambiguousRates !== undefined || shared.isNewlyByPort,
  )
  return found.map(({ address, shared }) => {
    const { implausible, ambiguousRates, isNewlyByPort: isByPort } = shared
    shared.implausible = shared.ambiguousRates = undefined
    shared.isNewlyByPort = false
    return { exporter: address, implausible, ambiguousRates, isByPort }
  })
}

function listTemplates(exporters: ExporterTable): TemplateRecord[] {
  return exporters.states.flatMap((exporter) =>
    [...exporter.domains.values()].flatMap((domain) =>
      [...domain.templates.values()].map((template) => templateRecord(exporter, domain, template)),
    ),
  )
}
