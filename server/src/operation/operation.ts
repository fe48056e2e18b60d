// The caller of a use-case and the conditions of the call: everything that it needs to know about a request, without
// HTTP.

/** The authenticated caller: a user of the web application, or a program with an API token. Always in one team. */
export type Actor = UserActor | TokenActor

type Holder = {
  readonly teamId: number
  /** Admin of the team (of a token: it was created with that role). */
  readonly isAdmin: boolean
  /** The modules of the team (`ipam`, `lighthouse`, ...). */
  readonly modules: readonly string[]
}

export type UserActor = Holder & {
  readonly kind: 'user'
  readonly userId: number
  readonly sessionId: string
  readonly isStaff: boolean
  /** The team requires a second factor, and the user has none. */
  readonly lacksSecondFactor: boolean
}

export type TokenActor = Holder & {
  readonly kind: 'token'
  readonly tokenId: string
  readonly isStaff: false
  /** `ipam:read`, `ipam:write`, ... */
  readonly scopes: readonly string[]
}

/** One call, reading or changing, as the use-cases get it. */
export type Operation = {
  readonly actor: Actor
  readonly requestId: string
  readonly address: string
  /** Validate and plan completely, store nothing. */
  readonly dryRun: boolean
  /** The `If-Match` header; null if absent. */
  readonly ifMatch: string | null
  /** The `Idempotency-Key` header with the hash of method, path and body; null if absent. */
  readonly idempotency: { readonly key: string; readonly requestHash: Buffer } | null
}

/** Such as `user:7` or `token:k3j5...`: the actor in the audit log. */
export function actorName(actor: Actor): string {
  return actor.kind === 'user' ? `user:${actor.userId}` : `token:${actor.tokenId}`
}
