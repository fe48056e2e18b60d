// The SQL of the ASNs that teams hold: read and saved. Every statement names the team.
import { sql, type RawBuilder } from 'kysely'
import type { AsnProofMethod } from '@pharos/contract/inventory'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { parseAsn, type Asn } from '../net/asn.ts'
import type { HeldAsn } from './held-asn.ts'

export type AsnFilter = { readonly asns?: readonly number[]; readonly verified?: boolean }
export type AsnOrderingKey = 'id' | 'asn' | 'created'
export type AsnOrder = { readonly key: AsnOrderingKey; readonly descending: boolean }
export type Slice = { readonly limit: number; readonly offset: number }

type AsnRow = {
  id: number
  team_id: number
  asn: number
  name: string
  verified: Date | null
  verified_by: AsnProofMethod | null
  expires: Date | null
  revoked: Date | null
  revoked_reason: string | null
  created: Date
}

const columns = sql`a.id, a.team_id, a.asn, a.name, a.verified, a.verified_by, a.expires, a.revoked, a.revoked_reason, a.created`

/** Known to be the team's now: said by the operator, or proven and not expired. */
const isVerified = sql`a.verified is not null and (a.expires is null or a.expires > now())`

/** The team's rows of these ASNs, verified or not. */
export async function findAsns(trx: Db | Trx, teamId: number, asns: readonly Asn[]): Promise<HeldAsn[]> {
  const { rows } = await sql<AsnRow>`
    select ${columns} from asns a where a.team_id = ${teamId} and a.asn = any(${asns}::bigint[])`.execute(trx)
  return rows.map(heldAsnOf)
}

/** A page and the count of all that match, from one snapshot: one statement. */
export async function listAsnRows(
  postgres: Postgres,
  teamId: number,
  filter: AsnFilter,
  order: readonly AsnOrder[],
  { limit, offset }: Slice,
): Promise<{ page: HeldAsn[]; count: number }> {
  const query = sql`
    with matching as (
      select a.* from asns a where a.team_id = ${teamId} ${sql.join(conditions(filter), sql` `)}),
    page as (
      select row_number() over () as place, p.* from (
        select * from matching a order by ${ordering(order)} limit ${limit} offset ${offset}) p)
    select c.count, ${columns} from (select count(*) from matching) c left join page a on true
    order by a.place`
  const rows = await postgres.readInTeam<PageRow>(teamId, query.compile(postgres.owner))
  return { page: rows.filter((row) => row.id !== null).map(heldAsnOf), count: rows[0]!.count }
}

/** A page that is empty still has one row, with the count: its other columns are null. */
type PageRow = { id: null; count: number } | (AsnRow & { count: number })

function conditions({ asns, verified }: AsnFilter): RawBuilder<unknown>[] {
  const all = [
    asns && sql`and a.asn = any(${asns}::bigint[])`,
    verified !== undefined && sql`and (${isVerified}) = ${verified}`,
  ]
  return all.filter((one) => typeof one === 'object')
}

const orderings: Record<AsnOrderingKey, RawBuilder<unknown>> = {
  id: sql`a.id`,
  asn: sql`a.asn`,
  created: sql`a.created`,
}

function ordering(order: readonly AsnOrder[]): RawBuilder<unknown> {
  const keys = order.map(({ key, descending }) => (descending ? sql`${orderings[key]} desc` : orderings[key]))
  return sql.join([...keys, sql`a.id`])
}

function heldAsnOf(row: AsnRow): HeldAsn {
  return {
    id: row.id,
    teamId: row.team_id,
    asn: parseAsn(row.asn),
    name: row.name,
    verified: row.verified,
    verifiedBy: row.verified === null ? null : (row.verified_by ?? 'operator'),
    expires: row.expires,
    revoked: row.revoked && { at: row.revoked, reason: row.revoked_reason! },
    created: row.created,
  }
}
