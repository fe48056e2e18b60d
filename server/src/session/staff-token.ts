// Staff tokens: credentials of the provider's own programs, for the operations of staff and no others. The operator creates
// and revokes them with `pharos token`; only a MAC of the secret is stored.
import { staffScopes, type StaffScope } from '@pharos/contract/scope'
import { writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { invalid } from '../runtime/error.ts'
import { mac, type KeyRing } from '../runtime/secrets.ts'
import { createApiToken, formatApiToken } from './api-token-format.ts'
import {
  insertStaffToken,
  listStaffTokens,
  revokeStaffTokenRow,
  type StaffTokenRow,
} from './staff-token.store.ts'

export { listStaffTokens, type StaffTokenRow }

export type StaffTokenRequest = {
  readonly name: string
  readonly scopes: readonly string[]
  readonly networks: readonly Prefix[]
  readonly expires: Date
}

/** Creates a staff token; `text` is the token itself, which is not stored. Throws `invalid` for an unknown scope. */
export async function createStaffToken(
  db: Db,
  ring: KeyRing,
  { scopes, ...rest }: StaffTokenRequest,
): Promise<{ readonly id: string; readonly text: string }> {
  const settings = { ...rest, scopes: parseScopes(scopes) }
  const token = createApiToken('staff')
  const secretMac = mac(ring, 'staff-token', token.secret)
  await db.transaction().execute(async (trx) => {
    await insertStaffToken(trx, { ...settings, id: token.id, secretMac })
    await writeAudit(trx, { ...entryOf('create', token.id), after: settings })
  })
  return { id: token.id, text: formatApiToken(token) }
}

/** Revokes a staff token; no effect on a revoked token. Returns false if the id does not exist. */
export async function revokeStaffToken(db: Db, id: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { exists, isRevoked } = await revokeStaffTokenRow(trx, id)
    if (isRevoked) await writeAudit(trx, entryOf('revoke', id))
    return exists
  })
}

const entryOf = (verb: string, id: string) => ({
  teamId: null,
  actor: 'operator',
  action: `staff_token.${verb}`,
  target: `staff_token:${id}`,
})

function parseScopes(scopes: readonly string[]): StaffScope[] {
  const known: readonly string[] = staffScopes
  if (scopes.length === 0) throw invalid(['scopes'], 'scopesMissing', { known })
  const unknown = scopes.find((scope) => !known.includes(scope))
  if (unknown !== undefined) throw invalid(['scopes'], 'scope', { unknown, known })
  return [...new Set(scopes)] as StaffScope[]
}
