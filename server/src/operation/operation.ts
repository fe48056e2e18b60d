// The caller of a use-case and the conditions of the call: everything that it needs to know about a request, without
// HTTP.
import type { Role } from '@pharos/contract/role'
import type { StaffRole } from '@pharos/contract/staff-role'
import type { Limits } from './limits.ts'

/** An authenticated caller in one team: a user of the web application, or a program with an API token. */
export type Actor = UserActor | TokenActor

/** An authenticated caller of an operation of staff. A program of the provider has no team. */
export type StaffActor = UserActor | StaffTokenActor

/** Any authenticated caller. */
export type AnyActor = Actor | StaffTokenActor

type Holder = {
  readonly teamId: number
  /** Roles in the team; empty for staff who are no member. */
  readonly roles: readonly Role[]
  /** Roles of the provider's staff; empty for others. */
  readonly staffRoles: readonly StaffRole[]
  /** The modules of the team (`ipam`, `lighthouse`, ...). */
  readonly modules: readonly string[]
  /** The resources of a limited token; null: all of the team. */
  readonly limits: Limits | null
}

/** An open access of staff to a team of which they are no member. */
export type OpenAccess = {
  readonly id: number
  /** Whether changing operations are allowed. */
  readonly change: boolean
}

export type UserActor = Holder & {
  readonly kind: 'user'
  readonly userId: number
  readonly sessionId: string
  readonly isStaff: boolean
  /** Null for members, and for staff without one: the team is closed to them. */
  readonly access: OpenAccess | null
  /** A password or a passkey of the account opened the session, not only the identity provider of a team. */
  readonly isLocal: boolean
  /** Why the session does not open the team: no second factor was used, or the team needs a sign-in with its provider. */
  readonly blockedBy: TeamBlock | null
  /** Staff without the sign-in that the rights of staff need: `isStaff` is false. */
  readonly lacksStaffSignIn?: true | undefined
}

export type TeamBlock =
  | { readonly reason: 'second_factor' }
  /** `provider`: the key of the team's identity provider; null if it has none. */
  | { readonly reason: 'sign_in'; readonly provider: string | null }

export type TokenActor = Holder & {
  readonly kind: 'token'
  readonly tokenId: string
  readonly isStaff: false
  /** `ipam:read`, `ipam:write`, ... */
  readonly scopes: readonly string[]
}

/** A program of the provider, with a staff token. */
export type StaffTokenActor = {
  readonly kind: 'staff_token'
  readonly tokenId: string
  readonly isStaff: true
  /** `admin:read`, `admin:write`. */
  readonly scopes: readonly string[]
}

/** A program that changes zones by DNS UPDATE, with a TSIG key of its team. */
export type TsigKeyActor = {
  readonly kind: 'tsig_key'
  /** Name of the key, which is unique over all teams. */
  readonly tokenId: string
  readonly teamId: number
  readonly isStaff: false
  readonly limits: Limits | null
}

/** The author of changes to record sets of a team. */
export type ZoneEditor = Actor | TsigKeyActor

/** One call, reading or changing, as the use-cases get it. */
export type Operation<A extends AnyActor | TsigKeyActor = Actor> = {
  readonly actor: A
  readonly requestId: string
  readonly address: string
  /** Validate and plan completely, without storing. */
  readonly dryRun: boolean
  /** The `If-Match` header; null if absent. */
  readonly ifMatch: string | null
  /** The `Idempotency-Key` header with the hash of method, path and body; null if absent. */
  readonly idempotency: { readonly key: string; readonly requestHash: Buffer } | null
}

/** The team whose data is read, for a caller of an operation or for a loop. */
export type ReadingActor = { readonly actor: Pick<Actor, 'teamId' | 'staffRoles'> }

/** One call of an operation of staff. */
export type StaffOperation = Operation<StaffActor>

/** Such as `user:7`, `token:k3j5...`, `staff_token:k3j5...` or `tsig_key:update.example.`: the actor in the audit log. */
export function actorName(actor: AnyActor | TsigKeyActor): string {
  return actor.kind === 'user' ? `user:${actor.userId}` : `${actor.kind}:${actor.tokenId}`
}
