// The keys of flows and of security events for a query builder, with the values that complete an input.
import { eventFlags, eventGroupings, eventStatuses, peakBands } from '@pharos/contract/events/event'
import { classificationKeys, classificationLabel } from '@pharos/contract/events/classification'
import {
  filterValuesMax,
  type FilterDataset,
  type FilterKey,
  type FilterValueChoice,
  type getFilterKeysRoute,
} from '@pharos/contract/events/filter-key'
import { flowKeyNames, flowKeys, type FlowKey } from '@pharos/contract/flow/flow-key'
import type { QueryOf } from '@pharos/contract/route'
import type { Operation } from '../../operation/operation.ts'
import { Failure, invalid } from '../../runtime/error.ts'
import { listEventSources } from '../relate/facet.store.ts'
import { asFlowFailure } from '../../flow/flow-failure.ts'
import {
  asnKeys,
  keyLabel,
  keyValue,
  knownProtocols,
  knownServices,
  tcpFlagNames,
  type FlowNames,
} from '../../flow/flow-label.ts'
import { listAsNames, readFlowNames } from '../../flow/flow-names.ts'
import { valuesStatement } from '../../flow/flow-query.ts'
import type { FlowDeps } from '../../flow/read-flows.ts'

type EventKey = Omit<FilterKey, 'dataset' | 'label'> & { readonly label: string }

const equality: FilterKey['operators'] = ['eq', 'in']
const choices = (values: readonly string[], labelOf: (value: string) => string): FilterValueChoice[] =>
  values.map((value) => ({ value, label: labelOf(value) }))

/** `INCOMING` becomes `Incoming`. */
const words = (code: string): string => {
  const text = code.toLowerCase().replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const isGroupable = (key: string): boolean => (eventGroupings as readonly string[]).includes(key)

/** Filters have the names of the parameters of the lists; their repetition means `in`. */
const eventKeys: readonly EventKey[] = (
  [
    ['flag', 'Property', 'a property of the event', 'enum', equality, choices(eventFlags, words)],
    [
      'status',
      'Status',
      'a state of the event, its mitigation or its review',
      'enum',
      equality,
      choices(eventStatuses, words),
    ],
    [
      'classification_key',
      'Kind of attack',
      'the class of the event',
      'enum',
      equality,
      choices(classificationKeys, classificationLabel),
    ],
    ['source_key', 'Detector', 'the key of the source that reported it', 'string', equality],
    [
      'affected_network',
      'Affected network',
      'an address or CIDR that the network overlaps, or a part of its text',
      'cidr',
      ['within', 'contains'],
    ],
    ['start', 'From', 'events that were not over at this time', 'datetime', ['gt']],
    ['end', 'Until', 'events that had begun at this time', 'datetime', ['lt']],
    [
      'ongoing',
      'Ongoing',
      'whether the event has not ended',
      'enum',
      ['eq'],
      choices(['true', 'false'], words),
    ],
    ['min_bps', 'Peak in bit/s', 'the peak was at least this many bits per second', 'integer', ['gt']],
    ['min_pps', 'Peak in packets/s', 'the peak was at least this many packets per second', 'integer', ['gt']],
    ['description', 'Description', 'a part of the description', 'string', ['contains']],
    ['search', 'Search', 'a part of the description, class, source, network or id', 'string', ['contains']],
    [
      'source_country',
      'Source country',
      'country of the place of the detection; only for grouping',
      'country',
      [],
    ],
    [
      'peak_bps',
      'Peak rate',
      'bands of the peak rate; only for grouping',
      'enum',
      [],
      choices(Object.keys(peakBands), words),
    ],
  ] as const
).map(([key, label, description, type, operators, values]) => ({
  key,
  label,
  description,
  type,
  operators: [...operators],
  groupable: isGroupable(key),
  ...(values ? { values: [...values] } : {}),
}))

const lists: Partial<Readonly<Record<FlowKey, string>>> = {
  prefix: '/v3/inventory/prefixes',
  device: '/v3/inventory/devices',
  interface: '/v3/inventory/ports',
}

const noNames: FlowNames = { prefixes: [], devices: [], ports: [], asns: new Map() }
const labelled = (key: FlowKey, values: readonly string[]): FilterValueChoice[] =>
  choices(values, (value) => keyLabel(key, value, noNames))

const closed: Partial<Readonly<Record<FlowKey, readonly FilterValueChoice[]>>> = {
  direction: labelled('direction', ['in', 'out', 'internal']),
  protocol: labelled('protocol', knownProtocols),
  family: labelled('family', ['ipv4', 'ipv6']),
  fragment: labelled('fragment', ['no', 'yes']),
  tcp_flags: choices(tcpFlagNames, (value) => value),
}

const keysOfFlows: readonly FilterKey[] = flowKeyNames.map((key) => {
  const { label, description, type, operators } = flowKeys[key]
  return {
    key,
    label,
    description,
    dataset: 'flows',
    type,
    operators: [...operators],
    groupable: true,
    ...(closed[key] ? { values: [...closed[key]] } : {}),
    ...(lists[key] ? { values_from: lists[key] } : {}),
  }
})

const allKeys: Readonly<Record<FilterDataset, readonly FilterKey[]>> = {
  flows: keysOfFlows,
  events: eventKeys.map((key) => ({
    ...key,
    dataset: 'events',
    ...(key.key === 'affected_network' && { values_from: lists.prefix! }),
  })),
}

/** Returns the keys, and with `key` its values. Without the flow store there are no values of traffic. */
export async function getFilterKeys(
  deps: FlowDeps,
  { actor }: Pick<Operation, 'actor'>,
  { dataset = ['flows', 'events'], key, prefix, ordering, limit, offset }: QueryOf<typeof getFilterKeysRoute>,
): Promise<{ results: FilterKey[]; count: number }> {
  if (prefix !== undefined && key === undefined) throw invalid(['query', 'prefix'], 'prefixWithoutKey')
  const keys = (['flows', 'events'] as const)
    .filter((one) => dataset.includes(one))
    .flatMap((one) => allKeys[one])
  const found = key === undefined ? keys : keys.filter((one) => one.key === key)
  if (found.length === 0) throw invalid(['query', 'key'], 'filterKey', { valid: keys.map((one) => one.key) })
  const page = found.toSorted(orderOf(ordering)).slice(offset, offset + limit)
  if (key === undefined) return { results: page, count: found.length }
  const results = await Promise.all(page.map((one) => complete(deps, actor.teamId, one, prefix ?? '')))
  return { results, count: found.length }
}

/** Compares by a comma list of fields; `-` before a field means descending. */
function orderOf(ordering: string): (a: FilterKey, b: FilterKey) => number {
  const fields = ordering.split(',').map((field) => field.trim())
  return (a, b) => {
    for (const field of fields) {
      const name = field.replace(/^-/, '') as 'dataset' | 'key' | 'label'
      const order = a[name] < b[name] ? -1 : Number(a[name] > b[name])
      if (order !== 0) return field.startsWith('-') ? -order : order
    }
    return a.key < b.key ? -1 : 1
  }
}

async function complete(deps: FlowDeps, teamId: number, key: FilterKey, prefix: string): Promise<FilterKey> {
  const known =
    key.dataset === 'flows'
      ? await valuesOf(deps, teamId, key.key as FlowKey)
      : await valuesOfEvents(deps, teamId, key)
  const begun = prefix.toLowerCase()
  const fits = ({ value, label }: FilterValueChoice): boolean =>
    value.toLowerCase().startsWith(begun) || label.toLowerCase().includes(begun)
  const values = new Map(known.filter(fits).map((one) => [one.value, one]))
  return { ...key, values: [...values.values()].slice(0, filterValuesMax) }
}

/** Prefixes of the team, the sources of its events, or a closed list. */
async function valuesOfEvents(
  { db }: FlowDeps,
  teamId: number,
  key: FilterKey,
): Promise<FilterValueChoice[]> {
  const isItself = (value: string): string => value
  if (key.key === 'source_key') return choices(await listEventSources(db, teamId), isItself)
  if (key.key !== 'affected_network') return key.values ?? []
  const { prefixes } = await readFlowNames(db, { teamId }, ['prefix'])
  return choices(
    prefixes.map(({ prefix }) => prefix),
    isItself,
  )
}

/** Values of the inventory, values of the traffic, and known names, in this order. */
async function valuesOf(deps: FlowDeps, teamId: number, key: FlowKey): Promise<FilterValueChoice[]> {
  if (closed[key]) return [...closed[key]]
  const scope = { teamId }
  const names = await readFlowNames(deps.db, scope, [key])
  if (key === 'prefix') return names.prefixes.map(({ prefix }) => ({ value: prefix, label: prefix }))
  if (key === 'device' || key === 'interface')
    return (key === 'device' ? names.devices : names.ports).map(({ id, name }) => ({
      value: String(id),
      label: name,
    }))
  const seen = await valuesOfTraffic(deps, teamId, key, names)
  const services = key === 'service_port' || key.endsWith('_port') ? knownServices : []
  return [...seen, ...services.map(([port]) => choiceOf(key, String(port), names))]
}

const choiceOf = (key: FlowKey, value: string, names: FlowNames): FilterValueChoice => ({
  value,
  label: keyLabel(key, value, names),
})

const dayMs = 86_400_000

async function valuesOfTraffic(
  { db, flowStore, now }: FlowDeps,
  teamId: number,
  key: FlowKey,
  names: FlowNames,
): Promise<FilterValueChoice[]> {
  const end = now()
  const window = { start: new Date(end.getTime() - dayMs), end }
  const { sql, params, limits } = valuesStatement({ teamId }, key, names, window)
  try {
    const rows = await flowStore.query<{ stored: string }>(sql, params, limits)
    const values = rows.map(({ stored }) => keyValue(key, stored, names))
    const named = asnKeys.has(key) ? { ...names, asns: await listAsNames(db, values) } : names
    return values.map((value) => choiceOf(key, value, named))
  } catch (error) {
    if (asFlowFailure(error) instanceof Failure) return []
    throw error
  }
}
