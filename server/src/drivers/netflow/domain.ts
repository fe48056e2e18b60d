// What is known of one domain of an exporter (the source id of NetFlow v9, the observation domain of IPFIX): templates, sampling rates and
// the expected sequence number.
import type { TemplateRecord } from '../../analysis/flow/flow-decoder.ts'
import type { CompiledRecords } from './compile-records.ts'
import { layoutOf, type Layout } from './elements.ts'

export type Template = {
  readonly id: number
  readonly scopes: number
  /** Three numbers a field: enterprise, element, length. */
  readonly fields: Uint32Array
  readonly layout: Layout
  /** Records read so far; it is compiled once it is worth it. */
  records: number
  compiled: CompiledRecords | undefined
}

export type Domain = {
  readonly version: 9 | 10
  readonly id: number
  readonly templates: Map<number, Template>
  /** Templates that were asked for. */
  readonly unknown: Set<number>
  /** Rates: of the domain (0: none), by sampler, by input interface. */
  rate: number
  readonly samplerRates: Map<number, number>
  readonly interfaceRates: Map<number, number>
  readonly lookup: (sampler: number, inIf: number) => number
  /** Whether it sent flows; some domains send nothing but options. */
  hasFlows: boolean
  sequence: number | undefined
}

/** Finds the rate of a flow of which the domain knows none; 0 for none. */
type Fallback = (sampler: number, inIf: number) => number

/** Creates the state of a domain. */
export function createDomain(version: 9 | 10, id: number, fallback: Fallback): Domain {
  const domain: Domain = {
    version,
    id,
    templates: new Map(),
    unknown: new Set(),
    rate: 0,
    samplerRates: new Map(),
    interfaceRates: new Map(),
    lookup: (sampler, inIf) => findRate(domain, sampler, inIf, fallback),
    hasFlows: false,
    sequence: undefined,
  }
  return domain
}

/** The rate of a flow: of its sampler, its interface, its domain, or the only sampler if the flow names none. 0 if not known. */
function findRate(domain: Domain, sampler: number, inIf: number, fallback: Fallback): number {
  const own =
    (sampler !== 0 && domain.samplerRates.get(sampler)) || domain.interfaceRates.get(inIf) || domain.rate
  if (own) return own
  if (sampler === 0 && domain.samplerRates.size === 1 && domain.interfaceRates.size === 0) {
    return domain.samplerRates.values().next().value!
  }
  return fallback(sampler, inIf)
}

/** The one rate that domains have without regard to interfaces; 0 if there is none, or if they differ. */
export function onlyRateOf(domains: Iterable<Domain>): number {
  const rates = new Set<number>()
  for (const { rate, samplerRates, interfaceRates } of domains) {
    // The other interfaces of such a domain may not be sampled at all.
    if (interfaceRates.size > 0) return 0
    if (rate > 0) rates.add(rate)
    for (const one of samplerRates.values()) rates.add(one)
  }
  return rates.size === 1 ? rates.values().next().value! : 0
}

/**
 * The rate of a sampler that the flow's own domain does not know; 0 if there is none, or if others differ. IOS XE announces its samplers in a
 * domain without flows; a domain with flows is asked only if there is no such one.
 */
export function samplerRateOf(domains: Iterable<Domain>, sampler: number): number {
  const [silent, others] = [new Set<number>(), new Set<number>()]
  for (const { samplerRates, hasFlows } of domains) {
    const rate = samplerRates.get(sampler)
    if (rate) (hasFlows ? others : silent).add(rate)
  }
  const rates = silent.size > 0 ? silent : others
  return rates.size === 1 ? rates.values().next().value! : 0
}

/** Limits of one template (RFC 7011 has none): a record must fit in a datagram. */
const fieldsMax = 256
const recordOctetsMax = 65_535

/** Returns the template; undefined if it has no fields, too many, or records of no or too many octets. */
export function createTemplate(id: number, scopes: number, fields: Uint32Array): Template | undefined {
  const count = fields.length / 3
  if (count === 0 || count > fieldsMax || scopes > count) return undefined
  const layout = layoutOf(fieldList(fields))
  if (layout.width === 0 || layout.width > recordOctetsMax) return undefined
  return { id, scopes, fields, layout, records: 0, compiled: undefined }
}

export function fieldList(fields: Uint32Array): TemplateRecord['fields'] {
  return Array.from({ length: fields.length / 3 }, (_, i) => [
    fields[i * 3]!,
    fields[i * 3 + 1]!,
    fields[i * 3 + 2]!,
  ])
}

/** Whether a template that was sent again is the same. */
export function isSameTemplate(a: Template, scopes: number, fields: Uint32Array): boolean {
  return (
    a.scopes === scopes && a.fields.length === fields.length && a.fields.every((one, i) => one === fields[i])
  )
}
