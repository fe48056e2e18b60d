// The SQL of staff's decisions about ASNs: across all teams, as the owner of the tables.
import { sql } from 'kysely'
import type { AsnProofMethod, AsnProofState, listAsnsOfTeamsRoute } from '@pharos/contract/inventory/asn'
import type { QueryOf } from '@pharos/contract/route'
import { columns, jsonOf, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { Asn } from '../../net/asn.ts'
import { rethrowHeld } from './asn-proof.store.ts'

const proofColumns = columns('asn_proofs', 'e', ['note', 'checked'], {
  method: sql<AsnProofMethod>`e.method`,
  state: sql<AsnProofState>`e.state`,
  evidence: sql<Record<string, unknown>>`e.evidence`,
})
const proofJson = jsonOf(proofColumns)

/** ASNs `k` that a team has or has tried to verify. */
const asnColumns = columns(
  'asns',
  'k',
  ['asn', 'team_id', 'verified', 'expires', 'revoked', 'revoked_reason'],
  {
    team_name: sql<string>`(select t.name from teams t where t.id = k.team_id)`,
    verified_by: sql<AsnProofMethod | null>`k.verified_by`,
    evidence: sql<RowOf<typeof proofJson>[]>`coalesce((
    select json_agg(${proofJson} order by e.method)
    from asn_proofs e where e.team_id = k.team_id and e.asn = k.asn), '[]')`,
  },
)
export type AsnOfTeamRow = RowOf<typeof asnColumns>

/** A page over all teams, ordered by ASN and team. */
export const listAsnsOfTeams = (
  db: Db | Trx,
  { asn, team_id, verified, ...query }: QueryOf<typeof listAsnsOfTeamsRoute>,
): Promise<Page<AsnOfTeamRow>> =>
  listAll(db, {
    matching: sql`
      select k.asn, k.team_id, a.verified, a.verified_by, a.expires, a.revoked, a.revoked_reason
      from (select asn, team_id from asns union select asn, team_id from asn_proofs) k
      left join asns a on a.team_id = k.team_id and a.asn = k.asn
      where true ${andAll(
        asn && sql`k.asn = any(${asn}::bigint[])`,
        team_id && sql`k.team_id = any(${team_id}::bigint[])`,
        verified !== undefined &&
          sql`coalesce(a.verified is not null and (a.expires is null or a.expires > now()), false) = ${verified}`,
      )}`,
    columns: asnColumns,
    order: orderBy(query.ordering, { asn: sql`k.asn` }, sql`k.team_id`),
    slice: query,
  })

export async function findTeamName(trx: Trx, teamId: number): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from teams where id = ${teamId}::bigint`.execute(trx)
  return rows[0]?.name
}

export type AsnHolder = {
  readonly team_id: number
  readonly team_name: string
  readonly verified: Date
  readonly verified_by: AsnProofMethod | null
  readonly expires: Date | null
}

/** The team that is verified for the ASN, also if its proof has expired; at most one. */
export async function findAsnHolder(trx: Trx, asn: Asn): Promise<AsnHolder | undefined> {
  const { rows } = await sql<AsnHolder>`
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

/** Saves a verification by the operator, which does not expire. */
export async function saveOperatorVerification(trx: Trx, teamId: number, asn: Asn, now: Date): Promise<void> {
  await sql`
    insert into asns (team_id, asn, verified) values (${teamId}, ${asn}, ${now})
    on conflict (team_id, asn) do update
    set verified = excluded.verified, verified_by = null, expires = null, revoked = null, revoked_reason = null`
    .execute(trx)
    .catch(rethrowHeld)
}

/** Ends the verification; the team's proofs are ignored until the operator verifies the ASN again. */
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
