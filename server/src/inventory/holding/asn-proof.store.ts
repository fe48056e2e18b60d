// The SQL of proofs: the last result of each method, the resulting verification, and the prefixes that count as
// evidence. Every statement is limited to a team, except the search for due ASNs.
import { sql } from 'kysely'
import type { AsnProofMethod } from '@pharos/contract/inventory/asn'
import type { Db, Trx } from '../../db/postgres.ts'
import { storedJson } from '../../db/stored-json.ts'
import { writeRows } from '../../db/write-rows.ts'
import { parseAsn, type Asn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { fail } from '../../runtime/error.ts'
import type { AsnProof } from './asn-proof-result.ts'

/** A verification as stored. */
export type AsnVerificationState = {
  readonly verified: Date | null
  readonly verifiedBy: AsnProofMethod | null
  readonly expires: Date | null
}

/**
 * Locks the ASN until the end of the transaction: two teams that prove it at the same moment would otherwise not see each
 * other.
 */
export async function lockAsn(trx: Trx, asn: Asn): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`asn ${asn}`}, 0))`.execute(trx)
}

/** Returns whether another team is currently verified for the ASN. */
export async function isVerifiedElsewhere(trx: Trx, teamId: number, asn: Asn): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select asn_is_held(${teamId}::integer, ${asn}::bigint) as held`.execute(trx)
  return rows[0]!.held
}

export async function listAsnProofs(trx: Trx, teamId: number, asn: Asn): Promise<AsnProof[]> {
  const { rows } = await sql<Omit<AsnProof, 'missingSince'> & { missing_since: Date | null }>`
    select method, state, reason, attrs, note, evidence, missing_since, checked from asn_proofs
    where team_id = ${teamId} and asn = ${asn}`.execute(trx)
  return rows.map(({ missing_since: missingSince, ...proof }) => ({ ...proof, missingSince }))
}

export async function saveAsnProofs(
  trx: Trx,
  teamId: number,
  asn: Asn,
  proofs: readonly AsnProof[],
): Promise<void> {
  // A method whose evidence is refused keeps its former result.
  await writeRows(trx, proofs, (some) => upsertAsnProofs(trx, teamId, asn, some))
}

async function upsertAsnProofs(
  trx: Trx,
  teamId: number,
  asn: Asn,
  proofs: readonly AsnProof[],
): Promise<void> {
  const rows = proofs.map(({ missingSince, ...proof }) => ({ ...proof, missing_since: missingSince }))
  await sql`
    insert into asn_proofs (team_id, asn, method, state, reason, attrs, note, evidence, missing_since, checked)
    select ${teamId}, ${asn}, n.method, n.state, n.reason, n.attrs, n.note, n.evidence, n.missing_since, n.checked
    from jsonb_to_recordset(${storedJson(rows)}::jsonb) as n (
      method text, state text, reason text, attrs jsonb, note text, evidence jsonb, missing_since timestamptz, checked timestamptz)
    on conflict (team_id, asn, method) do update set state = excluded.state, reason = excluded.reason,
      attrs = excluded.attrs, note = excluded.note,
      evidence = excluded.evidence, missing_since = excluded.missing_since, checked = excluded.checked`.execute(
    trx,
  )
}

/**
 * Creates the team's row if it is missing. Leaves a row that the operator has verified or revoked unchanged. Expired
 * proofs of other teams are ended first, since only one team can be verified. Call `lockAsn` before; throws `conflict`
 * otherwise.
 */
export async function saveVerification(
  trx: Trx,
  teamId: number,
  asn: Asn,
  { verified, verifiedBy, expires }: AsnVerificationState,
): Promise<void> {
  if (verified !== null) await sql`select end_expired_asn(${asn}::bigint)`.execute(trx)
  await sql`
    insert into asns as a (team_id, asn, verified, verified_by, expires)
    values (${teamId}, ${asn}, ${verified}, ${verifiedBy}, ${expires})
    on conflict (team_id, asn) do update
    set verified = excluded.verified, verified_by = excluded.verified_by, expires = excluded.expires
    where (a.verified is null or a.verified_by is not null) and a.revoked is null`
    .execute(trx)
    .catch(rethrowHeld)
}

/** The unique index that allows one verified team for each ASN. */
const oneHolder = 'asns_one_holder'

/** Another writer, which did not take the lock, was faster. */
export function rethrowHeld(error: unknown): never {
  if ((error as { constraint?: string }).constraint !== oneHolder) throw error
  throw fail('conflict', 'asnRace', {
    cause: error,
  })
}

/** Returns the prefixes of the team that do not depend on the ASN: set by the operator, or all checks passed once. */
export async function listHeldPrefixes(trx: Db | Trx, teamId: number): Promise<Prefix[]> {
  const { rows } = await sql<{ prefix: string }>`
    select prefix from prefixes where team_id = ${teamId}
    union
    select prefix from announcements where team_id = ${teamId} and claimed is not null and deleted is null`.execute(
    trx,
  )
  return rows.map(({ prefix }) => parsePrefix(prefix))
}

export type ProvenAsn = {
  readonly id: number
  readonly teamId: number
  readonly asn: Asn
  readonly verifiedBy: AsnProofMethod
}

/** Returns the proven ASNs not checked since that time or expired; sorted by id, after the given one. */
export async function listDueAsns(
  db: Db,
  checkedBefore: Date,
  now: Date,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ProvenAsn[]> {
  const { rows } = await sql<{ id: number; team_id: number; asn: number; verified_by: AsnProofMethod }>`
    select a.id, a.team_id, a.asn, a.verified_by
    from asns a
    left join asn_proofs p on p.team_id = a.team_id and p.asn = a.asn and p.method = a.verified_by
    where a.id > ${after} and a.verified_by is not null
      and (p.checked is null or p.checked < ${checkedBefore} or a.expires <= ${now})
    order by a.id limit ${limit}`.execute(db)
  return rows.map(({ id, team_id: teamId, asn, verified_by: verifiedBy }) => ({
    id,
    teamId,
    asn: parseAsn(asn),
    verifiedBy,
  }))
}

/** Deletes results for ASNs that the team is not verified for and that were not checked since that time. */
export async function deleteOldProofs(db: Db, checkedBefore: Date): Promise<void> {
  await sql`
    delete from asn_proofs p where p.checked < ${checkedBefore} and not exists (
      select from asns a where a.team_id = p.team_id and a.asn = p.asn and a.verified is not null)`.execute(
    db,
  )
}
