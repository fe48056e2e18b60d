// Decisions of staff about ASNs: verify one for a team, or revoke a verification. At most one team is verified at any
// time. No route is withdrawn here: the checks run again, and the policy of the validator decides.
import {
  asnProofScopes,
  type AsnOfTeam as Wire,
  type listAsnsOfTeamsRoute,
} from '@pharos/contract/inventory/asn'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { parseAsn, type Asn } from '../../net/asn.ts'
import { fail, notFound } from '../../runtime/error.ts'
import type { StaffOperation } from '../../operation/operation.ts'
import { parseHoldableAsn, type AsnRules } from './asn.ts'
import {
  endVerification,
  findAsnHolder,
  findTeamName,
  listAsnsOfTeams,
  saveOperatorVerification,
  saveRevocation,
  type AsnOfTeamRow,
  type AsnHolder,
} from './asn-decision.store.ts'
import { findAsns } from './asn.store.ts'
import { lockAsn } from './asn-proof.store.ts'

export type AsnDecisionDeps = AsnRules & { readonly db: Db; readonly now: () => Date }

/** The body of both decisions, as parsed by the contract. */
export type AsnDecision = { readonly team_id: number; readonly reason: string }

/** Returns a page of all teams' ASNs and the exact count. */
export async function listAllAsns(
  { db, now }: Pick<AsnDecisionDeps, 'db' | 'now'>,
  _operation: unknown,
  query: QueryOf<typeof listAsnsOfTeamsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listAsnsOfTeams(db, query)
  return { results: page.map((row) => present(row, now())), count }
}

/**
 * Verifies the ASN for the team without expiry, lifts a revocation, and ends the proofs of other teams. Repeating it
 * has no effect. Throws `reserved_asn`, `not_found` for the team and `conflict` if the provider has verified it for
 * another team.
 */
export function verifyForTeam(
  deps: AsnDecisionDeps,
  operation: StaffOperation,
  number: number,
  { team_id: teamId, reason }: AsnDecision,
): Promise<ChangeAnswer<Wire>> {
  const wanted = parseHoldableAsn(number, deps)
  return decide(deps, operation, wanted, teamId, async (trx, asn, now) => {
    const [held] = await findAsns(trx, teamId, [asn])
    if (held?.verifiedBy === 'operator') return
    const holder = await findAsnHolder(trx, asn)
    if (holder && holder.team_id !== teamId) await endProof(trx, operation, asn, holder)
    await saveOperatorVerification(trx, teamId, asn, now)
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId,
      action: 'asn.verify',
      target: `asn:${asn}`,
      before: { verifiedBy: held?.verifiedBy ?? null, revoked: held?.revoked ?? null },
      after: { verifiedBy: 'operator', reason },
    })
  })
}

/**
 * Ends the verification immediately; proofs of the team do not count from then on. Repeating it has no effect. Accepts
 * reserved ASNs too, which the platform file may have verified. Throws `not_found` for the team.
 */
export function revokeForTeam(
  deps: AsnDecisionDeps,
  operation: StaffOperation,
  number: number,
  { team_id: teamId, reason }: AsnDecision,
): Promise<ChangeAnswer<Wire>> {
  return decide(deps, operation, parseAsn(number), teamId, async (trx, asn, now) => {
    const [held] = await findAsns(trx, teamId, [asn])
    if (held?.revoked) return
    await saveRevocation(trx, teamId, asn, reason, now)
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId,
      action: 'asn.revoke',
      target: `asn:${asn}`,
      before: { verifiedBy: held?.verifiedBy ?? null },
      after: { verifiedBy: null, reason },
    })
  })
}

function decide(
  { db, now }: AsnDecisionDeps,
  operation: StaffOperation,
  asn: Asn,
  teamId: number,
  change: (trx: Trx, asn: Asn, now: Date) => Promise<void>,
): Promise<ChangeAnswer<Wire>> {
  const find = async (trx: Trx): Promise<AsnOfTeamRow | undefined> => {
    const one = { asn: [asn], team_id: [teamId], ordering: 'asn', limit: 1, offset: 0 }
    return (await listAsnsOfTeams(trx, one)).page[0]
  }
  return runOwnerChange(db, operation, async (trx) => {
    await lockAsn(trx, asn)
    if ((await findTeamName(trx, teamId)) === undefined) throw notFound('team')
    const before = await find(trx)
    await change(trx, asn, now())
    await wake(trx, 'validations')
    const body = present((await find(trx))!, now())
    return { body, ...(before && { before: present(before, now()) }) }
  })
}

/**
 * A verification by the provider for another team is not overwritten: staff must revoke it first. The audit entry does not
 * contain the reason, which may name the other team.
 */
async function endProof(trx: Trx, operation: StaffOperation, asn: Asn, holder: AsnHolder): Promise<void> {
  if (holder.verified_by === null)
    throw fail('conflict', 'asnHeld', { asn, team: holder.team_name, teamId: holder.team_id })
  await endVerification(trx, holder.team_id, asn)
  await writeAudit(trx, {
    ...auditOf(operation),
    teamId: holder.team_id,
    action: 'asn.expire',
    target: `asn:${asn}`,
    before: { verified: holder.verified, verifiedBy: holder.verified_by, expires: holder.expires },
    after: { verified: null, verifiedBy: null, expires: null, reason: 'verified_for_other_team' },
  })
}

function present(row: AsnOfTeamRow, now: Date): Wire {
  const isVerified = row.verified !== null && (row.expires === null || row.expires > now)
  return {
    asn: row.asn,
    team: { id: row.team_id, name: row.team_name },
    verified: isVerified ? row.verified!.toISOString() : null,
    verified_by: isVerified ? (row.verified_by ?? 'operator') : null,
    expires: isVerified ? (row.expires?.toISOString() ?? null) : null,
    revoked: row.revoked && { at: row.revoked.toISOString(), reason: row.revoked_reason! },
    evidence: row.evidence.map(({ checked, ...one }) => ({
      ...one,
      proves: asnProofScopes[one.method],
      checked: new Date(checked).toISOString(),
    })),
  }
}
