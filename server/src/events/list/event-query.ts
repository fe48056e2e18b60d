// Parses the query of a list of events. Pure.
import type { EventFlag, EventStatus, listRelatedEventsRoute } from '@pharos/contract/events/event'
import {
  classificationKeys,
  classifications,
  type Classification,
} from '@pharos/contract/events/classification'
import type { QueryOf } from '@pharos/contract/route'
import { PrefixError } from '../../net/prefix-error.ts'
import { parsePrefixOrAddress } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { failWith, prefixErrorAt } from '../../runtime/error.ts'
import { windowOf } from '../../timeseries/buckets.ts'
import { flagBits, statusBits } from '../relate/event-json.ts'

export const orderingKeys = [
  'start',
  'end',
  'affected_bps',
  'affected_pps',
  'id',
  'classification_key',
] as const
export type OrderingKey = (typeof orderingKeys)[number]
export type EventOrdering = readonly { readonly key: OrderingKey; readonly descending: boolean }[]

/** A parsed query; the ordering contains each key once and ends with the id. Null: any. */
export type EventQuery = {
  /** Bits of which an event must have at least one. */
  readonly flags: number | null
  readonly status: number | null
  readonly classes: readonly Classification[] | null
  readonly sources: readonly string[] | null
  readonly start: Date | null
  readonly end: Date | null
  /** True: events that have not ended. */
  readonly ongoing: boolean | null
  /** The least peak rates. */
  readonly bps: number | null
  readonly pps: number | null
  readonly network: NetworkFilter | null
  /** In lower case. */
  readonly description: string | null
  readonly search: SearchFilter | null
  /** The events of the incident that has this event. */
  readonly incident: string | null
  /** Whether the team or the detector calls it a false positive. */
  readonly falsePositive: boolean | null
  readonly ordering: EventOrdering
  readonly limit: number
  readonly offset: number
}

/** Networks that overlap the prefix, or that contain the text, in lower case. */
export type NetworkFilter = { readonly prefix: Prefix } | { readonly text: string }

/** Alternatives: an event must match at least one. */
export type SearchFilter = {
  /** In lower case: contained in the description or in the key of the source. */
  readonly text: string
  /** Classes whose label or key contains the text. */
  readonly classes: readonly Classification[]
  readonly network: NetworkFilter | null
  /** First characters of the id. */
  readonly idStart: string | null
}

/** Throws `invalid` for a window that ends before it starts, and for an almost valid network. */
export function parseEventQuery(
  query: Omit<QueryOf<typeof listRelatedEventsRoute>, 'include'> & { readonly false_positive?: boolean },
): EventQuery {
  const { start, end } = windowOf(query.start, query.end)
  return {
    flags: flagsOf(query.flag),
    status: query.status === undefined ? null : statusBits([...new Set(query.status as EventStatus[])]),
    classes: query.classification_key ?? null,
    sources: query.source_key ?? null,
    start,
    end,
    ongoing: query.ongoing ?? null,
    // A rate is never negative: the least rate of 0 excludes no event.
    bps: query.min_bps || null,
    pps: query.min_pps || null,
    network: query.affected_network === undefined ? null : parseNetwork(query.affected_network),
    description: query.description?.toLowerCase() ?? null,
    search: query.search === undefined ? null : parseSearch(query.search.toLowerCase()),
    incident: query.incident ?? null,
    falsePositive: query.false_positive ?? null,
    ordering: parseEventOrdering(query.ordering),
    limit: query.limit,
    offset: query.offset,
  }
}

/** The schema has validated the names. */
function flagsOf(flags: readonly string[] | undefined): number | null {
  return flags === undefined ? null : flagBits([...new Set(flags as readonly EventFlag[])])
}

/** An address or CIDR matches overlapping networks; other text is searched for. An almost valid prefix is rejected. */
function parseNetwork(text: string): EventQuery['network'] {
  try {
    return { prefix: parsePrefixOrAddress(text.trim()) }
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    if (!nearly.has(error.reason)) return { text: text.toLowerCase() }
    throw failWith('invalid', [prefixErrorAt(['query', 'affected_network'], error)])
  }
}

const idCharacters = /^[a-z0-9]{6,}$/
/** Text that matches only networks: it has a dot or a colon, so it is not part of a word. */
const partOfNetwork = /^[0-9a-f.:/]*[.:][0-9a-f.:/]*$/

function parseSearch(text: string): SearchFilter {
  return {
    text,
    classes: classificationKeys.filter(
      (key) => key.includes(text) || classifications[key].toLowerCase().includes(text),
    ),
    network: searchedNetwork(text.trim()),
    idStart: idCharacters.test(text) ? text : null,
  }
}

function searchedNetwork(text: string): NetworkFilter | null {
  try {
    return { prefix: parsePrefixOrAddress(text) }
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    return partOfNetwork.test(text) ? { text } : null
  }
}

const nearly: ReadonlySet<string> = new Set(['host_bits', 'mapped', 'length_range'])

/** Parses `-event__start,id` and the like, already validated by the schema. A repeated key has no effect. */
export function parseEventOrdering(text: string): EventOrdering {
  const ordering: { key: OrderingKey; descending: boolean }[] = []
  for (const word of text.split(',')) {
    const descending = word.startsWith('-')
    const key = word.replace(/^-/, '').replace(/^event__/, '') as OrderingKey
    if (!ordering.some((known) => known.key === key)) ordering.push({ key, descending })
    // Keys after the id have no effect.
    if (key === 'id') return ordering
  }
  return [...ordering, { key: 'id', descending: false }]
}
