// The SQL that reads the audit log, as the team. Whether a user is provider staff comes from database functions, which
// return no other data about the user to a team.
import type { listAuditEntriesRoute } from '@pharos/contract/team/audit'
import type { QueryOf } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { orderBy, readPage, type Page, type PageRow } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'

/** Null: the entries of all teams and of the provider, for staff. Actors that a team cannot filter by: to a team, all provider staff are one actor. */
export type Viewer = { readonly teamId: number | null; readonly isStaff: boolean }

export type EntryFilter = {
  /** Only for the entries of all teams. */
  readonly teams?: readonly number[]
  readonly actors?: readonly string[]
  readonly actions?: readonly string[]
  /** Prefixes of action names, each with its trailing dot. */
  readonly actionPrefixes?: readonly string[]
  readonly targets?: readonly string[]
  readonly requestIds?: readonly string[]
  readonly networks?: readonly Prefix[]
  readonly start?: string
  readonly end?: string
}

export type AuditQuery = QueryOf<typeof listAuditEntriesRoute>

const entryColumns = columns(
  'audit_entries',
  'e',
  ['id', 'at', 'team_id', 'actor', 'credential', 'action', 'target', 'before', 'after', 'request_id'],
  {
    byStaff: sql<boolean>`(e.by_staff or e.actor = any((select staff_actors())::text[]))`,
    address: sql<string | null>`host(e.address)`,
    sequence: sql<number | null>`s.sequence`,
  },
)
export type EntryRow = RowOf<typeof entryColumns>

/** `staff` are the current staff users. Entries of former staff have `by_staff` set. */
function conditionsOf(
  { teamId, isStaff }: Viewer,
  filter: EntryFilter,
  staff: readonly string[],
): RawBuilder<unknown> {
  const { teams, targets, requestIds, networks, start, end } = filter
  const conditions = [
    teamId === null ? sql`true` : sql`e.team_id = ${teamId}`,
    teams && sql`e.team_id = any(${teams}::bigint[])`,
    ofActors(filter, isStaff, staff),
    ofActions(filter),
    targets && sql`e.target = any(${targets}::text[])`,
    requestIds && sql`e.request_id = any(${requestIds}::text[])`,
    networks && sql`(${sql.join(networks.map(isWithin), sql` or `)})`,
    networks && !isStaff && sql`not e.by_staff and not e.actor = any(${staff}::text[])`,
    start !== undefined && sql`e.at >= ${start}::timestamptz`,
    end !== undefined && sql`e.at < ${end}::timestamptz`,
  ]
  return sql.join(
    conditions.filter((one) => typeof one === 'object'),
    sql` and `,
  )
}

/** Like <<=, which is not leakproof: under row-level security it would not use an index. */
const isWithin = (network: Prefix) =>
  sql`e.address between host(network(${network}::inet))::inet and host(broadcast(${network}::inet))::inet`

function ofActors(
  { actors }: EntryFilter,
  isStaff: boolean,
  staff: readonly string[],
): RawBuilder<unknown> | undefined {
  if (!actors) return undefined
  if (isStaff) return sql`e.actor = any(${actors}::text[])`
  const others = actors.filter((actor) => !staff.includes(actor))
  const named = sql`(e.actor = any(${others}::text[]) and not e.by_staff)`
  return actors.includes('staff') ? sql`(${named} or e.actor = any(${staff}::text[]) or e.by_staff)` : named
}

/** In byte order, `/` follows `.`: every value that starts with `team.` is between `team.` and `team/`. */
function ofActions({ actions = [], actionPrefixes = [] }: EntryFilter): RawBuilder<unknown> | undefined {
  if (actions.length + actionPrefixes.length === 0) return undefined
  const beginnings = actionPrefixes.map(
    (prefix) => sql`(e.action >= ${prefix} and e.action < ${prefix.replace(/\.$/, '/')})`,
  )
  const exact = actions.length > 0 ? [sql`e.action = any(${actions}::text[])`] : []
  return sql`(${sql.join([...exact, ...beginnings], sql` or `)})`
}

/** By the keys, then by the id in the direction of the last key: an index serves both directions. */
function orderOf(ordering: AuditQuery['ordering']): RawBuilder<unknown> {
  const direction = ordering.split(',').at(-1)!.startsWith('-') ? sql`desc` : sql`asc`
  return orderBy(ordering, { at: sql`e.at`, id: sql`e.id` }, sql`e.id ${direction}`, 'not null')
}

/**
 * A page and the total count, in one statement and thus from one snapshot. With a filter, the matching entries are
 * found once for both: a planner that overestimates their number would walk the whole audit log by time. Without a
 * filter, both use the index by time. The remaining columns are fetched only for the entries of the page.
 */
export async function listEntries(
  trx: Trx,
  viewer: Viewer,
  filter: EntryFilter,
  { ordering, limit, offset }: Pick<AuditQuery, 'ordering' | 'limit' | 'offset'>,
): Promise<Page<EntryRow>> {
  const conditions = conditionsOf(viewer, filter, await staffFor(trx, viewer, filter))
  const once = isFiltered(filter) ? sql`materialized` : sql`not materialized`
  const { rows } = await sql<PageRow<EntryRow>>`
    with matching as ${once} (select e.id, e.at from audit_entries e where ${conditions}),
    places as materialized (
      select row_number() over () as place, p.* from (
        select * from matching e order by ${orderOf(ordering)} limit ${limit} offset ${offset}) p),
    page as (
      select places.place, ${entryColumns}
      from places
      cross join lateral (select * from audit_entries where id = places.id and at = places.at limit 1) e
      left join audit_seals s on s.entry_id = e.id),
    counted as (select count(*) as count from matching)
    select counted.count, page.* from counted left join page on true order by page.place`.execute(trx)
  return readPage(rows)
}

const isFiltered = (filter: EntryFilter): boolean =>
  Object.keys(filter).some((name) => name !== 'start' && name !== 'end')

async function staffFor(
  trx: Trx,
  { isStaff }: Viewer,
  { actors, networks }: EntryFilter,
): Promise<readonly string[]> {
  if (isStaff || (!actors && !networks)) return []
  const { rows } = await sql<{ staff: string[] }>`select staff_actors() as staff`.execute(trx)
  return rows[0]!.staff
}

export async function findEntry(trx: Trx, { teamId }: Viewer, id: number): Promise<EntryRow | undefined> {
  const { rows } = await sql<EntryRow>`
    select ${entryColumns} from audit_entries e left join audit_seals s on s.entry_id = e.id
    where e.id = ${id}::bigint and e.team_id = ${teamId}`.execute(trx)
  return rows[0]
}

/** The actor as it is shown to a team. */
export async function findNames(trx: Trx, actors: readonly string[]): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ actor: string; name: string | null }>`
    select actor, name from audit_actor_names(${actors}::text[])`.execute(trx)
  return new Map(rows.map(({ actor, name }) => [actor, name]))
}

/** For staff: the e-mail addresses of users, and the names of staff tokens. */
export async function findAllNames(db: Db | Trx, actors: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ actor: string; name: string }>`
    select 'user:' || id as actor, email as name from users where 'user:' || id = any(${actors}::text[])
    union all
    select 'staff_token:' || id, name from staff_tokens where 'staff_token:' || id = any(${actors}::text[])`.execute(
    db,
  )
  return new Map(rows.map(({ actor, name }) => [actor, name]))
}

/** For staff. Deleted teams have no name. */
export async function findTeamNames(trx: Trx, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const { rows } = await sql<{ id: number; name: string }>`
    select id, name from teams where id = any(${ids as number[]}::integer[])`.execute(trx)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
