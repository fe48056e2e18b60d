// Decodes datagrams of NetFlow v5, v9, IPFIX and sFlow v5 into columns. It has no I/O and never throws on what arrives: a datagram is
// untrusted, and its sender too.
//
// Where collectors differ from each other:
// - octets are those of IP packets in all protocols, also where the exporter sends the length of the frame;
// - tunnels (GRE, VXLAN, IP in IP, SRv6) are flows of their outer addresses, also where a template has the inner ones as well; labels and
//   pseudowires are looked through;
// - a record with more octets than its packets can have, or than an interface can send, is no flow;
// - a record with one end only (wireless controllers) or without octets and packets is no flow;
// - egress and ingress records of one packet are two flows: an exporter should send one of them.
import type { FlowColumns } from '../../analysis/flow/flow-columns.ts'
import type {
  ExporterFinding,
  ExporterSetting,
  FlowDecoder,
  KnownExporter,
  TemplateRecord,
} from '../../analysis/flow/flow-decoder.ts'
import { createDecoding, type DecoderOptions } from './decoding.ts'
import { createTemplate, fieldList } from './domain.ts'
import type { Exporter, ExporterTable } from './exporter-table.ts'
import { dropInternal } from './internal.ts'
import { createMessageDecoder } from './message.ts'
import { dropImplausible } from './plausible.ts'
import { isRepeated } from './repeated.ts'
import { listRates } from './sampling-rates.ts'
import { createSflowDecoder } from './sflow.ts'
import { limitsOf } from './speed-limits.ts'
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
    const exporter = exporters.find(sender, senderAt, timeMs)
    if (!exporter) {
      counters.overLimit++
      return
    }
    exporter.lastMs = timeMs
    if (isRepeated(exporter.recent, view, offset, length, version)) {
      counters.repeatedDatagrams++
      return
    }
    context.exporter = exporter.index
    context.time = Math.floor(timeMs / 1000)
    context.override = exporter.override
    const before = columns.length
    if (version === 5) decodeV5(decoding, exporter, view, offset, end, columns)
    else if (version === 0) sflow(exporter, octets, view, offset, end, timeMs, columns)
    else messages.decode(exporter, octets, view, offset, end, timeMs, columns)
    takeFlows(columns, before, exporter.internal !== undefined, exporter.smallOctets)
  }

  function takeFlows(columns: FlowColumns, before: number, hasInternal: boolean, smallOctets: number): void {
    if (hasInternal) counters.internalFlows += dropInternal(columns, before, exporters.all)
    counters.implausibleRecords += dropImplausible(columns, before, exporters.all, smallOctets)
    counters.flows += columns.length - before
  }

  return {
    decode,
    releaseHeld(timeMs, columns) {
      const before = columns.length
      messages.release(timeMs, columns)
      // Of several exporters: each row is looked up.
      takeFlows(columns, before, true, 0)
    },
    addTemplate({ exporter: address, version, domain: domainId, id, scopes, fields }) {
      const exporter = exporters.findAddress(address, Date.now())
      const domain = exporter && messages.domainOf(exporter, version, domainId)
      const template = createTemplate(id, scopes, Uint32Array.from(fields.flat()))
      if (exporter && domain && template && !domain.templates.has(id))
        messages.saveTemplate(exporter, domain, template)
    },
    addSampling(record) {
      const exporter = exporters.findAddress(record.exporter, Date.now())
      const domain = exporter && messages.domainOf(exporter, record.version, record.domain)
      if (exporter && domain) messages.rates.restore(exporter, domain, record)
    },
    setExporters: (settings) => setExporters(exporters, settings),
    setKnown: (known) => setKnown(exporters.all, known),
    takeFindings: () => takeFindings(exporters.all),
    exporters: exporters.addresses,
    templates: () => listTemplates(exporters),
    samplings: () => exporters.all.flatMap(listRates),
    counters,
  }
}

/** By version: the octets of the header. sFlow has a version of four octets, so the first two are 0. */
const headerLengths: Readonly<Record<number, number>> = { 0: 28, 5: 24, 9: 20, 10: 16 }

function setExporters(exporters: ExporterTable, settings: readonly ExporterSetting[]): void {
  for (const exporter of exporters.all) {
    exporter.isConfigured = false
    exporter.override = 0
    exporter.internal = undefined
  }
  for (const { address, samplingRate, internal = [] } of settings) {
    const exporter = exporters.findAddress(address, Date.now())
    if (!exporter) continue
    exporter.isConfigured = true
    exporter.override = samplingRate ?? 0
    if (internal.length > 0) exporter.internal = internal === 'all' ? 'all' : new Set(internal)
  }
}

function setKnown(exporters: readonly Exporter[], known: ReadonlyMap<string, KnownExporter>): void {
  for (const exporter of exporters) {
    const { firstSeen = Infinity, speeds = new Map() } = known.get(exporter.address) ?? {}
    exporter.firstSeen = Math.min(exporter.firstSeen, firstSeen)
    Object.assign(exporter, limitsOf(speeds))
  }
}

function takeFindings(exporters: readonly Exporter[]): ExporterFinding[] {
  const found = exporters.filter((one) => one.implausible !== undefined || one.ambiguousRates !== undefined)
  return found.map((exporter) => {
    const { address, implausible, ambiguousRates } = exporter
    exporter.implausible = exporter.ambiguousRates = undefined
    return { exporter: address, implausible, ambiguousRates }
  })
}

function listTemplates(exporters: ExporterTable): TemplateRecord[] {
  return exporters.all.flatMap(({ address, domains }) =>
    [...domains.values()].flatMap(({ version, id: domain, templates }) =>
      [...templates.values()].map(({ id, scopes, fields }) => ({
        exporter: address,
        version,
        domain,
        id,
        scopes,
        fields: fieldList(fields),
      })),
    ),
  )
}
