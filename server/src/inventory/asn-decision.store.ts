// The SQL of staff's decisions about ASNs: all teams at once, as the owner of the tables.
import { sql } from 'kysely'
import type { AsnProofMethod, AsnProofState } from '@pharos/contract/inventory'
import type { Db, Trx } from '../db/postgres.ts'
import type { Asn } from '../net/asn.ts'
import { rethrowHeld } from './asn-proof.store.ts'

export type AsnOfTeamRow = {
  readonly asn: number
  readonly team_id: number
  readonly team_name: string
  readonly verified: Date | null
  readonly verified_by: AsnProofMethod | null
  readonly expires: Date | null
  readonly revoked: Date | null
  readonly revoked_reason: string | null
  readonly evidence: readonly {
    readonly method: AsnProofMethod
    readonly state: AsnProofState
    readonly note: string
    readonly evidence: Record<string, unknown>
    readonly checked: string
  }[]
}

export type AsnOfTeamFilter = {
  readonly asns?: readonly number[]
  readonly teamIds?: readonly number[]
  readonly verified?: boolean
}

type Slice = { readonly limit: number; readonly offset: number; readonly descending: boolean }

/** A page ordered by ASN and team, and the count of all that match, from one snapshot. */
export async function listAsnsOfTeams(
  db: Db | Trx,
  { asns, teamIds, verified }: AsnOfTeamFilter,
  { limit, offset, descending }: Slice,
): Promise<{ page: AsnOfTeamRow[]; count: number }> {
  const isVerified = sql`(a.verified is not null and (a.expires is null or a.expires > now()))`
  const { rows } = await sql<{ asn: null; count: number } | (AsnOfTeamRow & { count: number })>`
    with matching as (
      select k.asn, k.team_id, t.name as team_name, a.verified, a.verified_by, a.expires, a.revoked, a.revoked_reason
      from (select asn, team_id from asns union select asn, team_id from asn_proofs) k
      join teams t on t.id = k.team_id
      left join asns a on a.team_id = k.team_id and a.asn = k.asn
      where true ${asns ? sql`and k.asn = any(${asns}::bigint[])` : sql``}
        ${teamIds ? sql`and k.team_id = any(${teamIds}::bigint[])` : sql``}
        ${verified === undefined ? sql`` : sql`and coalesce(${isVerified}, false) = ${verified}`}),
    page as (
      select row_number() over () as place, p.*, coalesce((
          select json_agg(json_build_object('method', e.method, 'state', e.state, 'note', e.note, 'evidence', e.evidence,
            'checked', e.checked) order by e.method)
          from asn_proofs e where e.team_id = p.team_id and e.asn = p.asn), '[]') as evidence
      from (
        select * from matching order by asn ${descending ? sql`desc` : sql``}, team_id
        limit ${limit} offset ${offset}) p)
    select c.count, page.* from (select count(*) from matching) c left join page on true
    order by page.place`.execute(db)
  return { page: rows.filter((row) => row.asn !== null), count: rows[0]!.count }
}

export async function findTeamName(trx: Trx, teamId: number): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from teams where id = ${teamId}::bigint`.execute(trx)
  return rows[0]?.name
}

export type Holder = {
  readonly team_id: number
  readonly team_name: string
  readonly verified: Date
  readonly verified_by: AsnProofMethod | null
  readonly expires: Date | null
}

/** The team that is verified for the ASN, also if its proof has expired; at most one. */
export async function findHolder(trx: Trx, asn: Asn): Promise<Holder | undefined> {
  const { rows } = await sql<Holder>`
    select a.team_id, t.name as team_name, a.verified, a.verified_by, a.expires
    from asns a join teams t on t.id = a.team_id
    where a.asn = ${asn} and a.verified is not null`.execute(trx)
  return rows[0]
}

/** Ends the verification of a team; its proofs count again later. */
export async function endVerification(trx: Trx, teamId: number, asn: Asn): Promise<void> {
  await sql`
    update asns set verified = null, verified_by = null, expires = null
    where team_id = ${teamId} and asn = ${asn}`.execute(trx)
}

/** The operator's word: verified without an end. */
export async function saveOperatorVerification(trx: Trx, teamId: number, asn: Asn, now: Date): Promise<void> {
  await sql`
    insert into asns (team_id, asn, verified) values (${teamId}, ${asn}, ${now})
    on conflict (team_id, asn) do update
    set verified = excluded.verified, verified_by = null, expires = null, revoked = null, revoked_reason = null`
    .execute(trx)
    .catch(rethrowHeld)
}

/** Ends the verification, and with it whatever the team proves until the operator verifies the ASN again. */
export async function saveRevocation(
  trx: Trx,
  teamId: number,
  asn: Asn,
  reason: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into asns (team_id, asn, revoked, revoked_reason) values (${teamId}, ${asn}, ${now}, ${reason})
    on conflict (team_id, asn) do update
    set verified = null, verified_by = null, expires = null, revoked = excluded.revoked,
      revoked_reason = excluded.revoked_reason`.execute(trx)
}
