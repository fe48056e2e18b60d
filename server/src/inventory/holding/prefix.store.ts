// The SQL of the prefixes that teams hold. Every statement is limited to a team.
import { sql } from 'kysely'
import type { listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Limits } from '../../operation/limits.ts'
import { locationColumn } from './location.store.ts'

const prefixColumns = columns('prefixes', 'p', ['id', 'prefix', 'name', 'created'], {
  location: locationColumn('p'),
})
export type PrefixRow = RowOf<typeof prefixColumns>

/** `overlapped`: lists only prefixes that overlap any of these. */
export const listPrefixRows = (
  postgres: Postgres,
  teamId: number,
  { family, name, location, ordering, ...slice }: QueryOf<typeof listPrefixesRoute>,
  overlapped: readonly Prefix[] | undefined,
  limits: Limits | null,
): Promise<Page<PrefixRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select p.* from prefixes p where p.team_id = ${teamId} ${andAll(
        limits && sql`p.prefix <<= any(${limits.prefixes}::cidr[])`,
        overlapped && sql`p.prefix && any(${overlapped}::inet[])`,
        family && sql`family(p.prefix) = ${Number(family)}`,
        name !== undefined && sql`strpos(lower(p.name), lower(${name})) > 0`,
        location && sql`p.location_key = any(${location}::text[])`,
      )}`,
    columns: prefixColumns,
    order: orderBy(
      ordering,
      { id: sql`p.id`, cidr: sql`p.prefix`, name: sql`lower(p.name)`, created: sql`p.created` },
      sql`p.id`,
    ),
    slice,
  })

export async function findPrefix(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<PrefixRow | undefined> {
  const query = sql<PrefixRow>`
    select ${prefixColumns} from prefixes p where p.team_id = ${teamId} and p.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}
