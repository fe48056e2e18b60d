// A source of the search: how one kind of objects is found, and the list whose permission decides who finds it.
import type { Route } from '@pharos/contract/route'
import type { SearchKind } from '@pharos/contract/search'
import { sql, type RawBuilder } from 'kysely'
import type { Actor } from '../operation/operation.ts'
import type { SearchTerm } from '../net/search-term.ts'

export type SearchSql = RawBuilder<unknown>

/** `place`: the position in `searchMatches`. */
export type HitRow = {
  readonly id: string
  readonly title: string
  readonly subtitle: string
  readonly state: string | null
  readonly place: number
  readonly url: string | null
  readonly team_id: number | null
  readonly team_name: string | null
}

export type SearchSource = {
  readonly kind: SearchKind
  /** Who may call it finds the objects of this kind. */
  readonly list: Route
  /** Selects HitRow, best first. `teamId` is the team of the caller. Null if the text can match no object of the kind. */
  find(teamId: number, sought: SearchTerm, limit: number, actor: Actor): RawBuilder<HitRow> | null
  /** For staff: the objects of all other teams, read as the owner. */
  findInAll?(teamId: number, sought: SearchTerm, limit: number): RawBuilder<HitRow>
}

/** The place of a text: exact 0, starts 2, contains 3; null if it does not contain the search term. */
export const placeOf = (value: SearchSql, { text }: SearchTerm): SearchSql => sql`(
  case strpos(lower(${value}), ${text}) when 0 then null
    when 1 then case when length(${value}) = length(${text}::text) then 0 else 2 end else 3 end)`

/** The place of a prefix: exact, related by containment, or by its text. */
export const placeOfPrefix = (prefix: SearchSql, sought: SearchTerm): SearchSql =>
  sought.prefix === null
    ? placeOf(sql`${prefix}::text`, sought)
    : sql`(case when ${prefix} = ${sought.prefix}::cidr then 0 when ${prefix} && ${sought.prefix}::cidr then 1 end)`

/** The best of several places; null without a match. */
export const best = (...places: readonly (SearchSql | null)[]): SearchSql =>
  sql`least(${sql.join(places.filter((place) => place !== null))})`

/** The rows of `from` that match: `columns` names id, title, subtitle, state, url, team_id and team_name. */
export const hits = (
  columns: SearchSql,
  place: SearchSql,
  from: SearchSql,
  order: SearchSql,
  limit: number,
): RawBuilder<HitRow> => sql<HitRow>`
  select * from (select ${columns}, ${place} as place from ${from}) h
  where place is not null order by place, ${order}, id limit ${limit}`

/** Columns for objects of the caller's team. */
export const ofNoOtherTeam = sql`null::integer as team_id, null::text as team_name`
/** Columns for objects of other teams. */
export const ofOtherTeam = sql`null::text as url, t.id as team_id, t.name as team_name`
