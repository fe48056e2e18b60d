// The SQL of the customers for staff: every team, with counts. It runs as the owner.
import type { listCustomersRoute } from '@pharos/contract/operator/team'
import type { QueryOf } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { listAll, orderBy, type Page } from '../db/page.ts'
import type { Db } from '../db/postgres.ts'

const customerColumns = columns('teams', 't', ['id', 'slug', 'name', 'country', 'require_2fa', 'created'], {
  modules: sql<string[]>`t.enabled_modules`,
  members: sql<number>`t.members`,
  announcements: sql<number>`t.announcements`,
  announced: sql<number>`t.announced`,
  ongoing_attacks: sql<number>`t.ongoing_attacks`,
  pending_letters: sql<number>`t.pending_letters`,
  held_routes: sql<number>`t.held_routes`,
  open_requests: sql<number>`t.open_requests`,
})
export type CustomerRow = RowOf<typeof customerColumns>

/** The bucket of events that have not ended, in the counts that a trigger maintains. */
const notEnded = 2_147_483_647

/** Entries of the inbox of staff, by the id of the team. */
export type OpenRequests = ReadonlyMap<number, number>

/** Teams with their counts. A paused route belongs to the announcement that claims its prefix. */
const customers = (open: OpenRequests, condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select t.*, m.members, a.announcements, a.announced, e.ongoing_attacks, l.pending_letters,
    coalesce(h.held_routes, 0) as held_routes,
    coalesce((${JSON.stringify(Object.fromEntries(open))}::jsonb ->> t.id::text)::integer, 0) as open_requests
  from teams t
    cross join lateral (select count(*)::integer as members from memberships where team_id = t.id) m
    cross join lateral (
      select count(*)::integer as announcements, count(*) filter (
        where status in ('announced', 'partially_announced', 'withdrawing'))::integer as announced
      from announcements where team_id = t.id and deleted is null) a
    cross join lateral (
      select coalesce(sum(events), 0)::integer as ongoing_attacks from team_event_counts
      where team_id = t.id and facet = 0 and measure = 'end' and bucket = ${sql.lit(notEnded)}) e
    cross join lateral (
      select count(*)::integer as pending_letters from letters
      where team_id = t.id and status = 'pending_review' and replaced_by is null) l
    left join (
      select a.team_id, count(*)::integer as held_routes
      from approvals h cross join lateral (
          select distinct (i ->> 'value')::cidr as cidr from jsonb_array_elements(h.items) i) w
        cross join lateral (
          select a.team_id from announcements a where a.prefix = w.cidr and a.claimed is not null
          order by a.deleted desc nulls first, a.id desc limit 1) a
      where h.area = 'routes' and h.state = 'open' group by a.team_id) h on h.team_id = t.id
  where ${condition}`

export const listCustomerRows = (
  db: Db,
  open: OpenRequests,
  { search, ...query }: QueryOf<typeof listCustomersRoute>,
): Promise<Page<CustomerRow>> =>
  listAll(db, {
    matching: customers(
      open,
      search === undefined
        ? sql`true`
        : sql`strpos(lower(concat_ws(chr(10), t.name, t.slug)), lower(${search})) > 0`,
    ),
    columns: customerColumns,
    order: orderBy(
      query.ordering,
      {
        name: sql`lower(t.name)`,
        id: sql`t.id`,
        created: sql`t.created`,
        members: sql`t.members`,
        announcements: sql`t.announcements`,
        ongoing_attacks: sql`t.ongoing_attacks`,
        open_requests: sql`t.open_requests`,
      },
      sql`t.id`,
    ),
    slice: query,
  })

export async function findCustomer(
  db: Db,
  open: OpenRequests,
  teamId: number,
): Promise<CustomerRow | undefined> {
  const { rows } = await sql<CustomerRow>`
    select ${customerColumns} from (${customers(open, sql`t.id = ${teamId}::bigint`)}) t`.execute(db)
  return rows[0]
}
