// Authenticates a credential: the access token of the web application, a team's API token, or a staff token. Every
// failure is 401 with the same message, so that it does not describe invalid credentials.
import type { ReportRefusal } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import { findAddressPrefix, isAllowedFrom } from '../limit/allowed-from.ts'
import { fail } from '../runtime/error.ts'
import { actorLimitsOf } from '../limit/resources.ts'
import { rolesOfToken } from '../operation/grant.ts'
import type { Limits } from '../operation/limits.ts'
import type { OpenAccess, StaffTokenActor, TokenActor, UserActor } from '../operation/operation.ts'
import { mac, verifyMac, type KeyRing, type Purpose } from '../runtime/secrets.ts'
import type { AccessClaims, AccessTokens } from './access-token.ts'
import { parseApiToken, type ApiToken, type TokenHolder } from './api-token-format.ts'
import {
  findBearerRecord,
  findRefusedToken,
  findTokenRecord,
  saveTokenUse,
  type BearerRecord,
  type RefusedToken,
  type TokenRecord,
} from './credentials.store.ts'
import {
  findRefusedStaffToken,
  findStaffTokenRecord,
  saveStaffTokenUse,
  type StaffTokenRecord,
} from './staff-token.store.ts'
import { refuseDemoElsewhere, type DemoRule } from './demo.ts'

export type CredentialDeps = DemoRule & {
  readonly db: Db
  readonly waker: Waker
  readonly ring: KeyRing
  readonly accessTokens: AccessTokens
  /** Called if the last use could not be saved; the request itself is not affected. */
  readonly onTokenUseError: (error: unknown) => void
  /** Called for genuine tokens that are expired, revoked, unused or not allowed from the address. Not awaited. */
  readonly reportRefusal?: ReportRefusal
}

/** The actor's form: the limits are compiled once, when the record is read. */
type KnownToken = Omit<TokenRecord, 'limits'> & { readonly limits: Limits | null }
type AnyTokenRecord = KnownToken | StaffTokenRecord

async function findKnownToken(db: Db, id: string): Promise<KnownToken | undefined> {
  const record = await findTokenRecord(db, id)
  return record && { ...record, limits: actorLimitsOf(record.limits) }
}

/** A token of SCIM is none of the API: it is known to the SCIM interface only. */
type ApiHolder = Exclude<TokenHolder, 'scim'>

/** The names and the tables of both kinds of tokens; everything else about them is the same. */
const kinds = {
  team: {
    actor: 'token',
    noun: 'API token',
    purpose: 'api-token',
    find: findKnownToken,
    findRefused: findRefusedToken,
    saveUse: saveTokenUse,
  },
  staff: {
    actor: 'staff_token',
    noun: 'staff token',
    purpose: 'staff-token',
    find: findStaffTokenRecord,
    findRefused: findRefusedStaffToken,
    saveUse: saveStaffTokenUse,
  },
} as const satisfies Record<
  ApiHolder,
  { readonly actor: string; readonly noun: string; readonly purpose: Purpose } & Record<string, unknown>
>

export const createCredentials = (deps: CredentialDeps) => ({
  bearer: createBearerCheck(deps),
  token: createTokenCheck(deps),
})

function createBearerCheck(deps: CredentialDeps) {
  const bearers = new CredentialCache<BearerRecord | undefined>(deps.waker)

  /** After a password change, a newer token can arrive before the notification that invalidates the cached record. */
  async function recordOf(
    key: string,
    version: number,
    fresh: boolean,
    load: () => Promise<BearerRecord | undefined>,
  ): Promise<BearerRecord | undefined> {
    if (fresh) bearers.invalidate(key)
    const cached = await bearers.get(key, load)
    if (!cached || cached.sessionVersion >= version) return cached
    bearers.invalidate(key)
    return bearers.get(key, load)
  }

  /** Without a promise if token and record are cached: nearly always. */
  function bearer(text: string, fresh = false): UserActor | Promise<UserActor> {
    const access = fresh ? undefined : deps.accessTokens.findVerified(text)
    const record = access && bearers.find(keyOf(access))
    // A newer token than the record: the record is loaded again.
    const isCurrent = access && record && record.sessionVersion >= access.sessionVersion
    return isCurrent ? actorOf(access, record) : load(text, fresh)
  }

  async function load(text: string, fresh: boolean): Promise<UserActor> {
    const access = await deps.accessTokens.verify(text)
    const { userId, sessionId, teamId, sessionVersion } = access
    const record = await recordOf(keyOf(access), sessionVersion, fresh, () =>
      findBearerRecord(deps.db, sessionId, userId, teamId),
    )
    return actorOf(access, record)
  }

  function actorOf(access: AccessClaims, record: BearerRecord | undefined): UserActor {
    if (!record || record.sessionVersion !== access.sessionVersion) throw notValid('access token')
    const { lacks_staff_sign_in: lacksStaffSignIn } = record
    if (record.roles === null && !record.isStaff && !lacksStaffSignIn) throw notValid('access token')
    refuseDemoElsewhere(deps, record)
    const { userId, sessionId, teamId } = access
    const { isStaff, staff_roles: staffRoles, modules, is_local: isLocal } = record
    const roles = record.roles ?? []
    return {
      kind: 'user',
      userId,
      sessionId,
      teamId,
      roles,
      staffRoles,
      isStaff,
      access: record.roles === null ? openAccessOf(record) : null,
      modules,
      limits: null,
      isLocal,
      blockedBy: blockOf(record),
      ...(lacksStaffSignIn ? { lacksStaffSignIn: true as const } : {}),
    }
  }

  return bearer
}

function createTokenCheck(deps: CredentialDeps) {
  const tokens = new CredentialCache<AnyTokenRecord | undefined>(deps.waker)
  const refusedTokens = new CredentialCache<RefusedToken | undefined>(deps.waker)
  const touched = new Map<string, number>()

  async function token(text: string, address: string, fresh = false): Promise<TokenActor | StaffTokenActor> {
    const parsed = parseApiToken(text)
    if (!parsed || !isOfApi(parsed)) throw notValid('API token')
    const { noun, purpose, find } = kinds[parsed.holder]
    const key = tokenNameOf(parsed)
    if (fresh) tokens.invalidate(key)
    const record = await tokens.get(key, () => find(deps.db, parsed.id))
    // Compared even if there is no such token, so that both cases take the same time.
    const genuine = verifyMac(deps.ring, purpose, parsed.secret, record?.secretMac ?? Buffer.alloc(32))
    if (!record) void recordIfKnown(parsed, address)
    if (!record || !(genuine || isPrevious(parsed, record))) throw notValid(noun)
    const reason = reasonToRefuse(record, address)
    if (reason) {
      recordRefusal(key, record.teamId, reason, address)
      throw notValid(noun)
    }
    recordUse(parsed, address, genuine ? record.secretMac : null)
    const { id: tokenId, scopes } = record
    if (record.teamId === null) return { kind: 'staff_token', tokenId, isStaff: true, scopes }
    const { teamId, isAdmin, serviceRoles, modules, limits } = record
    const roles = serviceRoles ?? rolesOfToken(isAdmin)
    return { kind: 'token', tokenId, teamId, roles, staffRoles: [], isStaff: false, scopes, modules, limits }
  }

  /** The secret before the last rotation is valid for the overlap. */
  function isPrevious({ secret }: ApiToken, record: AnyTokenRecord): boolean {
    if (record.teamId === null || record.previousMac === null || record.previousUntil === null) return false
    return (
      record.previousUntil.getTime() > Date.now() &&
      verifyMac(deps.ring, 'api-token', secret, record.previousMac)
    )
  }

  function recordRefusal(actor: string, teamId: number | null, code: string, address: string): void {
    const action = 'token.refuse'
    deps.reportRefusal?.({ teamId, actor, credential: actor, action, target: actor, code, address })
  }

  /** Runs after the answer, so that the answer takes no longer than for an unknown token. */
  async function recordIfKnown(token: OfApi, address: string): Promise<void> {
    if (!deps.reportRefusal) return
    const { purpose, findRefused } = kinds[token.holder]
    const actor = tokenNameOf(token)
    try {
      const known = await refusedTokens.get(actor, () => findRefused(deps.db, token.id))
      if (known && verifyMac(deps.ring, purpose, token.secret, known.secretMac))
        recordRefusal(actor, known.teamId, known.reason, address)
    } catch (error) {
      deps.onTokenUseError(error)
    }
  }

  /** A token used with its newest secret is also re-keyed with the newest key, so that an old key can be removed from the ring. */
  function recordUse(token: OfApi, address: string, before: Buffer | null): void {
    const { purpose, saveUse } = kinds[token.holder]
    const key = tokenNameOf(token)
    const now = Date.now()
    if (now - (touched.get(key) ?? 0) < 60_000) return
    if (touched.size > 10_000) touched.clear()
    touched.set(key, now)
    const macs = before && { before, after: mac(deps.ring, purpose, token.secret) }
    saveUse(deps.db, token.id, macs, findAddressPrefix(address) ?? null).catch(deps.onTokenUseError)
  }

  return token
}

function blockOf({ blocked_by: reason, provider }: BearerRecord): UserActor['blockedBy'] {
  return reason === 'sign_in' ? { reason, provider } : reason && { reason }
}

/** An access may expire while it is cached. */
function openAccessOf({ access }: BearerRecord): OpenAccess | null {
  if (access === null || Date.parse(access.expires) <= Date.now()) return null
  return { id: access.id, change: access.change }
}

const keyOf = ({ sessionId, userId, teamId }: AccessClaims): string => `${sessionId} ${userId} ${teamId}`
type OfApi = ApiToken & { readonly holder: ApiHolder }
const isOfApi = (token: ApiToken): token is OfApi => token.holder !== 'scim'
const tokenNameOf = ({ holder, id }: OfApi): string => `${kinds[holder].actor}:${id}`

function reasonToRefuse(record: AnyTokenRecord, address: string): string | undefined {
  if (isExpired(record)) return 'expired'
  return isAllowedFrom(record.allowedNetworks, address) ? undefined : 'network'
}

/** A token may expire while it is cached. */
const isExpired = ({ expires }: AnyTokenRecord): boolean =>
  expires !== null && expires.getTime() <= Date.now()

const notValid = (what: string) => fail('unauthenticated', 'credentialInvalid', { credential: what })

const ttlMs = 5_000
const entriesMax = 50_000

/**
 * Caches credentials for a few seconds, so that a busy client does not cost two queries per call. A change of sessions,
 * users, members, teams or tokens invalidates it immediately through the database's notification. The cache is off
 * while notifications are not received: a revoked credential must not keep working because a notification was lost.
 */
class CredentialCache<T> {
  readonly #waker: Pick<Waker, 'connected'>
  readonly #entries = new Map<string, { value: T; until: number }>()
  /** Incremented by every `clear`: a value that was loaded before it must not be stored after it. */
  #generation = 0

  constructor(waker: Pick<Waker, 'connected' | 'on'>) {
    this.#waker = waker
    waker.on('actors', () => this.clear())
  }

  /** Returns a cached value; undefined if it is not cached. */
  find(key: string): T | undefined {
    const entry = this.#entries.get(key)
    return entry && this.#waker.connected && entry.until > performance.now() ? entry.value : undefined
  }

  async get(key: string, load: () => Promise<T>): Promise<T> {
    const cached = this.find(key)
    if (cached !== undefined) return cached
    const generation = this.#generation
    const value = await load()
    if (this.#waker.connected && generation === this.#generation) this.#keep(key, value)
    return value
  }

  invalidate(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }

  #keep(key: string, value: T): void {
    if (this.#entries.size >= entriesMax) this.#entries.clear()
    this.#entries.set(key, { value, until: performance.now() + ttlMs })
  }
}
