// The SQL of ownership: all holdings of all teams, and the revision by which a change is detected.
import { sql } from 'kysely'
import { parsePrefix } from '../../net/prefix.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { AsnHolding, Holding } from './holding.ts'

export async function getRevision(db: Db): Promise<number> {
  const { revision } = await db
    .selectFrom('revisions')
    .select('revision')
    .where('name', '=', 'ownership')
    .executeTakeFirstOrThrow()
  return revision
}

/** The trigger that raises the revision waits for the share lock. */
export async function lockRevision(trx: Trx): Promise<number> {
  const { revision } = await trx
    .selectFrom('revisions')
    .select('revision')
    .where('name', '=', 'ownership')
    .forShare()
    .executeTakeFirstOrThrow()
  return revision
}

type HoldingRow = {
  team_id: number
  resource: Holding['resource']
  id: number
  prefix: string
  name: string
  location_key: string | null
  location_name: string | null
  country: string | null
  origin_asn: number | null
}

export async function listHoldings(
  trx: Trx,
): Promise<{ holdings: readonly Holding[]; asns: readonly AsnHolding[] }> {
  const prefixes = await sql<HoldingRow>`
    select p.team_id, 'prefix' as resource, p.id, p.prefix::text as prefix, p.name,
      l.key as location_key, l.name as location_name, l.country, null::bigint as origin_asn
    from prefixes p left join locations l on l.key = p.location_key
    union all
    select a.team_id, 'announcement', a.id, a.prefix::text, a.description, null, null, null, a.origin_asn
    from announcements a where a.claimed is not null and a.deleted is null
    order by resource, id`.execute(trx)
  const asns = await trx.selectFrom('asns').select(['team_id', 'id', 'asn', 'name']).orderBy('id').execute()
  return {
    holdings: prefixes.rows.map(holdingOf),
    asns: asns.map(({ team_id: teamId, id, asn, name }) => ({ teamId, id, asn, name })),
  }
}

function holdingOf(row: HoldingRow): Holding {
  return {
    teamId: row.team_id,
    resource: row.resource,
    id: row.id,
    // PostgreSQL formats some IPv6 prefixes differently from RFC 5952.
    prefix: parsePrefix(row.prefix),
    name: row.name,
    location:
      row.location_key === null
        ? null
        : { key: row.location_key, name: row.location_name!, country: row.country! },
    originAsn: row.origin_asn,
  }
}
