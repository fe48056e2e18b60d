// Pages whose filter and ordering share no index. By network or description, the matching events are gathered once,
// counted and sorted. By flags or window in another order than by start, the counts return how many match: a small
// number is gathered and sorted, a large number is found by walking the ordering's index.
import { sql, type RawBuilder } from 'kysely'
import { lengthOf, networkOf, prefixAround } from '../net/prefix.ts'
import type { Prefix } from '../net/prefix.ts'
import { countOf } from './related-count.store.ts'
import type { RelatedQuery } from './related-query.ts'
import { runningAt } from './related-segment.store.ts'
import {
  all,
  answer,
  hasFlag,
  orderBy,
  orderByWithoutNulls,
  reachOf,
  sortColumns,
  startsInTime,
  teamFlags,
  type RelatedRows,
  type Scope,
  type Sql,
} from './related-sql.store.ts'

/**
 * `walkMax`: up to that offset the statement contains the length of the walk as a literal. `gatherMax`: the greatest
 * number of events that is gathered.
 */
export function byOtherFiltered(
  scope: Scope,
  query: RelatedQuery,
  { walkMax, gatherMax }: { readonly walkMax: number; readonly gatherMax: number },
): RawBuilder<RelatedRows> {
  const { ordering, limit, offset } = query
  const { teamId, start } = scope
  const wanted = sortColumns(ordering)
  const keys = orderBy(ordering)
  const isByEnd = ordering[0]!.key === 'end'
  const isSmall = sql`(select n from total) <= ${sql.lit(gatherMax)}`
  const isLarge = sql`(select n from total) > ${sql.lit(gatherMax)}`
  const passes = [
    sql`team_id = ${teamId}`,
    hasFlag(scope),
    startsInTime(scope),
    start && sql`(end_at >= ${start}::timestamptz or end_at is null)`,
  ]
  const reach = reachOf(offset, limit, walkMax)
  const walk = (segment: Sql | null, skip: Sql) => sql`
    (select * from (
        select ${wanted} from team_events where ${all(...passes, segment, isLarge)}
        order by ${isByEnd ? orderByWithoutNulls(ordering) : keys} limit ${reach}) s
      order by ${keys} offset ${skip} limit ${limit})`
  const walks = isByEnd
    ? sql`${walk(sql`end_at is not null`, sql`${offset}`)} union all
        ${walk(sql`end_at is null`, sql`greatest(${offset} - (select n from ended), 0)`)}`
    : walk(null, sql`${offset}`)
  const isNotOver = all(sql`team_id = ${teamId} and span = 99`, hasFlag(scope), startsInTime(scope))
  return answer(
    teamId,
    ordering,
    [
      ...teamFlags(scope),
      sql`total as materialized (select ${countOf(scope)} as n)`,
      ...(isByEnd
        ? [
            sql`ended as materialized (
              select (select n from total) - count(*) as n from team_events where ${isNotOver})`,
          ]
        : []),
      sql`page as materialized (
        select * from (
          (select * from (select * from (${gathered(scope, wanted)}) g where ${isSmall} limit ${sql.lit(gatherMax + 1)}) g
            order by ${keys} offset ${offset} limit ${limit})
          union all ${walks}) p
        order by ${keys} limit ${limit})`,
    ],
    sql`(select n from total)`,
  )
}

function gathered(scope: Scope, wanted: Sql): Sql {
  const { teamId, flags, start } = scope
  const within = [start && sql`start_at >= ${start}::timestamptz`, startsInTime(scope)]
  const started =
    flags === null
      ? sql`select ${wanted} from team_events where ${all(sql`team_id = ${teamId}`, ...within)}`
      : sql`select e.* from team_flags f cross join lateral (
          select ${wanted} from team_events where ${all(sql`team_id = ${teamId} and flags = f.flags`, ...within)}
          offset 0) e`
  return start === null ? started : sql`${runningAt(scope, wanted)} union all ${started}`
}

export function byNetworkOrText(scope: Scope, query: RelatedQuery): RawBuilder<RelatedRows> {
  const { ordering, limit, offset, network, description } = query
  const { teamId, start } = scope
  const passing = (networks: Sql | null) => sql`
    select ${sortColumns(ordering)} from team_events where ${all(
      sql`team_id = ${teamId}`,
      networks,
      description === null ? null : sql`strpos(description, ${description.toLowerCase()}) > 0`,
      hasFlag(scope),
      startsInTime(scope),
      start && sql`(end_at >= ${start}::timestamptz or end_at is null)`,
    )}`
  return answer(
    teamId,
    ordering,
    [
      sql`gathered as materialized (
        ${sql.join(networkConditions(network).map(passing), sql` union all `)})`,
      sql`page as materialized (
        select * from gathered order by ${orderBy(ordering)} offset ${offset} limit ${limit})`,
    ],
    sql`(select count(*) from gathered)`,
  )
}

/**
 * Disjoint conditions. A network that overlaps a prefix is inside it, which is one range in the order of cidr, or is
 * one of at most 128 larger ones. Unlike `&&`, comparisons may use the index under row-level security, because they are
 * leakproof; and each condition alone is answered by the index.
 */
function networkConditions(network: RelatedQuery['network']): (Sql | null)[] {
  if (network === null) return [null]
  if ('text' in network) return [sql`strpos(affected_network::text, ${network.text.toLowerCase()}) > 0`]
  const { prefix } = network
  return [
    sql`affected_network >= ${prefix}::cidr and affected_network <= host(broadcast(${prefix}::inet))::cidr`,
    sql`affected_network = any(${largerThan(prefix)}::cidr[])`,
  ]
}

function largerThan(prefix: Prefix): Prefix[] {
  return Array.from({ length: lengthOf(prefix) }, (_, length) => prefixAround(networkOf(prefix), length))
}
