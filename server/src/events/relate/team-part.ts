// The part of an event for one team. If the event affects networks of others, all data about these networks, and all
// data that may name them, is omitted. Pure. The part is built from named fields, never by removing some: a new field
// of events is visible to no team until it is added here.
import type { ParsedData } from '@pharos/contract/events/event'
import { classificationLabel, isClassification } from '@pharos/contract/events/classification'
import { createPrefixMap } from '../../net/prefix-map.ts'
import {
  comparePrefixes,
  covers,
  hostPrefix,
  lengthOf,
  networkOf,
  overlaps,
  parsePrefixOrAddress,
  prefixAround,
} from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { largestFirst, networksMax, networksOf } from '../event/event.ts'
import type { Event } from '../event/event.ts'
import type { Json } from '../event/json.ts'
import { topsOf } from '../event/packets.ts'

/**
 * Returns the event itself if all of its networks belong to the team. Otherwise its part: networks, address family and
 * samples of the team's own networks, without the raw source and without the detector's own texts, which may contain
 * any network. Times, status, classification, rates and totals apply to the whole event: no detector reports them per
 * network.
 */
export function teamPart(event: Event, held: readonly Prefix[]): Event {
  const networks = networksOf(event)
  const own = ownNetworks(networks, held)
  if (own === 'all') return event
  const { samples: _, ...mergeState } = event.mergeState
  return {
    ...event,
    mergeState,
    flags: event.flags.filter((flag) => flag !== 'IPV6' || own.some((network) => network.includes(':'))),
    affectedNetwork: own[0] ?? null,
    description: describe(event, own),
    sourceEventId: '',
    sourceResourceId: '',
    sourceLocationId: unlessStated(event, 'sourceLocationId'),
    sourceLocation: unlessStated(event, 'sourceLocation'),
    parsedData: cutParsedData(event, networks, own),
    hasAttachment: false,
    sourceDelivery: null,
    sourceReceived: null,
  }
}

/** The configured text; empty if it came from a delivery. */
function unlessStated(event: Event, name: 'sourceLocationId' | 'sourceLocation'): string {
  return event.mergeState.stamps[name] ? '' : event[name]
}

/** The team's part of the networks, largest first. */
function ownNetworks(networks: readonly Prefix[], held: readonly Prefix[]): readonly Prefix[] | 'all' {
  // Nearly every event is on one address of one team: avoids building a map for it.
  const [first] = networks
  if (networks.length === 1 && held.some((prefix) => covers(prefix, first!))) return 'all'
  const map = createPrefixMap(held.map((prefix) => [prefix, prefix] as const))
  const parts = networks.map((network) =>
    map.covering(network).length > 0 ? [network] : aggregate(map.coveredBy(network)),
  )
  if (parts.every((part, at) => part[0] === networks[at])) return 'all'
  return [...new Set(parts.flat())].toSorted(largestFirst).slice(0, networksMax)
}

/** The smallest set of prefixes with the same addresses: two halves become their parent. */
function aggregate(prefixes: readonly Prefix[]): Prefix[] {
  const kept: Prefix[] = []
  for (const prefix of prefixes.toSorted(comparePrefixes)) {
    const last = kept.at(-1)
    if (last !== undefined && covers(last, prefix)) continue
    kept.push(prefix)
    for (let whole = wholeOf(kept); whole !== undefined; whole = wholeOf(kept)) kept.splice(-2, 2, whole)
  }
  return kept
}

/** The parent of the last two prefixes, if they are its halves. */
function wholeOf(prefixes: readonly Prefix[]): Prefix | undefined {
  const [a, b] = prefixes.slice(-2)
  if (a === undefined || b === undefined || lengthOf(a) !== lengthOf(b)) return undefined
  const whole = prefixAround(networkOf(a), lengthOf(a) - 1)
  return covers(whole, b) ? whole : undefined
}

function describe({ classificationKey }: Event, own: readonly Prefix[]): string {
  const label = isClassification(classificationKey) ? classificationLabel(classificationKey) : 'Attack'
  const more = own.length > 1 ? ` and ${own.length - 1} more` : ''
  return `${label} on ${own[0]}${more}`
}

function cutParsedData(
  { parsedData: whole, mergeState }: Event,
  networks: readonly Prefix[],
  own: readonly Prefix[],
): ParsedData {
  const isOwn = (prefix: Prefix) => own.some((network) => covers(network, prefix))
  const isForeign = (prefix: Prefix) =>
    !isOwn(prefix) && networks.some((network) => overlaps(network, prefix))
  const samples = (mergeState.samples ?? []).filter(
    ({ target, source }) => isOwn(hostPrefix(target)) && !isForeign(hostPrefix(source)),
  )
  const rules = whole.mitigation?.rules?.filter((rule) => isOwnRule(rule as Json, isOwn, isForeign)) ?? []
  const stated = whole.thresholds ?? {}
  const thresholds = Object.fromEntries(
    shownThresholds.flatMap((name) => (typeof stated[name] === 'number' ? [[name, stated[name]]] : [])),
  )
  const mitigation = {
    ...(whole.mitigation?.actions ? { actions: whole.mitigation.actions } : {}),
    ...(rules.length > 0 ? { rules } : {}),
  }
  const { vectors, protocols, peaks, timeline, total_bytes, total_packets } = whole
  return withoutEmpty({
    vectors,
    protocols: protocols?.filter((protocol) => protocolName.test(protocol)),
    ...topsOf(samples),
    thresholds,
    peaks,
    timeline,
    total_bytes,
    total_packets,
    mitigation,
    networks: own.length > 1 ? [...own] : undefined,
  })
}

/** Of the event as a whole. Others may be texts with addresses. */
const shownThresholds = ['bps', 'pps', 'lower_bps', 'lower_pps', 'samples', 'leading_share'] as const

const protocolName = /^[a-z0-9-]*$/

/**
 * Text without digits and colons contains no address; any other text in a rule must be a prefix that the team may see.
 */
const plainWords = /^[A-Za-z_ ,-]*$/

function isOwnRule(
  rule: Json,
  isOwn: (prefix: Prefix) => boolean,
  isForeign: (prefix: Prefix) => boolean,
): boolean {
  const prefixes: Prefix[] = []
  const isReadable = textsOf(rule).every((text) => {
    if (plainWords.test(text)) return true
    const prefix = prefixOf(text)
    if (prefix !== undefined) prefixes.push(prefix)
    return prefix !== undefined
  })
  return isReadable && prefixes.some(isOwn) && !prefixes.some(isForeign)
}

function prefixOf(text: string): Prefix | undefined {
  try {
    return parsePrefixOrAddress(text)
  } catch {
    return undefined
  }
}

/** All texts of a JSON value, including keys. */
function textsOf(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return Object.entries(value).flatMap(([key, field]) => [key, ...textsOf(field as Json)])
}

function withoutEmpty(data: {
  readonly [name in keyof ParsedData]: ParsedData[name] | undefined
}): ParsedData {
  const isEmpty = (value: unknown) =>
    value === undefined || (typeof value === 'object' && Object.keys(value as object).length === 0)
  return Object.fromEntries(Object.entries(data).filter(([, value]) => !isEmpty(value)))
}
