// Access tokens: JWTs (RFC 9068 `at+jwt`) signed with Ed25519, for the web application only, valid for minutes. They identify
// the user and the session; credentials.ts checks in the database that the session is still active.
import { sign } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { fail, Failure } from '../runtime/error.ts'
import type { SigningKeys } from './signing-keys.ts'

export type AccessClaims = {
  readonly userId: number
  readonly sessionId: string
  readonly teamId: number
  /** The user's session version at the time of signing. */
  readonly sessionVersion: number
}
export type VerifiedAccess = AccessClaims & { readonly issued: Date; readonly expires: Date }

const audience = 'pharos-web'
const issuer = 'pharos'
const verifiedMax = 10_000

type Verified = { readonly kid: string; readonly access: VerifiedAccess }

export class AccessTokens {
  readonly #keys: SigningKeys
  readonly #lifetimeSeconds: number
  /** Tokens whose signature was verified, each with its key: the portal sends the same token many times. */
  readonly #verified = new Map<string, Verified>()

  constructor(keys: SigningKeys, lifetimeSeconds: number) {
    this.#keys = keys
    this.#lifetimeSeconds = lifetimeSeconds
  }

  /**
   * Signs synchronously: 40 us of one core, compared with 105 us of two through WebCrypto. The signature of a token signed
   * here is not verified here again.
   */
  sign(claims: AccessClaims): string {
    const { kid, privateKey } = this.#keys.current()
    const issued = Math.floor(Date.now() / 1000)
    const expires = issued + this.#lifetimeSeconds
    const header = encode({ alg: 'Ed25519', typ: 'at+jwt', kid })
    const payload = encode({
      sid: claims.sessionId,
      sv: claims.sessionVersion,
      tid: claims.teamId,
      iss: issuer,
      aud: audience,
      sub: String(claims.userId),
      iat: issued,
      exp: expires,
    })
    const signed = `${header}.${payload}`
    const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
    const { userId, sessionId, teamId, sessionVersion } = claims
    const times = { issued: new Date(issued * 1000), expires: new Date(expires * 1000) }
    this.#cache(token, { kid, access: { userId, sessionId, teamId, sessionVersion, ...times } })
    return token
  }

  /** Returns the claims of a valid token that has not expired. Throws `unauthenticated` otherwise. */
  async verify(token: string): Promise<VerifiedAccess> {
    const known = this.findVerified(token)
    if (known) return known
    const verified = await this.#check(token)
    this.#cache(token, verified)
    return verified.access
  }

  /** Returns the claims of a token that was verified before and is still valid. */
  findVerified(token: string): VerifiedAccess | undefined {
    const known = this.#verified.get(token)
    return known && this.#isValid(known) ? known.access : undefined
  }

  /** A key that is no longer published invalidates its tokens, including tokens verified before. */
  #isValid({ kid, access }: Verified): boolean {
    return access.expires.getTime() > Date.now() && this.#keys.find(kid) !== undefined
  }

  #cache(token: string, verified: Verified): void {
    if (this.#verified.size >= verifiedMax) this.#verified.clear()
    this.#verified.set(token, verified)
  }

  async #check(token: string): Promise<Verified> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => this.#keyFor(kid), {
        algorithms: ['Ed25519'],
        typ: 'at+jwt',
        audience,
        issuer,
        requiredClaims: ['sub', 'sid', 'sv', 'tid', 'iat', 'exp'],
      })
      const access = {
        userId: Number(payload.sub),
        sessionId: payload.sid as string,
        sessionVersion: payload.sv as number,
        teamId: payload.tid as number,
        issued: new Date(payload.iat! * 1000),
        expires: new Date(payload.exp! * 1000),
      }
      return { kid: protectedHeader.kid!, access }
    } catch (error) {
      if (error instanceof Failure) throw error
      const expired = error instanceof errors.JWTExpired
      throw expired
        ? fail('unauthenticated', 'accessTokenExpired')
        : fail('unauthenticated', 'credentialInvalid', { credential: 'access token' })
    }
  }

  #keyFor(kid: string | undefined): CryptoKey {
    const key = kid === undefined ? undefined : this.#keys.find(kid)
    if (!key) throw new Error('unknown signing key')
    return key.publicKey
  }
}

/** A part of a JWT (RFC 7515, 3.1). */
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
