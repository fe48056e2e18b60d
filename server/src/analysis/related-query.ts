// Parses the query of the related list. Pure.
import type { EventFlag, listRelatedEventsRoute } from '@pharos/contract/analysis'
import type { QueryOf } from '@pharos/contract/route'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress } from '../net/prefix.ts'
import type { Prefix } from '../net/prefix.ts'
import { failWith, invalid, prefixErrorAt } from '../runtime/error.ts'
import { flagBits } from './event-json.ts'

export const orderingKeys = [
  'start',
  'end',
  'affected_bps',
  'affected_pps',
  'id',
  'classification_key',
] as const
export type OrderingKey = (typeof orderingKeys)[number]
export type Ordering = readonly { readonly key: OrderingKey; readonly descending: boolean }[]

/** A parsed query; the ordering contains each key once and ends with the id. */
export type RelatedQuery = {
  /** Bits of which an event must have at least one; null for any. */
  readonly flags: number | null
  readonly start: Date | null
  readonly end: Date | null
  readonly network: { readonly prefix: Prefix } | { readonly text: string } | null
  readonly description: string | null
  readonly ordering: Ordering
  readonly limit: number
  readonly offset: number
}

/** Throws `invalid` for a window that ends before it starts, and for an almost valid network. */
export function parseRelatedQuery(query: QueryOf<typeof listRelatedEventsRoute>): RelatedQuery {
  const start = query.start === undefined ? null : new Date(query.start)
  const end = query.end === undefined ? null : new Date(query.end)
  if (start && end && end < start) {
    throw invalid(['query', 'end'], 'beforeStart', { start: query.start })
  }
  return {
    flags: flagsOf(query.flag),
    start,
    end,
    network: query.affected_network === undefined ? null : parseNetwork(query.affected_network),
    description: query.description ?? null,
    ordering: parseOrdering(query.ordering),
    limit: query.limit,
    offset: query.offset,
  }
}

/** The schema has validated the names. */
function flagsOf(flags: readonly string[] | undefined): number | null {
  return flags === undefined ? null : flagBits([...new Set(flags as readonly EventFlag[])])
}

/** An address or CIDR matches overlapping networks; other text is searched for. An almost valid prefix is rejected. */
function parseNetwork(text: string): RelatedQuery['network'] {
  try {
    return { prefix: parsePrefixOrAddress(text.trim()) }
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    if (!nearly.has(error.reason)) return { text }
    throw failWith('invalid', [prefixErrorAt(['query', 'affected_network'], error)])
  }
}

const nearly: ReadonlySet<string> = new Set(['host_bits', 'mapped', 'length_range'])

/** Parses `-event__start,id` and the like, already validated by the schema. A repeated key has no effect. */
export function parseOrdering(text: string): Ordering {
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
