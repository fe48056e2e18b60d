// ASNs of teams. The operator verifies an ASN for at most one team; that ends other teams' proofs of it.
import { sql } from 'kysely'
import { lockAsn } from '../../inventory/holding/asn-proof.store.ts'
import { parseAsn } from '../../net/asn.ts'
import { defineKind, rowsByKey } from '../engine/define-kind.ts'
import { column, mapped, referenceById } from '../engine/field.ts'
import type { PlatformChange, CheckContext, PlanDraft, Row, Update } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { AsnNumber, Optional, Passed, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { teamKind } from './team.ts'
import { noticeReserved, readPassed, toTime, type PassedAt } from './values.ts'

/**
 * Whether an ASN belongs to a team. True or a time: verified by the operator. False: revoked by the operator, so proofs
 * of the team do not count. `proven`: verified by the team itself since that time. Null: not verified.
 */
type Verified = PassedAt | { readonly proven: string } | null

const isByOperator = (verified: unknown): boolean => verified === true || typeof verified === 'string'
const isProven = (verified: Verified): boolean => typeof verified === 'object' && verified !== null

export const asnKind = defineKind({
  name: 'asn',
  plural: 'asns',
  section: 'asns',
  element: Strict({ team: TeamSlug, asn: AsnNumber, name: Optional(Text), verified: Optional(Passed) }),
  table: { name: 'asns', id: 'id' },
  identity: ['team', 'asn'],
  keyOf: (fields) => `${fields.team} AS${fields.asn}`,
  fields: {
    team: referenceById('asns', 'team_id', teamKind),
    asn: column('asns', 'asn'),
    name: column('asns', 'name', { initial: '', isShown: true, isShared: true }),
    verified: mapped('asns', ['verified', 'verified_by', 'revoked'], {
      read({ verified, verified_by, revoked }): Verified {
        if (verified === null) return revoked === null ? null : false
        return verified_by === null ? verified.toISOString() : { proven: verified.toISOString() }
      },
      write: (verified, now) => ({
        verified: isByOperator(verified) ? toTime(verified as PassedAt, now) : null,
        verified_by: null,
        expires: null,
        revoked: verified === false ? now : null,
        revoked_reason: verified === false ? 'Set to false in the platform file of the provider.' : null,
      }),
      initial: null,
      isShared: true,
    }),
  },
  // The file may omit ASNs that the team has proven, and pruning does not lift a revocation.
  stateOf: ({ verified_by, revoked }) => ({ isPrunable: verified_by === null && revoked === null }),
  wakes: 'validations',
  /** A proof of the team stays if the element does not name it. */
  elementOf: ({ verified, ...rest }) => ({
    ...rest,
    verified: isByOperator(verified) ? true : verified === false ? false : null,
  }),
  check(context, elements): void {
    const written = new Map(
      elements.map(({ element }) => [`${element.team} ${element.asn}`, element.verified]),
    )
    const holders = new Map(
      [...context.rows(asnKind).values()]
        .map(({ fields }) => fields)
        .filter((fields) => isByOperator(fields.verified))
        .filter((fields) => {
          const key = `${fields.team} ${fields.asn}`
          return written.has(key) ? written.get(key) !== false : !context.isPruned(asnKind)
        })
        .map((fields) => [fields.asn, fields.team]),
    )
    for (const { path, element } of elements) {
      noticeReserved(context, [...path, 'asn'], element.asn)
      const place = [...path, 'verified']
      const verified = readPassed(context, place, element.verified)
      context.add(asnKind, path, { ...element, verified })
      if (isByOperator(verified)) checkOneHolder(context, place, element, holders)
    }
  },
  adjust: endProofs,
  async prepare(trx, changes): Promise<void> {
    const asns = new Set(changes.filter(({ kind }) => kind === asnKind.name).map(asnOf))
    for (const one of [...asns].sort((a, b) => a - b)) await lockAsn(trx, parseAsn(one))
    const released = changes.flatMap((change) => (isReleased(change) ? [Number(change.row.id)] : []))
    await sql`
      update asns set verified = null, verified_by = null, expires = null where id = any(${released})`.execute(
      trx,
    )
  },
})

function checkOneHolder(
  context: CheckContext,
  place: Path,
  element: { readonly team: string; readonly asn: number },
  holders: ReadonlyMap<number, string>,
): void {
  const name = `AS${element.asn}`
  if (!context.claim(`verified ${name}`, place, `${name} is verified for two teams`)) return
  const holder = holders.get(element.asn)
  if (holder === undefined || holder === element.team) return
  const fix = 'set verified: false there to end that'
  context.problem(place, `${name} is verified for team ${holder}; ${fix}`)
}

/** Ends the proofs of other teams for the ASNs that the operator verifies. */
function endProofs({ changes, current }: PlanDraft): readonly PlatformChange[] {
  const verified = changes.filter(
    (change) =>
      change.kind === asnKind.name && change.action !== 'delete' && isByOperator(change.fields['verified']),
  )
  const asns = new Set(verified.map(asnOf))
  const changed = new Set(
    changes.flatMap((change) =>
      change.kind === asnKind.name && change.action !== 'delete' && change.fields['verified'] !== undefined
        ? [change.key]
        : [],
    ),
  )
  const ended = [...rowsByKey(current, asnKind).values()].filter(
    ({ key, fields }) => isProven(fields.verified) && asns.has(fields.asn) && !changed.has(key),
  )
  return [...changes, ...ended.map(endProof)]
}

function endProof(row: Row<{ verified: Verified }>): Update {
  const changes = [{ field: 'verified', before: row.fields.verified, after: null }]
  return {
    action: 'update',
    kind: asnKind.name,
    key: row.key,
    changes,
    fields: { verified: null },
    row: row as Row,
  }
}

const asnOf = (change: PlatformChange): number =>
  (change.action === 'create' ? change.fields : change.row.fields)['asn'] as number

/** One team at most is verified for an ASN: the team that loses it is updated before another one gets it. */
function isReleased(change: PlatformChange): change is Exclude<PlatformChange, { action: 'create' }> {
  if (change.kind !== asnKind.name || change.action === 'create') return false
  if (change.action === 'delete') return true
  return change.fields['verified'] !== undefined && !isByOperator(change.fields['verified'])
}
