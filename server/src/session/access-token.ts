// Access tokens: JWTs (RFC 9068 `at+jwt`) signed with Ed25519, for the web application only, good for minutes.
// They say who and which session; whether that session still stands is asked of the database, in credentials.ts.
import { errors, jwtVerify, SignJWT } from 'jose'
import { Failure } from '../runtime/error.ts'
import type { SigningKeys } from './signing-keys.ts'

export type AccessClaims = {
  readonly userId: number
  readonly sessionId: string
  readonly teamId: number
  /** The user's session version when it was signed. */
  readonly sessionVersion: number
}
export type VerifiedAccess = AccessClaims & { readonly issued: Date; readonly expires: Date }

const audience = 'pharos-web'
const issuer = 'pharos'
const verifiedMax = 10_000

export class AccessTokens {
  readonly #keys: SigningKeys
  readonly #lifetimeSeconds: number
  /** Tokens whose signature was checked: a portal presents one token many times. */
  readonly #verified = new Map<string, VerifiedAccess>()

  constructor(keys: SigningKeys, lifetimeSeconds: number) {
    this.#keys = keys
    this.#lifetimeSeconds = lifetimeSeconds
  }

  async sign(claims: AccessClaims): Promise<string> {
    const key = this.#keys.current()
    const now = Math.floor(Date.now() / 1000)
    return new SignJWT({ sid: claims.sessionId, sv: claims.sessionVersion, tid: claims.teamId })
      .setProtectedHeader({ alg: 'Ed25519', typ: 'at+jwt', kid: key.kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(String(claims.userId))
      .setIssuedAt(now)
      .setExpirationTime(now + this.#lifetimeSeconds)
      .sign(key.privateKey)
  }

  /** The claims of a token of ours that has not expired; else `unauthenticated`. */
  async verify(token: string): Promise<VerifiedAccess> {
    const known = this.#verified.get(token)
    if (known && known.expires.getTime() > Date.now()) return known
    const access = await this.#check(token)
    if (this.#verified.size >= verifiedMax) this.#verified.clear()
    this.#verified.set(token, access)
    return access
  }

  async #check(token: string): Promise<VerifiedAccess> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keyFor(kid), {
        algorithms: ['Ed25519'],
        typ: 'at+jwt',
        audience,
        issuer,
        requiredClaims: ['sub', 'sid', 'sv', 'tid', 'iat', 'exp'],
      })
      return {
        userId: Number(payload.sub),
        sessionId: payload.sid as string,
        sessionVersion: payload.sv as number,
        teamId: payload.tid as number,
        issued: new Date(payload.iat! * 1000),
        expires: new Date(payload.exp! * 1000),
      }
    } catch (error) {
      if (error instanceof Failure) throw error
      const expired = error instanceof errors.JWTExpired
      throw new Failure(
        'unauthenticated',
        expired ? 'The access token has expired; refresh the session.' : 'The access token is not valid.',
      )
    }
  }

  #keyFor(kid: string | undefined): CryptoKey {
    const key = kid === undefined ? undefined : this.#keys.find(kid)
    if (!key) throw new Error('unknown signing key')
    return key.publicKey
  }
}
