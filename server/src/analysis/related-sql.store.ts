// The parts that all statements of the related list share: the ordering, the filter, the outer statement. SQL fragments
// only; related-page.store.ts combines them.
import { sql, type RawBuilder } from 'kysely'
import type { Ordering, OrderingKey, RelatedQuery } from './related-query.ts'

export type Sql = RawBuilder<unknown>

/** `results`: the elements as JSON, joined by commas. */
export type RelatedRows = { readonly results: string; readonly count: number }

/** The team, and the flags (at least one) and the window that events must match. Null: any. */
export type Scope = Pick<RelatedQuery, 'flags' | 'start' | 'end'> & { readonly teamId: number }

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
export function orderBy(ordering: Ordering): Sql {
  return sql.join(
    ordering.map(({ key, descending }) =>
      sql.raw(`${columns[key]} ${descending ? 'desc' : 'asc'}${key === 'end' ? ' nulls last' : ''}`),
    ),
  )
}

/** For ranges in which all events have ended or none: "nulls last" would only prevent a backward index scan. */
export function orderByWithoutNulls(ordering: Ordering): Sql {
  return sql.join(
    ordering.map(({ key, descending }) => sql.raw(`${columns[key]} ${descending ? 'desc' : 'asc'}`)),
  )
}

/** Only the columns of the ordering, so that an index-only scan is possible. */
export function sortColumns(ordering: Ordering): Sql {
  return sql.raw(ordering.map(({ key }) => columns[key]).join(', '))
}

export function all(...conditions: readonly (Sql | null | false)[]): Sql {
  return sql.join(
    conditions.filter((condition) => condition !== null && condition !== false),
    sql` and `,
  )
}

export function hasFlag({ flags }: Scope): Sql | null {
  return flags === null ? null : sql`flags & ${flags}::integer <> 0`
}

export function startsInTime({ end }: Scope): Sql | null {
  return end === null ? null : sql`start_at <= ${end}::timestamptz`
}

/** `team_flags`: the combinations of flags that match and occur in the team's events, of which there are few. */
export function teamFlags(scope: Scope): Sql[] {
  if (scope.flags === null) return []
  return [
    sql`team_flags as materialized (
      select flags from team_event_counts
      where ${all(sql`team_id = ${scope.teamId} and measure = 'all' and events > 0`, hasFlag(scope))})`,
  ]
}

export const element = sql`record || ',"relationships":' || relationships || '}' as element`

/** The statement around `page`, a CTE with the rows of the page. The JSON texts are fetched by key, one by one. */
export function answer(
  teamId: number,
  ordering: Ordering,
  ctes: readonly Sql[],
  count: Sql,
): RawBuilder<RelatedRows> {
  return sql<RelatedRows>`
    with ${sql.join(ctes)}
    select ${count} as count, coalesce((
      select string_agg(e.element, ',' order by ${orderBy(ordering)})
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
export function reachOf(offset: number, limit: number, walkMax: number): Sql {
  if (offset > walkMax) return sql`${offset}::bigint + ${limit}`
  return literalLimit(offset === 0 ? limit : walkMax + limit)
}

/** At least `rows`. */
export function literalLimit(rows: number): Sql {
  return sql.lit(limits.find((limit) => limit >= rows) ?? rows)
}
