// The SQL of the ASNs that teams hold: read and saved. Every statement is limited to a team.
import { sql } from 'kysely'
import type { AsnProofMethod, listAsnsRoute } from '@pharos/contract/inventory/asn'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { parseAsn, type Asn } from '../../net/asn.ts'
import type { HeldAsn } from './held-asn.ts'

const asnColumns = columns('asns', 'a', ['id', 'team_id', 'asn', 'name', 'verified', 'expires', 'created'], {
  verified_by: sql<AsnProofMethod | null>`a.verified_by`,
  revoked: sql<Date | null>`a.revoked`,
  revoked_reason: sql<string | null>`a.revoked_reason`,
})
type AsnRow = RowOf<typeof asnColumns>

/** Currently verified: by the operator, or proven and not expired. */
const isVerified = sql`a.verified is not null and (a.expires is null or a.expires > now())`

/** Returns the team's rows of these ASNs, verified or not. */
export async function findAsns(trx: Db | Trx, teamId: number, asns: readonly Asn[]): Promise<HeldAsn[]> {
  const { rows } = await sql<AsnRow>`
    select ${asnColumns} from asns a where a.team_id = ${teamId} and a.asn = any(${asns}::bigint[])`.execute(
    trx,
  )
  return rows.map(heldAsnOf)
}

/** Returns the team's row of an ASN, on a shared connection. */
export async function findAsnRow(
  postgres: Postgres,
  teamId: number,
  asn: number,
): Promise<HeldAsn | undefined> {
  const query = sql<AsnRow>`
    select ${asnColumns} from asns a where a.team_id = ${teamId} and a.asn = ${asn}::bigint`
  return (await postgres.readInTeam(teamId, query)).map(heldAsnOf)[0]
}

export async function listAsnRows(
  postgres: Postgres,
  teamId: number,
  query: QueryOf<typeof listAsnsRoute>,
): Promise<Page<HeldAsn>> {
  const { page, count } = await listInTeam(postgres, teamId, {
    matching: sql`
      select a.* from asns a where a.team_id = ${teamId} ${andAll(
        query.asn && sql`a.asn = any(${query.asn}::bigint[])`,
        query.verified !== undefined && sql`(${isVerified}) = ${query.verified}`,
      )}`,
    columns: asnColumns,
    order: orderBy(query.ordering, { id: sql`a.id`, asn: sql`a.asn`, created: sql`a.created` }, sql`a.id`),
    slice: query,
  })
  return { page: page.map(heldAsnOf), count }
}

const heldAsnOf = (row: AsnRow): HeldAsn => ({
  id: row.id,
  teamId: row.team_id,
  asn: parseAsn(row.asn),
  name: row.name,
  verified: row.verified,
  verifiedBy: row.verified === null ? null : (row.verified_by ?? 'operator'),
  expires: row.expires,
  revoked: row.revoked && { at: row.revoked, reason: row.revoked_reason! },
  created: row.created,
})
