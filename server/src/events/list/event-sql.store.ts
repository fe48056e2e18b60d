// The parts that all statements of the related list share: the ordering, the filter, the outer statement. SQL fragments
// only; event-page.store.ts combines them.
import { sql, type RawBuilder } from 'kysely'
import { aroundNetwork, networkMark } from '../relate/facet.ts'
import type { EventOrdering, OrderingKey, EventQuery } from './event-query.ts'

export type Sql = RawBuilder<unknown>

/** `results`: the elements as JSON, joined by commas. */
export type EventRows = { readonly results: string; readonly count: number }

/** The events that the counts cover: of the team in a window, of some facets or of all. Null: any. */
export type EventScope = {
  readonly teamId: number
  readonly start: Date | null
  readonly end: Date | null
  /** Whether only the facets in the CTE `facets` are meant. */
  readonly byFacet: boolean
}

const columns: Readonly<Record<OrderingKey, string>> = {
  start: 'start_at',
  end: 'end_at',
  affected_bps: 'affected_bps',
  affected_pps: 'affected_pps',
  id: 'event_id',
  classification_key: 'classification_key',
}

export function columnOf(key: OrderingKey): Sql {
  return sql.ref(columns[key])
}

/** `end` is null while an event has not ended, which sorts last in both directions. */
export function orderEventsBy(ordering: EventOrdering): Sql {
  return sql.join(
    ordering.map(({ key, descending }) =>
      sql.raw(`${columns[key]} ${descending ? 'desc' : 'asc'}${key === 'end' ? ' nulls last' : ''}`),
    ),
  )
}

/**
 * For ranges in which either all events have ended or all are ongoing: "nulls last" would only prevent a backward index
 * scan.
 */
export function orderByWithoutNulls(ordering: EventOrdering): Sql {
  return sql.join(
    ordering.map(({ key, descending }) => sql.raw(`${columns[key]} ${descending ? 'desc' : 'asc'}`)),
  )
}

/** Only the columns of the ordering, so that an index-only scan is possible. */
export function sortColumns(ordering: EventOrdering): Sql {
  return sql.raw(ordering.map(({ key }) => columns[key]).join(', '))
}

export function all(...conditions: readonly (Sql | null | boolean)[]): Sql {
  const given = conditions.filter((condition) => typeof condition === 'object' && condition !== null)
  return given.length === 0 ? sql`true` : sql.join(given, sql` and `)
}

/** For walks that check the facet event by event. The sum keeps PostgreSQL from using the index by facet instead. */
export function hasFacet({ byFacet }: EventScope): Sql | null {
  return byFacet ? isFacetOf('facets') : null
}

/**
 * Events of the facet `f.id` that started within the range. Compared as rows, so that only the index by facet matches: for
 * equal facets, PostgreSQL may read every event that started in the range, again for each facet.
 */
export function ofFacet(from: Sql | null, until: Sql | null, operator = sql`<=`): Sql {
  return sql`(facet, start_at) >= (f.id, ${from ?? sql`'-infinity'`})
    and (facet, start_at) ${operator} (f.id, ${until ?? sql`'infinity'`})`
}

/** `cte`: a CTE with the ids of facets. */
export function isFacetOf(cte: string): Sql {
  return sql`facet + 0 = any(array(select id from ${sql.ref(cte)}))`
}

export function startsInTime({ end }: EventScope): Sql | null {
  return end === null ? null : sql`start_at <= ${end}::timestamptz`
}

export function endsInTime({ start }: EventScope): Sql | null {
  return start === null ? null : sql`(end_at >= ${start}::timestamptz or end_at is null)`
}

/** Whether the query has a filter that is decided for each facet. */
export const isByFacet = ({ flags, status, classes, sources }: FacetQuery): boolean =>
  flags !== null || status !== null || classes !== null || sources !== null

export type FacetQuery = Pick<
  EventQuery,
  'flags' | 'status' | 'classes' | 'sources' | 'description' | 'search'
>

/**
 * CTE `name`: the facets of the team, or of several, that pass the filters by flags, status, class and source, and the
 * condition.
 */
export function facetsCte(
  name: string,
  teams: number | readonly number[] | null,
  query: FacetQuery,
  condition: Sql | null = null,
): Sql {
  const { flags, status, classes, sources } = query
  return sql`${sql.ref(name)} as materialized (
    select id from team_event_facets where ${all(
      teams === null || sql`team_id = any(${[teams].flat()}::integer[])`,
      flags !== null && sql`flags & ${flags}::integer <> 0`,
      status !== null && sql`status & ${status}::integer <> 0`,
      classes && sql`classification_key = any(${classes}::text[])`,
      sources && sql`source_key = any(${sources}::text[])`,
      condition,
    )})`
}

/** Facets of which every event passes the filter by text. */
export function hasText({ description, search }: FacetQuery): Sql | null {
  if (description !== null) return inEveryDescription(description)
  if (search === null) return null
  const { text, classes } = search
  return sql`(${inEveryDescription(text)} or classification_key = any(${classes}::text[])
    or strpos(lower(source_key), ${text}) > 0)`
}

/** Facets of which some events may have the text in their description, and others not. */
export function mayHaveText(text: string): Sql {
  const { before, after } = aroundNetwork(text)
  return sql`(description is null or strpos(description, ${networkMark}) > 0 and exists (
      select from unnest(${before}::text[], ${after}::text[]) as around(before, after)
      where right(split_part(description, ${networkMark}, 1), length(before)) = before
        and left(split_part(description, ${networkMark}, 2), length(after)) = after))`
}

function inEveryDescription(text: string): Sql {
  return text.includes(networkMark) ? sql`false` : sql`coalesce(strpos(description, ${text}) > 0, false)`
}

export const element = sql`record || ',"relationships":' || relationships || '}' as element`

/** The statement around `page`, a CTE with the rows of the page. The JSON texts are fetched by key, one by one. */
export function answer(
  teamId: number,
  ordering: EventOrdering,
  ctes: readonly Sql[],
  count: Sql,
): RawBuilder<EventRows> {
  return sql<EventRows>`
    with ${sql.join(ctes)}
    select ${count} as count, coalesce((
      select string_agg(e.element, ',' order by ${orderEventsBy(ordering)})
      from page cross join lateral (
        select ${element} from team_events t where t.team_id = ${teamId} and t.event_id = page.event_id offset 0) e),
      '') as results`
}

const limits = [10, 100, 1_000, 2_000]

/**
 * Upper limit of a walk to a page. Up to an offset of `walkMax` it is a literal in the statement: for a parameter the
 * planner would assume a tenth of the table, and a generic plan would sort a million events for a page of a hundred.
 * Few distinct literals keep the number of statements small.
 */
export function walkLimit(offset: number, limit: number, walkMax: number): Sql {
  if (offset > walkMax) return sql`${offset}::bigint + ${limit}`
  return literalLimit(offset === 0 ? limit : walkMax + limit)
}

/** Returns a limit of at least `rows`. */
export function literalLimit(rows: number): Sql {
  return sql.lit(limits.find((limit) => limit >= rows) ?? rows)
}
