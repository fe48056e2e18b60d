// Who presents a credential: the access token of the web application, or a team's API token. Every doubt is 401 with
// the same words, so that nothing is learnt about credentials that do not work.
import type { ReportRefusal } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import { covers, parsePrefix, parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { fail } from '../runtime/error.ts'
import type { TokenActor, UserActor } from '../operation/operation.ts'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'
import type { AccessTokens } from './access-token.ts'
import { parseApiToken, type ApiToken } from './api-token-format.ts'
import {
  findBearerStanding,
  findRefusedToken,
  findTokenStanding,
  touchToken,
  type BearerStanding,
  type RefusedToken,
  type TokenStanding,
} from './credentials.store.ts'
import { refuseDemoElsewhere, type DemoRule } from './demo.ts'
import { StandingCache } from './standing-cache.ts'

export type CredentialDeps = DemoRule & {
  readonly db: Db
  readonly waker: Waker
  readonly ring: KeyRing
  readonly accessTokens: AccessTokens
  /** Told about a failure to note the last use; the call itself goes on. */
  readonly onTouchError: (error: unknown) => void
  /** Told of API tokens that are genuine, and no longer good or not from there. Nobody waits for it. */
  readonly reportRefusal?: ReportRefusal
}

export function createCredentials(deps: CredentialDeps) {
  const bearers = new StandingCache<BearerStanding | undefined>(deps.waker)
  const tokens = new StandingCache<TokenStanding | undefined>(deps.waker)
  const refusedTokens = new StandingCache<RefusedToken | undefined>(deps.waker)
  const touched = new Map<string, number>()

  /** A token that is newer than what is remembered comes before the notification that ends it: after a new password. */
  async function standingOf(
    key: string,
    version: number,
    fresh: boolean,
    load: () => Promise<BearerStanding | undefined>,
  ): Promise<BearerStanding | undefined> {
    if (fresh) bearers.forget(key)
    const remembered = await bearers.get(key, load)
    if (!remembered || remembered.sessionVersion >= version) return remembered
    bearers.forget(key)
    return bearers.get(key, load)
  }

  async function bearer(text: string, fresh = false): Promise<UserActor> {
    const { userId, sessionId, teamId, sessionVersion } = await deps.accessTokens.verify(text)
    const standing = await standingOf(`${sessionId} ${userId} ${teamId}`, sessionVersion, fresh, () =>
      findBearerStanding(deps.db, sessionId, userId, teamId),
    )
    if (!standing || standing.sessionVersion !== sessionVersion) throw notValid('access token')
    if (standing.isAdmin === null && !standing.isStaff) throw notValid('access token')
    refuseDemoElsewhere(deps, standing)
    const { isStaff, modules, lacksSecondFactor } = standing
    const isAdmin = standing.isAdmin ?? false
    return { kind: 'user', userId, sessionId, teamId, isAdmin, isStaff, modules, lacksSecondFactor }
  }

  async function token(text: string, address: string, fresh = false): Promise<TokenActor> {
    const parsed = parseApiToken(text)
    if (!parsed) throw notValid('API token')
    if (fresh) tokens.forget(parsed.id)
    const standing = await tokens.get(parsed.id, () => findTokenStanding(deps.db, parsed.id))
    // Compared even where there is no such token, so that both take the same time.
    const genuine = verifyMac(deps.ring, 'api-token', parsed.secret, standing?.secretMac ?? Buffer.alloc(32))
    if (!standing) void noteIfKnown(parsed, address)
    if (!standing || !genuine) throw notValid('API token')
    const reason = reasonToRefuse(standing, address)
    if (reason) {
      noteRefused(standing.id, standing.teamId, reason, address)
      throw notValid('API token')
    }
    noteUse(standing.id, parsed.secret, address)
    const { id, teamId, isAdmin, scopes, modules } = standing
    return { kind: 'token', tokenId: id, teamId, isAdmin, isStaff: false, scopes, modules }
  }

  function noteRefused(id: string, teamId: number, code: string, address: string): void {
    const [actor, action] = [`token:${id}`, 'token.refuse']
    deps.reportRefusal?.({ teamId, actor, credential: actor, action, target: actor, code, address })
  }

  /** After the answer, so that it takes no longer than for a token that never was. */
  async function noteIfKnown({ id, secret }: ApiToken, address: string): Promise<void> {
    if (!deps.reportRefusal) return
    try {
      const known = await refusedTokens.get(id, () => findRefusedToken(deps.db, id))
      if (known && verifyMac(deps.ring, 'api-token', secret, known.secretMac))
        noteRefused(id, known.teamId, known.reason, address)
    } catch (error) {
      deps.onTouchError(error)
    }
  }

  /** A token in use also moves to the newest key, so that an old one can leave the ring. */
  function noteUse(id: string, secret: string, address: string): void {
    const now = Date.now()
    if (now - (touched.get(id) ?? 0) < 60_000) return
    if (touched.size > 10_000) touched.clear()
    touched.set(id, now)
    const secretMac = mac(deps.ring, 'api-token', secret)
    touchToken(deps.db, id, secretMac, addressPrefix(address) ?? null).catch(deps.onTouchError)
  }

  return { bearer, token }
}

function reasonToRefuse(standing: TokenStanding, address: string): string | undefined {
  if (isExpired(standing)) return 'expired'
  return isAllowedFrom(standing.allowedNetworks, address) ? undefined : 'network'
}

/** A cached token may run out while it is cached. */
const isExpired = ({ expires }: TokenStanding): boolean => expires !== null && expires.getTime() <= Date.now()

/** No list allows every network. A client address that cannot be read is allowed by none. */
export function isAllowedFrom(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true
  const from = addressPrefix(address)
  return from !== undefined && networks.some((network) => covers(parsePrefix(network), from))
}

/** The client's address as a prefix; a dual-stack socket shows IPv4 clients as ::ffff:192.0.2.1. */
function addressPrefix(address: string): Prefix | undefined {
  try {
    return parsePrefixOrAddress(address.replace(/^::ffff:(?=\d+\.)/i, ''))
  } catch {
    return undefined
  }
}

const notValid = (what: string) => fail('unauthenticated', 'credentialInvalid', { credential: what })
