// The SQL of the sign-in of staff: the identity provider of the platform file, and the account of an assertion.
import { sql } from 'kysely'
import type { StaffRole } from '@pharos/contract/staff-role'
import type { Db, Trx } from '../db/postgres.ts'
import { findHomeTeam } from '../session/session.store.ts'

export type StaffSignIn = {
  readonly issuer: string
  readonly client_id: string
  readonly secret_sealed: Buffer
  readonly domains: readonly string[]
  readonly groups: Readonly<Record<string, readonly StaffRole[]>>
  readonly groups_claim: string
  readonly acr: string | null
  readonly second_factor: 'claim' | 'trust'
  readonly required: boolean
  readonly break_glass: readonly string[]
}

export async function findStaffSignIn(db: Db | Trx): Promise<StaffSignIn | undefined> {
  const { rows } = await sql<StaffSignIn>`
    select issuer, client_id, secret_sealed, domains, groups, groups_claim, acr, second_factor, required, break_glass from staff_sign_in`.execute(
    db,
  )
  return rows[0]
}

export type SignInStaff = {
  readonly id: number
  readonly session_version: number
  readonly team_id: number | null
}

/** Returns the account of staff with the address, which its owner has confirmed, and the team in which its session opens. */
export async function findSignInStaff(db: Db | Trx, email: string): Promise<SignInStaff | undefined> {
  const { rows } = await sql<Omit<SignInStaff, 'team_id'>>`
    select id, session_version from users
    where lower(email) = lower(${email}) and is_staff and not is_demo and email_confirmed is not null`.execute(
    db,
  )
  return rows[0] && { ...rows[0], team_id: await findHomeTeam(db, rows[0].id) }
}

/** Returns whether the rights of staff needed the sign-in of staff before. */
export async function openStaffSignIn(trx: Trx): Promise<boolean> {
  const { rows } = await sql`update staff_sign_in set required = false where required returning key`.execute(
    trx,
  )
  return rows.length > 0
}
