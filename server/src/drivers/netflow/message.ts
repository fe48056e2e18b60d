// Messages of NetFlow v9 (RFC 3954) and IPFIX (RFC 7011): a header and sets of templates, of options templates, and of records that a
// template describes. Sets may come in any order, also before their template.
import type { FlowColumns } from '../../analysis/flow/flow-columns.ts'
import { compileRecords } from './compile-records.ts'
import type { Decoding } from './decoding.ts'
import {
  createDomain,
  createTemplate,
  fieldList,
  isSameTemplate,
  onlyRateOf,
  samplerRateOf,
  type Domain,
  type Template,
} from './domain.ts'
import type { Exporter, HeldSet } from './exporter-table.ts'
import { slot } from './elements.ts'
import { readOptions, readRecords } from './read-records.ts'
import { countRecords } from './record-values.ts'
import { countGap } from './sequence.ts'

/** Limits per exporter, so that one that floods disturbs no other. */
const templatesMax = 4096
const domainsMax = 1024
const ratesMax = 65_536
const heldOctetsMax = 2 ** 20
const heldMs = 60_000
/** Templates of all exporters together. */
const allTemplatesMax = 65_536

/** Records that a template must have described before it is compiled: an exporter that changes templates pays nothing here. */
const recordsBeforeCompiling = 200

const firstDataSet = 256
const ipfixHeader = 16

/** Scopes of NetFlow v9 are numbers of their own (RFC 3954, 6.1); as elements: exporting process, interface, line card, process, template. */
const scopeElements = [0, 144, 10, 141, 144, 145]

export type MessageDecoder = {
  readonly decode: (
    exporter: Exporter,
    octets: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    timeMs: number,
    columns: FlowColumns,
  ) => void
  readonly release: (timeMs: number, columns: FlowColumns) => void
  /** The state of a domain, new if it is unknown; undefined if the exporter has too many. */
  readonly domainOf: (exporter: Exporter, version: 9 | 10, id: number) => Domain | undefined
  readonly saveTemplate: (domain: Domain, template: Template) => void
  /** Returns whether the rate was new. */
  readonly saveRate: (
    exporter: Exporter,
    domain: Domain,
    sampler: number,
    inIf: number,
    rate: number,
    replaces: boolean,
  ) => boolean
}

/** Creates the decoder of both protocols on the shared state. */
export function createMessageDecoder(decoding: Decoding): MessageDecoder {
  const { counters, context, events } = decoding
  let allTemplates = 0
  let allHeldOctets = 0
  /** Exporters with held sets. */
  const waiting = new Set<Exporter>()

  function decode(
    exporter: Exporter,
    octets: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    timeMs: number,
    columns: FlowColumns,
  ): void {
    let next = start
    do next = decodeMessage(exporter, octets, view, next, end, timeMs, columns)
    // A datagram may contain several messages of IPFIX; v9 has no length.
    while (next + ipfixHeader <= end && view.getUint16(next) === 10)
    if (waiting.size > 0 && waiting.has(exporter)) releaseOf(exporter, timeMs, columns)
  }

  /** Returns where the message ends. */
  function decodeMessage(
    exporter: Exporter,
    octets: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    timeMs: number,
    columns: FlowColumns,
  ): number {
    const version = view.getUint16(start) as 9 | 10
    const isV9 = version === 9
    const announced = isV9 ? end : start + view.getUint16(start + 2)
    if (announced < start + (isV9 ? 0 : ipfixHeader)) {
      counters.malformedDatagrams++
      return end
    }
    const domain = domainOf(exporter, version, view.getUint32(start + (isV9 ? 16 : 12)))
    if (!domain) {
      counters.overLimit++
      return announced
    }
    if (isV9) counters.datagrams.netflow9++
    else counters.datagrams.ipfix++
    if (announced > end) counters.truncated++
    const limit = Math.min(announced, end)
    const from = start + (isV9 ? 20 : ipfixHeader)
    const records = decodeSets(exporter, domain, octets, view, from, limit, timeMs, columns)
    const sequence = view.getUint32(start + (isV9 ? 12 : 8))
    countGap(counters, domain.sequence, sequence)
    // v9 counts datagrams; IPFIX counts records, which are unknown after a set without a template.
    if (isV9) domain.sequence = (sequence + 1) >>> 0
    else domain.sequence = records === undefined ? undefined : (sequence + records) >>> 0
    return announced
  }

  /** Returns the number of data records, those of options included; undefined if a set could not be decoded. */
  function decodeSets(
    exporter: Exporter,
    domain: Domain,
    octets: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    timeMs: number,
    columns: FlowColumns,
  ): number | undefined {
    const [templateSet, optionsSet] = domain.version === 9 ? [0, 1] : [2, 3]
    let records: number | undefined = 0
    let at = start
    while (at + 4 <= end) {
      const id = view.getUint16(at)
      const length = view.getUint16(at + 2)
      // Some exporters send datagrams of one size, filled with zeros.
      if (id === 0 && length === 0) return records
      // A length below 4 would never advance.
      if (length < 4 || at + length > end) {
        counters.truncated++
        return undefined
      }
      const [from, to] = [at + 4, at + length]
      if (id === templateSet) readTemplates(exporter, domain, view, from, to)
      else if (id === optionsSet) readOptionsTemplates(exporter, domain, view, from, to)
      else if (id >= firstDataSet) {
        const count = decodeData(exporter, domain, id, octets, view, from, to, timeMs, columns)
        records = count === undefined || records === undefined ? undefined : records + count
      }
      at += length
    }
    return records
  }

  function decodeData(
    exporter: Exporter,
    domain: Domain,
    id: number,
    octets: Uint8Array,
    view: DataView,
    from: number,
    to: number,
    timeMs: number,
    columns: FlowColumns,
  ): number | undefined {
    const template = domain.templates.get(id)
    if (template) return decodeRecords(exporter, domain, template, octets, view, from, to, columns)
    hold(exporter, { domain, id, octets: octets.slice(from, to), timeMs })
    if (!domain.unknown.has(id) && domain.unknown.size < templatesMax) {
      domain.unknown.add(id)
      events.onUnknownTemplate?.({
        exporter: exporter.address,
        version: domain.version,
        domain: domain.id,
        id,
      })
    }
    return undefined
  }

  function decodeRecords(
    exporter: Exporter,
    domain: Domain,
    template: Template,
    octets: Uint8Array,
    view: DataView,
    from: number,
    to: number,
    columns: FlowColumns,
  ): number | undefined {
    const { layout } = template
    if (template.scopes > 0) {
      const count = readOptions(octets, from, to, layout, (other, sampler, inIf, rate) => {
        const target = other === undefined ? domain : domainOf(exporter, domain.version, other)
        if (target) announceRate(exporter, target, sampler, inIf, rate)
      })
      return completed(count)
    }
    if (!domain.hasFlows) {
      domain.hasFlows = true
      exporter.foreignRates.clear()
    }
    const isShared = layout.places[slot.sampler]! < 0 && domain.interfaceRates.size === 0
    context.rate = isShared ? domain.lookup(0, 0) : -1
    context.lookup = domain.lookup
    const count = template.compiled ? countRecords(layout, from, to) : 0
    if (template.compiled) {
      template.compiled(octets, view, from, count, context, columns)
    } else {
      const read = readRecords(octets, from, to, layout, context, columns)
      template.records += Math.abs(read)
      if (template.records >= recordsBeforeCompiling && template.records < Infinity) {
        template.compiled = compileRecords(layout)
        template.records = template.compiled ? 0 : Infinity
      }
      takeSkipped()
      return completed(read)
    }
    takeSkipped()
    return count
  }

  function takeSkipped(): void {
    counters.recordsWithoutAddress += context.withoutAddress
    counters.recordsWithoutCounters += context.withoutCounters
    context.withoutAddress = context.withoutCounters = 0
  }

  /** A negative number of records is that of a set in which one exceeded the end. */
  function completed(count: number): number | undefined {
    if (count >= 0) return count
    counters.truncated++
    return undefined
  }

  // Templates

  function readTemplates(exporter: Exporter, domain: Domain, view: DataView, from: number, to: number): void {
    let at = from
    while (at + 4 <= to) {
      const id = view.getUint16(at)
      const count = view.getUint16(at + 2)
      if (count === 0 && domain.version === 10 && (id >= firstDataSet || id === 2)) {
        withdraw(exporter, domain, id, false)
        at += 4
        continue
      }
      // Padding of a set is zeros.
      if (id < firstDataSet) return
      const fields = readFields(view, at + 4, to, count, 0, domain.version)
      if (!fields) {
        counters.truncated++
        return
      }
      announceTemplate(exporter, domain, id, 0, fields.fields)
      at = fields.end
    }
  }

  function readOptionsTemplates(
    exporter: Exporter,
    domain: Domain,
    view: DataView,
    from: number,
    to: number,
  ): void {
    let at = from
    while (at + 6 <= to || (at + 4 <= to && domain.version === 10 && view.getUint16(at + 2) === 0)) {
      const id = view.getUint16(at)
      const first = view.getUint16(at + 2)
      if (first === 0 && domain.version === 10 && (id >= firstDataSet || id === 3)) {
        withdraw(exporter, domain, id, true)
        at += 4
        continue
      }
      if (id < firstDataSet) return
      // v9 has the octets of the scope's and of the other fields, IPFIX the number of all fields and of the scope's.
      const second = view.getUint16(at + 4)
      const scopes = domain.version === 9 ? first >> 2 : second
      const count = domain.version === 9 ? scopes + (second >> 2) : first
      const fields = readFields(view, at + 6, to, count, scopes, domain.version)
      if (!fields) {
        counters.truncated++
        return
      }
      // Without a scope it is still no template of flows.
      announceTemplate(exporter, domain, id, Math.max(scopes, 1), fields.fields)
      at = fields.end
    }
  }

  function announceTemplate(
    exporter: Exporter,
    domain: Domain,
    id: number,
    scopes: number,
    fields: Uint32Array,
  ) {
    const known = domain.templates.get(id)
    if (known && isSameTemplate(known, scopes, fields)) return
    const template = createTemplate(id, scopes, fields)
    if (!template) {
      counters.refusedTemplates++
      return
    }
    if (!known && !hasPlace(exporter)) {
      counters.overLimit++
      return
    }
    saveTemplate(domain, template)
    events.onTemplate?.({
      exporter: exporter.address,
      version: domain.version,
      domain: domain.id,
      id,
      scopes,
      fields: fieldList(fields),
    })
  }

  function hasPlace({ domains }: Exporter): boolean {
    let count = 0
    for (const { templates } of domains.values()) count += templates.size
    return count < templatesMax && allTemplates < allTemplatesMax
  }

  function saveTemplate(domain: Domain, template: Template): void {
    if (!domain.templates.has(template.id)) allTemplates++
    domain.templates.set(template.id, template)
    domain.unknown.delete(template.id)
  }

  /** Withdraws one template, or with the id of the set all of its kind (RFC 7011, section 8.1). */
  function withdraw(exporter: Exporter, domain: Domain, id: number, isOptions: boolean): void {
    for (const template of domain.templates.values()) {
      if (id >= firstDataSet ? template.id !== id : template.scopes > 0 !== isOptions) continue
      domain.templates.delete(template.id)
      allTemplates--
      const { version, id: domainId } = domain
      events.onWithdrawal?.({ exporter: exporter.address, version, domain: domainId, id: template.id })
    }
  }

  // Sampling

  function announceRate(
    exporter: Exporter,
    domain: Domain,
    sampler: number,
    inIf: number,
    rate: number,
  ): void {
    if (!saveRate(exporter, domain, sampler, inIf, rate, true)) return
    const [bySampler, byInterface] = [sampler, sampler === 0 ? inIf : 0]
    const { version, id } = domain
    const common = { exporter: exporter.address, version, domain: id }
    events.onSampling?.({ ...common, sampler: bySampler, inIf: byInterface, rate })
  }

  function saveRate(
    exporter: Exporter,
    domain: Domain,
    sampler: number,
    inIf: number,
    rate: number,
    replaces: boolean,
  ): boolean {
    const isNew = saveRateOf(domain, sampler, inIf, rate, replaces)
    if (isNew) {
      exporter.onlyRate = onlyRateOf(exporter.domains.values())
      exporter.foreignRates.clear()
    }
    return isNew
  }

  /** A sampler's number is more exact than the interface that uses it. */
  function saveRateOf(
    domain: Domain,
    sampler: number,
    inIf: number,
    rate: number,
    replaces: boolean,
  ): boolean {
    if (sampler === 0 && inIf === 0) {
      if (domain.rate === rate || (domain.rate > 0 && !replaces)) return false
      domain.rate = rate
      return true
    }
    const [rates, key] = sampler === 0 ? [domain.interfaceRates, inIf] : [domain.samplerRates, sampler]
    const known = rates.get(key)
    if (known === rate || (known !== undefined && !replaces)) return false
    if (known === undefined && rates.size >= ratesMax) {
      counters.overLimit++
      return false
    }
    rates.set(key, rate)
    return true
  }

  // Held data

  function hold(exporter: Exporter, set: HeldSet): void {
    const { length } = set.octets
    if (exporter.heldOctets + length > heldOctetsMax || allHeldOctets + length > decoding.heldOctetsMax) {
      counters.overflowedSets++
      return
    }
    counters.heldSets++
    exporter.held.push(set)
    exporter.heldOctets += length
    allHeldOctets += length
    waiting.add(exporter)
  }

  function release(timeMs: number, columns: FlowColumns): void {
    for (const exporter of waiting) releaseOf(exporter, timeMs, columns)
  }

  /** Decodes the sets whose template is known by now, in their order, as long as there is room for their rows. */
  function releaseOf(exporter: Exporter, timeMs: number, columns: FlowColumns): void {
    const isDue = exporter.held.some(
      ({ domain, id, timeMs: heldSince }) => domain.templates.has(id) || timeMs - heldSince > heldMs,
    )
    if (!isDue) return
    context.exporter = exporter.index
    context.override = exporter.override
    exporter.held = exporter.held.filter((set) => !releaseSet(exporter, set, timeMs, columns))
    if (exporter.held.length === 0) waiting.delete(exporter)
  }

  /** Returns whether the set is no longer held. */
  function releaseSet(exporter: Exporter, set: HeldSet, timeMs: number, columns: FlowColumns): boolean {
    const { octets, domain } = set
    const template = domain.templates.get(set.id)
    if (template) {
      // A biflow has two rows.
      const rows = 2 * countRecords(template.layout, 0, octets.length)
      if (columns.capacity - columns.length < rows) return false
      context.time = Math.floor(set.timeMs / 1000)
      const view = new DataView(octets.buffer, octets.byteOffset, octets.length)
      decodeRecords(exporter, domain, template, octets, view, 0, octets.length, columns)
    } else if (timeMs - set.timeMs > heldMs) counters.expiredSets++
    else return false
    exporter.heldOctets -= octets.length
    allHeldOctets -= octets.length
    return true
  }

  function domainOf(exporter: Exporter, version: 9 | 10, id: number): Domain | undefined {
    // Two versions of 32-bit numbers as one key.
    const key = id * 2 + (version === 9 ? 1 : 0)
    const known = exporter.domains.get(key)
    if (known) return known
    if (exporter.domains.size >= domainsMax) return undefined
    // Domain 0 speaks for the whole exporter (RFC 7011, section 3.1).
    const whole = version === 9 ? 1 : 0
    const domain = createDomain(version, id, (sampler, inIf) => {
      const found = id === 0 ? 0 : (exporter.domains.get(whole)?.lookup(sampler, inIf) ?? 0)
      return found || (sampler === 0 ? exporter.onlyRate : foreignRate(exporter, sampler))
    })
    exporter.domains.set(key, domain)
    return domain
  }

  /** Looked up once, not for every record: a sampler that nobody knows yet is the usual case after a restart. */
  function foreignRate({ domains, foreignRates }: Exporter, sampler: number): number {
    const known = foreignRates.get(sampler)
    if (known !== undefined) return known
    const rate = samplerRateOf(domains.values(), sampler)
    if (foreignRates.size < ratesMax) foreignRates.set(sampler, rate)
    return rate
  }

  return { decode, release, domainOf, saveTemplate, saveRate }
}

/** Reads `count` field specifiers; undefined if they exceed the set. Fields of v9 have no enterprise numbers. */
function readFields(
  view: DataView,
  from: number,
  to: number,
  count: number,
  scopes: number,
  version: 9 | 10,
): { readonly fields: Uint32Array; readonly end: number } | undefined {
  if (from + count * 4 > to) return undefined
  const fields = new Uint32Array(count * 3)
  let at = from
  for (let i = 0; i < count; i++) {
    if (at + 4 > to) return undefined
    const element = view.getUint16(at)
    const length = view.getUint16(at + 2)
    const isEnterprise = version === 10 && element >= 0x8000
    at += 4
    if (isEnterprise && at + 4 > to) return undefined
    fields[i * 3] = isEnterprise ? view.getUint32(at) : 0
    if (version === 9 && i < scopes) fields[i * 3 + 1] = scopeElements[element] ?? 0
    else fields[i * 3 + 1] = isEnterprise ? element & 0x7f_ff : element
    fields[i * 3 + 2] = length
    if (isEnterprise) at += 4
  }
  return { fields, end: at }
}
