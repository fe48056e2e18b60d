// The search over the kinds that the caller may list: each kind is one bounded statement, and all run in parallel.
import type { QueryOf, Permission } from '@pharos/contract/route'
import {
  searchMatches,
  type searchRoute,
  type SearchAnswer,
  type SearchHit,
  type SearchKind,
} from '@pharos/contract/search'
import type { Db, Postgres } from '../db/postgres.ts'
import { seesAllTeams } from '../operation/grant.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import { invalid } from '../runtime/error.ts'
import { parseSearchTerm } from '../net/search-term.ts'
import type { HitRow, SearchSource } from './source.ts'
import { searchSources } from './sources.store.ts'

export type SearchDeps = {
  readonly postgres: Postgres
  /** Reads across teams: the teams of a user, for staff all customers. */
  readonly db: Db
  readonly mayCall: (actor: Actor, permission: Permission) => boolean
}

type Found = { readonly kind: SearchKind; readonly rows: readonly HitRow[] }

/** Returns the best hits of every kind that the actor may list. Throws `invalid` for a text of one character with spaces. */
export async function search(
  deps: SearchDeps,
  { actor }: Operation,
  { q, kind, limit }: QueryOf<typeof searchRoute>,
): Promise<SearchAnswer> {
  const sought = parseSearchTerm(q)
  if (sought.text.length < 2) throw invalid(['query', 'q'], 'searchTooShort')
  const wanted = searchSources.filter(
    (source) =>
      (kind === undefined || kind.includes(source.kind)) && deps.mayCall(actor, source.list.permission),
  )
  const each = kind?.length === 1 ? limit : Math.max(3, Math.ceil(limit / 5))
  const found = await Promise.all(
    wanted.map(async (source): Promise<Found> => ({
      kind: source.kind,
      rows: await findBy(deps, source, actor, sought, each + 1),
    })),
  )
  const ranked = found
    .flatMap(({ kind, rows }) => rows.slice(0, each).map((row) => ({ row, hit: presentHit(kind, row) })))
    .toSorted((a, b) => a.row.place - b.row.place)
  const results = ranked.slice(0, limit).map(({ hit }) => hit)
  return { results, truncated: truncatedKinds(found, results) }
}

/** The order of the sources is kept among hits of the same place. */
async function findBy(
  { postgres, db }: SearchDeps,
  source: SearchSource,
  actor: Actor,
  sought: ReturnType<typeof parseSearchTerm>,
  limit: number,
): Promise<HitRow[]> {
  const { teamId } = actor
  if (seesAllTeams(actor) && source.findInAll) {
    const own = source.kind === 'team' ? null : source.find(teamId, sought, limit, actor)
    const [mine, others] = await Promise.all([
      own ? postgres.readInTeam(teamId, own) : [],
      source.findInAll(teamId, sought, limit).execute(db),
    ])
    return [...mine, ...others.rows].toSorted((a, b) => a.place - b.place).slice(0, limit)
  }
  const statement = source.find(teamId, sought, limit, actor)
  if (statement === null) return []
  // Row-level security shows one team: the teams of a user are read without it, limited by the memberships.
  return source.kind === 'team' ? (await statement.execute(db)).rows : postgres.readInTeam(teamId, statement)
}

function truncatedKinds(found: readonly Found[], results: readonly SearchHit[]): SearchKind[] {
  const shown = Map.groupBy(results, ({ kind }) => kind)
  return found
    .filter(({ kind, rows }) => rows.length > (shown.get(kind)?.length ?? 0))
    .map(({ kind }) => kind)
}

const presentHit = (
  kind: SearchKind,
  { id, title, subtitle, state, place, url, team_id, team_name }: HitRow,
): SearchHit => ({
  kind,
  id,
  title,
  subtitle,
  state,
  match: searchMatches[place]!,
  url,
  team: team_id === null ? null : { id: team_id, name: team_name ?? '' },
})
