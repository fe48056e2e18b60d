// Logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.6): signed statements of a provider that a person has signed out there.
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose'
import { SignInFailure, type LogoutStatement, type OidcSettings } from '../../identity/identity-provider.ts'
import type { OutgoingFetch } from '../outgoing/fetch.ts'
import { sidMax } from './claims.ts'

/** Of all tokens of a provider. */
export const idTokenAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']

const event = 'http://schemas.openid.net/event/backchannel-logout'
const toleranceSeconds = 30
/** A token counts for this time after its issue, whatever `exp` it has. */
const ageMaxSeconds = 5 * 60
const idMax = 500

/** An unknown key is looked for at most every 30 s: anybody may send tokens. */
export const createLogoutKeys = (uri: string | undefined, fetch: OutgoingFetch): JWTVerifyGetKey =>
  uri === undefined
    ? () => Promise.reject(new SignInFailure('signature'))
    : createRemoteJWKSet(new URL(uri), {
        cooldownDuration: 30_000,
        [customFetch]: (url, { headers, method, signal }) =>
          fetch(url, { method, headers: Object.fromEntries(headers), signal }),
      })

/** Throws SignInFailure, and errors of the connection. */
export async function verifyLogoutToken(
  token: string,
  { issuer, clientId }: Pick<OidcSettings, 'issuer' | 'clientId'>,
  keys: JWTVerifyGetKey,
  now: Date = new Date(),
): Promise<LogoutStatement> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    algorithms: idTokenAlgorithms,
    issuer,
    audience: clientId,
    requiredClaims: ['iat', 'jti'],
    clockTolerance: toleranceSeconds,
    maxTokenAge: ageMaxSeconds,
    currentDate: now,
  }).catch(refuse)
  const { typ = 'jwt' } = protectedHeader
  // Of other tokens of the provider the claims differ; Keycloak states `JWT`.
  if (!['jwt', 'logout+jwt'].includes(typ.toLowerCase()) || 'nonce' in payload || !isLogout(payload))
    throw new SignInFailure('document')
  const { jti, sub, sid, iat } = payload
  const [subject, idpSession] = [textOf(sub, 1_000), textOf(sid, sidMax)]
  if (jti === undefined || jti === '' || jti.length > idMax || (subject === null && idpSession === null))
    throw new SignInFailure('document')
  const expires = new Date((iat! + ageMaxSeconds + 2 * toleranceSeconds) * 1000)
  return { subject, idpSession, id: `logout ${jti}`, expires }
}

function isLogout({ events }: JWTPayload): boolean {
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, event)) return false
  const value = (events as Record<string, unknown>)[event]
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown, lengthMax: number): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string' || value === '' || value.length > lengthMax)
    throw new SignInFailure('document')
  return value
}

const ofClaim: Readonly<Record<string, SignInFailure['reason']>> = {
  iss: 'issuer',
  aud: 'audience',
  exp: 'time',
  iat: 'time',
  nbf: 'time',
}

/** The errors of the library by their types; others are of the connection. */
function refuse(error: unknown): never {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    throw new SignInFailure(ofClaim[error.claim] ?? 'document', { cause: error })
  if (error instanceof errors.JOSEAlgNotAllowed) throw new SignInFailure('algorithm', { cause: error })
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    throw new SignInFailure('signature', { cause: error })
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid)
    throw new SignInFailure('unavailable', { cause: error })
  if (error instanceof errors.JOSEError && error.code !== 'ERR_JOSE_GENERIC')
    throw new SignInFailure('document', { cause: error })
  throw error
}
