// The SQL of staff tokens: create, list, revoke, and the check of a presented one. They belong to no team, so everything here
// runs as the owner.
import { sql } from 'kysely'
import type { StaffScope } from '@pharos/contract/scope'
import type { Db, Trx } from '../db/postgres.ts'
import type { RefusedToken, RenewedMac } from './credentials.store.ts'

export type StaffTokenRecord = {
  readonly id: string
  readonly teamId: null
  readonly secretMac: Buffer
  readonly scopes: readonly string[]
  readonly allowedNetworks: readonly string[]
  readonly expires: Date
}

/** Returns a staff token that is neither revoked nor expired. */
export async function findStaffTokenRecord(db: Db, id: string): Promise<StaffTokenRecord | undefined> {
  const { rows } = await sql<StaffTokenRecord>`
    select s.id, null as "teamId", s.secret_mac as "secretMac", s.scopes,
      s.allowed_networks::text[] as "allowedNetworks", s.expires
    from staff_tokens s where s.id = ${id} and s.revoked is null and s.expires > now()`.execute(db)
  return rows[0]
}

/** Returns a staff token that findStaffTokenRecord does not return, with the reason. */
export async function findRefusedStaffToken(db: Db, id: string): Promise<RefusedToken | undefined> {
  const { rows } = await sql<RefusedToken>`
    select null as "teamId", secret_mac as "secretMac",
      case when revoked is not null then 'revoked' else 'expired' end as reason
    from staff_tokens where id = ${id}`.execute(db)
  return rows[0]
}

/** Saves the time and address of a use, with the MAC under the newest key, at most once a minute: as saveTokenUse. */
export async function saveStaffTokenUse(
  db: Db,
  id: string,
  macs: RenewedMac | null,
  address: string | null,
): Promise<void> {
  await sql`
    update staff_tokens set last_used = now(), last_used_address = ${address},
      secret_mac = case when secret_mac = ${macs?.before ?? null} then ${macs?.after ?? null} else secret_mac end
    where id = ${id} and (last_used is null or last_used <= now() - interval '1 minute')`.execute(db)
}

export type NewStaffToken = {
  readonly id: string
  readonly name: string
  readonly secretMac: Buffer
  readonly scopes: readonly StaffScope[]
  readonly networks: readonly string[]
  readonly expires: Date
}

export async function insertStaffToken(trx: Trx, token: NewStaffToken): Promise<void> {
  await sql`
    insert into staff_tokens (id, name, secret_mac, scopes, allowed_networks, expires)
    values (${token.id}, ${token.name}, ${token.secretMac}, ${token.scopes}, ${token.networks}::cidr[], ${token.expires})`.execute(
    trx,
  )
}

export type StaffTokenRow = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly networks: readonly string[]
  readonly created: Date
  readonly expires: Date
  readonly last_used: Date | null
}

/** Returns the tokens that are not revoked, newest first. */
export async function listStaffTokens(db: Db): Promise<StaffTokenRow[]> {
  const { rows } = await sql<StaffTokenRow>`
    select s.id, s.name, s.scopes, s.allowed_networks::text[] as networks, s.created, s.expires, s.last_used
    from staff_tokens s where s.revoked is null order by s.created desc, s.id`.execute(db)
  return rows
}

/** Revokes the token; `exists` is true also if it was revoked before. */
export async function revokeStaffTokenRow(
  trx: Trx,
  id: string,
): Promise<{ readonly exists: boolean; readonly isRevoked: boolean }> {
  const { numAffectedRows } = await sql`
    update staff_tokens set revoked = now() where id = ${id} and revoked is null`.execute(trx)
  const { rows } = await sql<{ id: string }>`select id from staff_tokens where id = ${id}`.execute(trx)
  return { exists: rows.length > 0, isRevoked: numAffectedRows === 1n }
}
