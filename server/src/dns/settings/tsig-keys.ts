// The TSIG keys that a team may name in the settings of its zones.
import type { listTsigKeysRoute, TsigKey } from '@pharos/contract/dns-tsig'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { listInTeam, orderBy } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'

const keyColumns = columns('dns_tsig_keys', 'k', ['id', 'name', 'algorithm', 'created'])

export async function listTsigKeys(
  { postgres }: { readonly postgres: Postgres },
  { actor: { teamId } }: Operation,
  query: QueryOf<typeof listTsigKeysRoute>,
): Promise<{ results: TsigKey[]; count: number }> {
  const { page, count } = await listInTeam<RowOf<typeof keyColumns>>(postgres, teamId, {
    matching: sql`select k.id, k.name, k.algorithm, k.created from dns_tsig_keys k where k.team_id = ${teamId}`,
    columns: keyColumns,
    order: orderBy(query.ordering, { name: sql`k.name`, id: sql`k.id`, created: sql`k.created` }, sql`k.id`),
    slice: query,
  })
  return {
    results: page.map(({ id, name, algorithm, created }) => ({
      id,
      name,
      algorithm,
      created: created.toISOString(),
    })),
    count,
  }
}
