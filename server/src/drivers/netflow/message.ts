// Messages of NetFlow v9 (RFC 3954) and IPFIX (RFC 7011): a header and sets of templates, of options templates, and of records that a
// template describes. Sets may come in any order, also before their template.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import { commonRateOf, rateWithoutAny } from './common-rates.ts'
import { compileRecords } from './compile-records.ts'
import type { Decoding } from './decoding.ts'
import {
  recordAddressOf,
  createDomain,
  createTemplate,
  idsOf,
  templateRecord,
  isSameTemplate,
  type ObservationDomain,
  type FlowTemplate,
} from './domain.ts'
import type { Exporter } from './exporter-table.ts'
import { createHeldSets } from './held-sets.ts'
import { slot } from './elements.ts'
import { readOptionRecords, readFlowRecords } from './read-records.ts'
import { countRecords } from './record-values.ts'
import { SamplingRates } from './sampling-rates.ts'
import { countGap } from './sequence.ts'

/**
 * Records that a template must have described before it is compiled, so that frequent template changes cost no
 * compilation.
 */
const recordsBeforeCompiling = 200

const firstDataSet = 256
/** Within which a template changes and changes back if two exporters announce it. Cisco repeats templates every 30 minutes by default. */
const alternationSeconds = 1800
const ipfixHeader = 16

/**
 * Scopes of NetFlow v9 have their own numbers (RFC 3954, 6.1); as elements: exporting process, interface, line card,
 * process, template.
 */
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
  /** The state of a domain, new if it is unknown; undefined if there is no room. */
  readonly domainOf: (exporter: Exporter, version: 9 | 10, id: number) => ObservationDomain | undefined
  /** Saves it if there is room. */
  readonly saveTemplate: (exporter: Exporter, domain: ObservationDomain, template: FlowTemplate) => void
  readonly rates: SamplingRates
}

/** Creates the decoder of both protocols on the shared state. */
export function createMessageDecoder(decoding: Decoding): MessageDecoder {
  const { counters, context, events, quota } = decoding
  const rates = new SamplingRates(decoding)
  const held = createHeldSets(decoding, (exporter, { octets, domain }, template, columns) => {
    const view = new DataView(octets.buffer, octets.byteOffset, octets.length)
    decodeRecords(exporter, domain, template, octets, view, 0, octets.length, columns)
  })

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
    held.releaseDue(exporter, timeMs, columns)
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
    const [records, last] = decodeSets(exporter, domain, octets, view, from, limit, end, timeMs, columns)
    const sequence = view.getUint32(start + (isV9 ? 12 : 8))
    countGap(counters, domain.sequence, sequence)
    // v9 counts datagrams; IPFIX counts records, which are unknown after a set without a template.
    if (isV9) domain.sequence = (sequence + 1) >>> 0
    else domain.sequence = records === undefined ? undefined : (sequence + records) >>> 0
    return Math.max(announced, last)
  }

  /**
   * Decodes the sets that begin before `limit` and end before `end`, the end of the datagram: some exporters announce a
   * message that is shorter than its last set. Returns the end of the last set and the number of data records including
   * options; undefined if a set could not be decoded.
   */
  function decodeSets(
    exporter: Exporter,
    domain: ObservationDomain,
    octets: Uint8Array,
    view: DataView,
    start: number,
    limit: number,
    end: number,
    timeMs: number,
    columns: FlowColumns,
  ): readonly [records: number | undefined, at: number] {
    const [templateSet, optionsSet] = domain.version === 9 ? [0, 1] : [2, 3]
    let records: number | undefined = 0
    let at = start
    while (at + 4 <= limit) {
      const id = view.getUint16(at)
      const length = view.getUint16(at + 2)
      // Some exporters send datagrams of one size, filled with zeros.
      if (id === 0 && length === 0) return [records, at]
      // A length below 4 would never advance.
      if (length < 4 || at + length > end) {
        counters.truncated++
        return [undefined, at]
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
    return [records, at]
  }

  function decodeData(
    exporter: Exporter,
    domain: ObservationDomain,
    id: number,
    octets: Uint8Array,
    view: DataView,
    from: number,
    to: number,
    timeMs: number,
    columns: FlowColumns,
  ): number | undefined {
    // No template has records of no octets.
    if (from === to) return 0
    const template = domain.templates.get(id)
    if (template) return decodeRecords(exporter, domain, template, octets, view, from, to, columns)
    held.hold(exporter, { domain, id, octets: octets.slice(from, to), timeMs })
    return undefined
  }

  function decodeRecords(
    exporter: Exporter,
    domain: ObservationDomain,
    template: FlowTemplate,
    octets: Uint8Array,
    view: DataView,
    from: number,
    to: number,
    columns: FlowColumns,
  ): number | undefined {
    const { layout } = template
    if (template.scopes > 0) {
      const count = readOptionRecords(
        octets,
        from,
        to,
        layout,
        (other, sampler, inIf, rate) => {
          const target = other === undefined ? domain : domainOf(exporter, domain.version, other)
          if (target) rates.announce(exporter, target, sampler, inIf, rate, context.time)
        },
        (first, second) => {
          counters.ambiguousRates++
          exporter.shared.ambiguousRates = [first, second]
        },
      )
      return completed(count)
    }
    rates.markFlows(exporter, domain)
    const isShared = layout.places[slot.sampler]! < 0 && !hasInterfaceRates(exporter, domain)
    context.rate = isShared ? domain.lookup(0, 0) : -1
    context.lookup = domain.lookup
    const count = template.compiled ? countRecords(layout, from, to) : 0
    if (template.compiled) {
      template.compiled(octets, view, from, count, context, columns)
    } else {
      const read = readFlowRecords(octets, from, to, layout, context, columns)
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

  function hasInterfaceRates(exporter: Exporter, { rates: own, version }: ObservationDomain): boolean {
    return own.interface.size > 0 || (wholeOf(exporter, version)?.rates.interface.size ?? 0) > 0
  }

  function takeSkipped(): void {
    counters.recordsWithoutAddress += context.withoutAddress
    counters.recordsWithoutCounters += context.withoutCounters
    context.withoutAddress = context.withoutCounters = 0
  }

  /** A negative number of records means that a record exceeded the end of the set. */
  function completed(count: number): number | undefined {
    if (count >= 0) return count
    counters.truncated++
    return undefined
  }

  // Templates

  function readTemplates(
    exporter: Exporter,
    domain: ObservationDomain,
    view: DataView,
    from: number,
    to: number,
  ): void {
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
    domain: ObservationDomain,
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
      // Without a scope it is still not a template of flows.
      announceTemplate(exporter, domain, id, Math.max(scopes, 1), fields.fields)
      at = fields.end
    }
  }

  function announceTemplate(
    exporter: Exporter,
    domain: ObservationDomain,
    id: number,
    scopes: number,
    fields: Uint32Array,
  ) {
    const known = domain.templates.get(id)
    if (known && isSameTemplate(known, scopes, fields)) {
      known.port = context.port
      return
    }
    // Before the work of creating it.
    if (!known && !quota.hasRoom(exporter, 'templates')) {
      counters.overLimit++
      return
    }
    const template = createTemplate(id, scopes, fields)
    if (!template) {
      counters.refusedTemplates++
      return
    }
    template.port = context.port
    if (known) {
      const { former } = known
      template.former = { scopes: known.scopes, fields: known.fields, port: known.port, until: context.time }
      // Two exporters alternate. An exporter that restarts with other templates has another port, and does not return
      // to its former port.
      if (
        former !== undefined &&
        context.time - former.until <= alternationSeconds &&
        former.port === context.port &&
        known.port !== context.port &&
        isSameTemplate(former, scopes, fields)
      )
        exporter.shared.isDivided = exporter.port === 0
    }
    saveTemplate(exporter, domain, template)
    if (known) rates.replaceTemplate(exporter, domain, known, template)
    events.onTemplate?.(templateRecord(exporter, domain, template))
  }

  function saveTemplate(exporter: Exporter, domain: ObservationDomain, template: FlowTemplate): void {
    const { id, scopes } = template
    const known = domain.templates.get(id)
    if (known) idsOf(domain, known.scopes > 0).delete(id)
    else if (!quota.take(exporter, 'templates')) return
    domain.templates.set(id, template)
    idsOf(domain, scopes > 0).add(id)
    held.onTemplate(exporter, domain, id)
  }

  /** Withdraws one template, or with the id of the set all of its kind (RFC 7011, section 8.1). */
  function withdraw(exporter: Exporter, domain: ObservationDomain, id: number, isOptions: boolean): void {
    if (id < firstDataSet) for (const one of idsOf(domain, isOptions)) withdrawOne(exporter, domain, one)
    else withdrawOne(exporter, domain, id)
  }

  function withdrawOne(exporter: Exporter, domain: ObservationDomain, id: number): void {
    const template = domain.templates.get(id)
    if (!template) return
    domain.templates.delete(id)
    idsOf(domain, template.scopes > 0).delete(id)
    quota.giveBack(exporter, 'templates')
    const { version, id: domainId } = domain
    events.onWithdrawal?.({ ...recordAddressOf(exporter), version, domain: domainId, id })
  }

  function domainOf(exporter: Exporter, version: 9 | 10, id: number): ObservationDomain | undefined {
    const key = keyOf(version, id)
    const known = exporter.domains.get(key)
    if (known) return known
    if (!quota.take(exporter, 'domains')) return undefined
    const domain = createDomain(version, id, (sampler, inIf) => {
      const found = id === 0 ? 0 : (wholeOf(exporter, version)?.lookup(sampler, inIf) ?? 0)
      return (
        found ||
        commonRateOf(exporter.common, sampler) ||
        (sampler === 0 ? rateWithoutAny(exporter, context.time) : 0)
      )
    })
    exporter.domains.set(key, domain)
    return domain
  }

  return { decode, release: held.releaseAll, domainOf, saveTemplate, rates }
}

/** Two versions of 32-bit numbers as one key. */
const keyOf = (version: 9 | 10, id: number): number => id * 2 + (version === 9 ? 1 : 0)

/** Domain 0 speaks for the whole exporter (RFC 7011, section 3.1). */
const wholeOf = ({ domains }: Exporter, version: 9 | 10): ObservationDomain | undefined =>
  domains.get(keyOf(version, 0))

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
