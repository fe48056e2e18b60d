// The ASNs of a team with their verification. Proving an ASN is in asn-proof.ts.
import type { HeldAsn as Wire, listAsnsRoute } from '@pharos/contract/inventory/asn'
import type { QueryOf } from '@pharos/contract/route'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { parseAsn, reservedAsn, type Asn } from '../../net/asn.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { findAsnRow, findAsns, listAsnRows } from './asn.store.ts'
import { isVerified, type HeldAsn } from './held-asn.ts'

/** Returns the ASN of the team if it is verified and not expired; undefined otherwise. */
export async function findVerifiedAsn(
  trx: Db | Trx,
  teamId: number,
  asn: Asn,
  now: Date = new Date(),
): Promise<HeldAsn | undefined> {
  return (await findVerifiedAsns(trx, teamId, [asn], now)).get(asn)
}

/** Filters the ASNs: only ASNs with a current verification for the team; one query for many announcements. */
export async function findVerifiedAsns(
  trx: Db | Trx,
  teamId: number,
  asns: readonly Asn[],
  now: Date = new Date(),
): Promise<ReadonlyMap<Asn, HeldAsn>> {
  const held = await findAsns(trx, teamId, asns)
  return new Map(held.filter((one) => isVerified(one, now)).map((one) => [one.asn, one]))
}

/** Returns whether the operator has revoked the team's verification for it. */
export async function isRevokedAsn(trx: Db | Trx, teamId: number, asn: Asn): Promise<boolean> {
  const [held] = await findAsns(trx, teamId, [asn])
  return held !== undefined && held.revoked !== null
}

export type AsnRules = {
  /** Accepts the ASNs of RFC 5398 as real ones, for demos, labs and tests. */
  readonly allowDocumentationAsns: boolean
}

/** Returns an ASN that a network can hold; throws `reserved_asn` for others. */
export function parseHoldableAsn(value: number, { allowDocumentationAsns }: AsnRules): Asn {
  const asn = parseAsn(value)
  const reserved = reservedAsn(asn)
  if (reserved === undefined || (reserved.documentation && allowDocumentationAsns)) return asn
  const msg = `is reserved: ${reserved.name}`
  throw fail(
    'reserved_asn',
    'asn',
    { asn, reservedFor: reserved.name },
    {
      errors: [{ loc: ['path', 'asn'], msg, type: 'reserved', ctx: { reserved_for: reserved.name } }],
    },
  )
}

/** Returns a page of the ASNs of the actor's team and the exact count, from one snapshot. */
export async function listAsns(
  { postgres, now }: { readonly postgres: Postgres; readonly now: () => Date },
  { actor }: Operation,
  query: QueryOf<typeof listAsnsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listAsnRows(postgres, actor.teamId, query)
  return { results: page.map((held) => present(held, now())), count }
}

/** Returns one ASN of the actor's team with its ETag; throws `not_found` for any other. */
export async function getAsn(
  { postgres, now }: { readonly postgres: Postgres; readonly now: () => Date },
  { actor }: Operation,
  asn: number,
): Promise<{ body: Wire; etag: string }> {
  const held = await findAsnRow(postgres, actor.teamId, asn)
  if (!held) throw notFound('ASN')
  const body = present(held, now())
  return { body, etag: etagOf(body) }
}

function present(held: HeldAsn, now: Date): Wire {
  return {
    id: held.id,
    asn: held.asn,
    name: held.name,
    ...presentVerification(held, now),
    created: held.created.toISOString(),
  }
}

export const presentRevocation = (held: HeldAsn | undefined): { at: string; reason: string } | null =>
  held?.revoked ? { at: held.revoked.at.toISOString(), reason: held.revoked.reason } : null

/** Returns the verification of the team for the ASN; an expired proof counts as missing. */
export function presentVerification(
  held: HeldAsn | undefined,
  now: Date,
): Pick<Wire, 'verified' | 'verified_by' | 'expires'> {
  if (!held || !isVerified(held, now)) return { verified: null, verified_by: null, expires: null }
  return {
    verified: held.verified!.toISOString(),
    verified_by: held.verifiedBy,
    expires: held.expires?.toISOString() ?? null,
  }
}
