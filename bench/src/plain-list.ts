// The related list in plain SQL: the straightforward query over the tables of events and relationships, not written for scale.
// It is the peer of P1 and P2, and the API's answers are compared with it.
import assert from 'node:assert/strict'
import { eventStatuses } from '@pharos/contract/events/event'
import {
  parseEventQuery,
  type EventQuery,
  type SearchFilter,
} from '../../server/src/events/list/event-query.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import type { Statement } from './statement.ts'

export type ListQuery = Parameters<typeof parseEventQuery>[0]

const columns = {
  start: 'e.start_at',
  end: 'e.end_at',
  affected_bps: 'e.affected_bps',
  affected_pps: 'e.affected_pps',
  id: 'e.id',
  classification_key: 'e.classification_key',
}

/** The contract's flags in its order: a bit of the filter each. */
const flagNames = ['INCOMING', 'OUTGOING', 'INTERNAL', 'IPV6', 'CARPET_BOMB', 'MULTI_VECTOR', 'BLACKHOLED']

/** One statement for a page, its relationships and the count of all pages. */
export function plainList(team: unknown, query: ListQuery): Statement {
  const parsed = parseEventQuery(query)
  const parameters: unknown[] = []
  const add = (value: unknown): string => `$${parameters.push(value)}`
  const ordering = parsed.ordering
    .map(({ key, descending }) => `${columns[key]} ${descending ? 'desc' : 'asc'} nulls last`)
    .join(', ')
  const teamId = add(team)
  const sql = `
    with related as (
      select e.* from events e
      where e.id in (select r.event_id from event_relationships r where r.team_id = ${teamId})
        ${conditionsOf(parsed, add).join(' ')}),
    page as (
      select e.* from related e order by ${ordering} limit ${add(parsed.limit)} offset ${add(parsed.offset)})
    select (select count(*) from related) as count, e.*, (
        select json_agg(json_build_object('id', r.id, 'match_resouce_name', r.match_resource_name,
          'match_resource_link', r.match_resource_link, 'match_resource', r.match_resource,
          'match_type', r.match_type, 'match_value', r.match_value) order by r.id)
        from event_relationships r where r.event_id = e.id and r.team_id = ${teamId}) as relationships
    from page e order by ${ordering}`
  return { sql, parameters }
}

function conditionsOf(query: EventQuery, add: (value: unknown) => string): string[] {
  const { flags, start, end, network, description, search } = query
  const conditions: string[] = []
  if (query.status !== null) {
    const names = eventStatuses.filter((_, bit) => query.status! & (1 << bit))
    conditions.push(`and e.status && ${add(`{${names.join(',')}}`)}::text[]`)
  }
  if (query.classes) conditions.push(`and e.classification_key = any(${add(query.classes)}::text[])`)
  if (query.sources) conditions.push(`and e.source_key = any(${add(query.sources)}::text[])`)
  if (query.bps !== null) conditions.push(`and e.affected_bps >= ${add(query.bps)}::bigint`)
  if (query.pps !== null) conditions.push(`and e.affected_pps >= ${add(query.pps)}::bigint`)
  if (query.ongoing !== null) conditions.push(`and e.end_at is ${query.ongoing ? '' : 'not'} null`)
  if (search !== null) conditions.push(`and (${searchOf(search, add).join(' or ')})`)
  if (flags !== null) {
    const names = flagNames.filter((_, bit) => flags & (1 << bit))
    conditions.push(`and e.flags && ${add(`{${names.join(',')}}`)}::text[]`)
  }
  if (start) conditions.push(`and (e.end_at is null or e.end_at >= ${add(start)}::timestamptz)`)
  if (end) conditions.push(`and e.start_at <= ${add(end)}::timestamptz`)
  if (network && 'prefix' in network)
    conditions.push(`and e.affected_network && ${add(network.prefix)}::inet`)
  if (description !== null) conditions.push(`and e.description ilike ${add(`%${description}%`)}`)
  return conditions
}

function searchOf(
  { text, classes, network, idStart }: SearchFilter,
  add: (value: unknown) => string,
): string[] {
  const part = add(`%${text}%`)
  return [
    `e.description ilike ${part} or e.source_key ilike ${part} or e.classification_key = any(${add(classes)}::text[])`,
    ...(idStart === null ? [] : [`e.id like ${add(`${idStart}%`)}`]),
    ...(network === null
      ? []
      : 'prefix' in network
        ? [`e.affected_network && ${add(network.prefix)}::inet`]
        : [`e.affected_network::text like ${add(`%${network.text}%`)}`]),
  ]
}

type Page = { readonly count: number; readonly results: readonly { id: string; relationships: unknown[] }[] }

/** Throws if the API returns another page than the plain statement: its events, their order, relationships, or count. */
export async function requireSameList(
  postgres: Postgres,
  url: string,
  access: string,
  teamId: number,
  query: ListQuery,
): Promise<void> {
  const client = await postgres.directConnection()
  const { sql, parameters } = plainList(teamId, query)
  const { rows } = await client.query<{ count: number; id: string; relationships: unknown[] }>(sql, [
    ...parameters,
  ])
  await client.end()
  const connection = await HttpConnection.open(url)
  const answer = await ask(connection, renderRequest(new URL(url).host, listRequest(query, access)))
  connection.close()
  if (answer.status !== 200) throw new Error(`list: ${answer.status} ${answer.body}`)
  const page = JSON.parse(answer.body) as Page
  assert.deepEqual(
    page.results.map(({ id, relationships }) => ({ id, relationships })),
    rows.map(({ id, relationships }) => ({ id, relationships })),
  )
  // Beyond the last page the plain statement returns no row, and so no count.
  if (rows[0]) assert.equal(page.count, rows[0].count)
}

/** A GET of the list. */
export function listRequest(query: ListQuery, access: string) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one))
  }
  const path = `/v3/lighthouse/security/events/related?${search}`
  return { method: 'GET', path, authorization: `Bearer ${access}` }
}
