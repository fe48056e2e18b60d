// Reads a credential in one query: the session or token, its holder, the team and its modules.
import { sql } from 'kysely'
import type { Role } from '@pharos/contract/role'
import type { StaffRole } from '@pharos/contract/staff-role'
import type { Db } from '../db/postgres.ts'
import type { OpenAccess } from '../operation/operation.ts'
import {
  blockedBy,
  isLocalSession,
  lacksStaffSignIn,
  neededProvider,
  staffRolesInSession,
  type BlockReason,
} from '../db/proofs.ts'
import { rolesOfMember } from '../db/roles.ts'
import { lacksResources, limitsOfToken, type LimitRow } from '../limit/resource-limit.store.ts'

export type BearerRecord = {
  readonly sessionVersion: number
  /** With the rights of staff in this session. */
  readonly isStaff: boolean
  /** Staff without the proof that their rights need. */
  readonly lacks_staff_sign_in: boolean
  readonly staff_roles: readonly StaffRole[]
  readonly isDemo: boolean
  /** Null: not a member of the team. */
  readonly roles: readonly Role[] | null
  /** The open access of the session to the team. */
  readonly access: (OpenAccess & { readonly expires: string }) | null
  readonly modules: readonly string[]
  /** Why the session does not open the team; null if it does. */
  readonly blocked_by: BlockReason | null
  /** A password or a passkey of the account opened the session. */
  readonly is_local: boolean
  /** Key of the identity provider of the team, if the session does not open it. */
  readonly provider: string | null
}

/** Returns the record of an active session in the team; undefined if it does not exist. */
export async function findBearerRecord(
  db: Db,
  sessionId: string,
  userId: number,
  teamId: number,
): Promise<BearerRecord | undefined> {
  const { rows } = await sql<BearerRecord>`
    select u.session_version as "sessionVersion", u.is_staff and not ${lacksStaffSignIn} as "isStaff", u.is_demo as "isDemo",
      ${lacksStaffSignIn} as lacks_staff_sign_in, ${staffRolesInSession} as staff_roles, ${rolesOfMember} as roles,
      case when a.id is not null then json_build_object('id', a.id, 'change', a.change, 'expires', a.expires) end as access, t.enabled_modules as modules,
      o.blocked_by, o.is_local, case when o.blocked_by = 'sign_in' then ${neededProvider} end as provider
    from sessions s
    join users u on u.id = s.user_id
    join teams t on t.id = ${teamId}
    left join memberships m on m.team_id = t.id and m.user_id = u.id
    cross join lateral (select ${blockedBy} as blocked_by, ${isLocalSession} as is_local) o
    left join staff_accesses a on a.session_id = s.id and a.team_id = t.id and a.closed is null and a.expires > now()
    where s.id = ${sessionId} and s.user_id = ${userId} and s.revoked is null and s.expires > now()`.execute(
    db,
  )
  return rows[0]
}

export type TokenRecord = {
  readonly id: string
  readonly teamId: number
  readonly name: string
  readonly secretMac: Buffer
  readonly scopes: readonly string[]
  readonly allowedNetworks: readonly string[]
  readonly isAdmin: boolean
  readonly modules: readonly string[]
  readonly created: Date
  readonly expires: Date | null
  readonly lastUsed: Date | null
  /** Null: the token is not limited. */
  readonly limits: readonly LimitRow[] | null
  /** MAC of the secret before the last rotation, while it is valid. */
  readonly previousMac: Buffer | null
  readonly previousUntil: Date | null
  readonly serviceAccountId: number | null
  /** Roles of the service account that has the token. */
  readonly serviceRoles: readonly Role[] | null
}

/** Returns an API token that is not revoked, expired, unused for too long, without its resources or of a disabled service account. */
export async function findTokenRecord(db: Db, id: string): Promise<TokenRecord | undefined> {
  const { rows } = await sql<TokenRecord>`
    select a.id, a.team_id as "teamId", a.name, a.secret_mac as "secretMac", a.scopes,
      a.allowed_networks::text[] as "allowedNetworks", a.is_admin as "isAdmin", t.enabled_modules as modules,
      a.created, a.expires, a.last_used as "lastUsed", ${limitsOfToken} as limits, a.service_account_id as "serviceAccountId",
      s.roles as "serviceRoles",
      a.previous_mac as "previousMac", a.previous_until as "previousUntil"
    from api_tokens a join teams t on t.id = a.team_id left join service_accounts s on s.id = a.service_account_id
    where a.id = ${id} and a.revoked is null and (a.expires is null or a.expires > now())
      and (a.max_unused_days is null
        or coalesce(a.last_used, a.created) > now() - make_interval(days => a.max_unused_days))
      and not ${lacksResources} and s.disabled is not true`.execute(db)
  return rows[0]
}

export type RefusedToken = {
  /** Null for a staff token. */
  readonly teamId: number | null
  readonly secretMac: Buffer
  readonly reason: 'revoked' | 'expired' | 'disabled' | 'no_resources' | 'unused'
}

/** Returns an API token that findTokenRecord does not return, with the reason. */
export async function findRefusedToken(db: Db, id: string): Promise<RefusedToken | undefined> {
  const { rows } = await sql<RefusedToken>`
    select a.team_id as "teamId", a.secret_mac as "secretMac",
      case when a.revoked is not null then 'revoked' when a.expires <= now() then 'expired' when s.disabled then 'disabled'
        when ${lacksResources} then 'no_resources' else 'unused' end as reason
    from api_tokens a left join service_accounts s on s.id = a.service_account_id where a.id = ${id}`.execute(
    db,
  )
  return rows[0]
}

/** The stored MAC of a secret, and the one under the newest key. */
export type RenewedMac = { readonly before: Buffer; readonly after: Buffer }

/**
 * Saves the time and address of a use of the token, with its MAC under the newest key; at most once a minute over all
 * processes, so that a busy program does not write on every call. `address` is null if it could not be parsed, `macs`
 * if the secret was not the newest one. A secret that was replaced in the meantime stays replaced.
 */
export async function saveTokenUse(
  db: Db,
  id: string,
  macs: RenewedMac | null,
  address: string | null,
): Promise<void> {
  await sql`
    update api_tokens set last_used = now(), last_used_address = ${address},
      secret_mac = case when secret_mac = ${macs?.before ?? null} then ${macs?.after ?? null} else secret_mac end
    where id = ${id} and (last_used is null or last_used <= now() - interval '1 minute')`.execute(db)
}
