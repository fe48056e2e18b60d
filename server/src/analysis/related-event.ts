// The related list and the detail of one event: what a request asks for, and the answers, which are stored texts joined.
import type { EventFlag, listRelatedEventsRoute } from '@pharos/contract/analysis'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress } from '../net/prefix.ts'
import type { Prefix } from '../net/prefix.ts'
import { invalid, notFound } from '../runtime/error.ts'
import type { Actor } from '../runtime/operation.ts'
import { flagBits } from './record.ts'
import { findParsedData, findRelatedEvent, listRelated } from './related-event.store.ts'

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

/** What a request asks for, each key of the ordering once and the id always last. */
export type RelatedQuery = {
  /** Bits of which an event has at least one; null for any. */
  readonly flags: number | null
  readonly start: Date | null
  readonly end: Date | null
  readonly network: { readonly prefix: Prefix } | { readonly text: string } | null
  readonly description: string | null
  readonly ordering: Ordering
  readonly limit: number
  readonly offset: number
}

export type RelatedDeps = { readonly postgres: Postgres }
type Reader = { readonly actor: Pick<Actor, 'teamId' | 'isStaff'> }

/** A page as JSON text. */
export type RelatedPage = { readonly raw: string; readonly count: number }

export async function listTeamEvents(
  { postgres }: RelatedDeps,
  { actor }: Reader,
  query: QueryOf<typeof listRelatedEventsRoute>,
): Promise<RelatedPage> {
  const { results, count } = await listRelated(postgres, actor.teamId, parseRelatedQuery(query))
  return { raw: `{"results":[${results}],"count":${count}}`, count }
}

/** The detail as JSON text; not_found unless the event concerns the team. Staff get the parsed data of the whole event. */
export async function getTeamEvent(
  { postgres }: RelatedDeps,
  { actor: { teamId, isStaff } }: Reader,
  eventId: string,
): Promise<{ readonly raw: string }> {
  const found = await findRelatedEvent(postgres, teamId, eventId)
  if (!found) throw notFound('event')
  const whole = isStaff ? await findParsedData(postgres.owner, eventId) : undefined
  const attachment = `"has_attachment":${found.has_attachment}`
  return { raw: `${found.record},"parsed_data":${whole ?? found.parsed_data},${attachment}}` }
}

/** Throws `invalid` on what the schema cannot see: a window that ends before it starts, a network that is nearly one. */
export function parseRelatedQuery(query: QueryOf<typeof listRelatedEventsRoute>): RelatedQuery {
  const start = query.start === undefined ? null : new Date(query.start)
  const end = query.end === undefined ? null : new Date(query.end)
  if (start && end && end < start) {
    throw invalid(['query', 'end'], 'must not be before start', 'range', { start: query.start })
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

/** The schema has checked that they are flags. */
function flagsOf(flags: readonly string[] | undefined): number | null {
  return flags === undefined ? null : flagBits([...new Set(flags as readonly EventFlag[])])
}

/** An address or CIDR means overlap, other text is searched for. What is nearly a prefix is neither. */
function parseNetwork(text: string): RelatedQuery['network'] {
  try {
    return { prefix: parsePrefixOrAddress(text.trim()) }
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    if (!nearly.has(error.reason)) return { text }
    const ctx = error.canonical === undefined ? undefined : { canonical: error.canonical }
    throw invalid(['query', 'affected_network'], error.message, error.reason, ctx)
  }
}

const nearly: ReadonlySet<string> = new Set(['host_bits', 'mapped', 'length_range'])

/** `-event__start,id` and the like, as the schema has checked it. A key that was named before decides nothing more. */
export function parseOrdering(text: string): Ordering {
  const ordering: { key: OrderingKey; descending: boolean }[] = []
  for (const word of text.split(',')) {
    const descending = word.startsWith('-')
    const key = word.replace(/^-/, '').replace(/^event__/, '') as OrderingKey
    if (!ordering.some((known) => known.key === key)) ordering.push({ key, descending })
    // Nothing after the id can decide.
    if (key === 'id') return ordering
  }
  return [...ordering, { key: 'id', descending: false }]
}
