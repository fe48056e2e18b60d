// The state of one domain of an exporter (the source id of NetFlow v9, the observation domain of IPFIX): templates,
// sampling rates and the expected sequence number.
import type { TemplateRecord } from '../../flow/flow-decoder.ts'
import type { CompiledRecords } from './compile-records.ts'
import { recordLayoutOf, slot, type RecordLayout, type SlotName } from './elements.ts'

export type FlowTemplate = {
  readonly id: number
  readonly scopes: number
  /** Three numbers a field: enterprise, element, length. */
  readonly fields: Uint32Array
  readonly layout: RecordLayout
  /** Records read so far; it is compiled once it is worth it. */
  records: number
  compiled: CompiledRecords | undefined
  /** Source port that last announced it; 0: not since the start. */
  port: number
  /** The replaced template. */
  former: FormerTemplate | undefined
}

export type FormerTemplate = Pick<FlowTemplate, 'scopes' | 'fields' | 'port'> & {
  /** When it was replaced, Unix seconds. */
  readonly until: number
}

/** A rate applies to the whole domain, to a sampler, or to the flows that an interface receives. */
export const rateScopes = ['domain', 'sampler', 'interface'] as const
export type RateScope = (typeof rateScopes)[number]

/** Times in Unix seconds. */
export type SamplingRate = {
  value: number
  /** Last. */
  announced: number
  /** Last, to the database. */
  reported: number
  /** The longest one between two announcements; 0 before the second one, undefined before the first one since a restart. */
  interval: number | undefined
}

export type ObservationDomain = {
  readonly version: 9 | 10
  readonly id: number
  readonly templates: Map<number, FlowTemplate>
  /** Ids of templates by their kind. */
  readonly flowTemplates: Set<number>
  readonly optionsTemplates: Set<number>
  /** Templates for which sets wait, with the number of sets. */
  readonly awaited: Map<number, number>
  /** By scope, and by the number of the sampler or the interface; 0 for the domain. */
  readonly rates: Readonly<Record<RateScope, Map<number, SamplingRate>>>
  readonly lookup: (sampler: number, inIf: number) => number
  /** Whether it sent flows; some domains send only options. */
  hasFlows: boolean
  sequence: number | undefined
}

/** Finds the rate of a flow for which the domain has no rate; 0 if unknown. */
type Fallback = (sampler: number, inIf: number) => number

/** Creates the state of a domain. */
export function createDomain(version: 9 | 10, id: number, fallback: Fallback): ObservationDomain {
  const domain: ObservationDomain = {
    version,
    id,
    templates: new Map(),
    flowTemplates: new Set(),
    optionsTemplates: new Set(),
    awaited: new Map(),
    rates: { domain: new Map(), sampler: new Map(), interface: new Map() },
    lookup: (sampler, inIf) => findRate(domain, sampler, inIf, fallback),
    hasFlows: false,
    sequence: undefined,
  }
  return domain
}

/**
 * Returns the rate of a flow: of its sampler, its interface, its domain, or the only sampler if the flow has no
 * sampler. 0 if unknown.
 */
function findRate({ rates }: ObservationDomain, sampler: number, inIf: number, fallback: Fallback): number {
  const own =
    (sampler !== 0 && rates.sampler.get(sampler)) || rates.interface.get(inIf) || rates.domain.get(0)
  if (own) return own.value
  if (sampler === 0 && rates.sampler.size === 1 && rates.interface.size === 0) {
    return rates.sampler.values().next().value!.value
  }
  return fallback(sampler, inIf)
}

/** The ids of the templates of this kind: of options or of flows. */
export const idsOf = (domain: ObservationDomain, isOptions: boolean): Set<number> =>
  isOptions ? domain.optionsTemplates : domain.flowTemplates

/** Returns the scope of the rates in the records of an options template; undefined without rates. */
export function rateScopeOf({ scopes, layout: { places } }: FlowTemplate): RateScope | undefined {
  const has = (name: SlotName): boolean => places[slot[name]]! >= 0
  if (scopes === 0 || !rateSlots.some(has)) return undefined
  return has('sampler') ? 'sampler' : has('inIf') ? 'interface' : 'domain'
}

const rateSlots = ['rate', 'interval', 'size', 'probability'] as const

/** Limits of one template (RFC 7011 sets no limit): a record must fit in a datagram. */
const fieldsMax = 256
const recordOctetsMax = 65_535

/** Returns the template; undefined if it has no fields, too many, or records of no or too many octets. */
export function createTemplate(id: number, scopes: number, fields: Uint32Array): FlowTemplate | undefined {
  const count = fields.length / 3
  if (count === 0 || count > fieldsMax || scopes > count) return undefined
  const layout = recordLayoutOf(fieldList(fields))
  if (layout.width === 0 || layout.width > recordOctetsMax) return undefined
  return { id, scopes, fields, layout, records: 0, compiled: undefined, port: 0, former: undefined }
}

type Origin = { readonly address: string; readonly port: number }

/** The exporter in records of its templates and rates, and the port if it is part of their key. */
export const recordAddressOf = ({ address, port }: Origin): { exporter: string; port?: number } =>
  port === 0 ? { exporter: address } : { exporter: address, port }

/** The record of a template in an exporter's domain. */
export const templateRecord = (
  exporter: Origin,
  { version, id: domain }: ObservationDomain,
  { id, scopes, fields }: FlowTemplate,
): TemplateRecord => ({
  ...recordAddressOf(exporter),
  version,
  domain,
  id,
  scopes,
  fields: fieldList(fields),
})

function fieldList(fields: Uint32Array): TemplateRecord['fields'] {
  return Array.from({ length: fields.length / 3 }, (_, i) => [
    fields[i * 3]!,
    fields[i * 3 + 1]!,
    fields[i * 3 + 2]!,
  ])
}

/** Whether a template that was sent again is the same. */
export function isSameTemplate(
  a: Pick<FlowTemplate, 'scopes' | 'fields'>,
  scopes: number,
  fields: Uint32Array,
): boolean {
  return (
    a.scopes === scopes && a.fields.length === fields.length && a.fields.every((one, i) => one === fields[i])
  )
}
