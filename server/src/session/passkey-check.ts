// Verifies what an authenticator has signed. All that is wrong has the same answer; the audit log tells the owner of the passkey.
import type { VerifiedRegistrationResponse } from '@simplewebauthn/server'
import type { PasskeyAssertion, PasskeyRegistration, PasskeyRequest } from '@pharos/contract/session/webauthn'
import type { Db } from '../db/postgres.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { challengeMs, createChallenge, parseChallenge, type ChallengeUse } from './passkey-challenge.ts'
import {
  consumeChallenge,
  findPasskeyByCredential,
  savePasskeyUse,
  type PasskeyRow,
} from './passkey.store.ts'
import type { RelyingParty } from './relying-party.ts'

export type PasskeyDeps = {
  readonly db: Db
  readonly ring: KeyRing
  /** Undefined: the installation has no name that browsers accept. */
  readonly relyingParty: RelyingParty | undefined
}

/** Algorithms by preference (RFC 9053): Ed25519, ECDSA with P-256, RSA of PKCS #1 v1.5. */
export const passkeyAlgorithms = [-8, -7, -257]

export const signInUse: ChallengeUse = { use: 'sign_in', subject: '' }
export const secondFactorUse = (userId: number): ChallengeUse => ({
  use: 'second_factor',
  subject: String(userId),
})

/** Without `allowed` the browser offers the passkeys that it has, and verifies the user. */
export function passkeyRequestOf(
  ring: KeyRing,
  { id: rpId }: RelyingParty,
  use: ChallengeUse,
  allowed: readonly PasskeyRow[] = [],
): PasskeyRequest {
  return {
    challenge: createChallenge(ring, use),
    rpId,
    timeout: challengeMs,
    userVerification: use.use === 'sign_in' ? 'required' : 'preferred',
    allowCredentials: allowed.map(descriptorOf),
  }
}

export const descriptorOf = ({ credential_id, transports }: PasskeyRow) => ({
  type: 'public-key' as const,
  id: credential_id,
  transports: [...transports],
})

/** Identifies the account to authenticators: its number, which is no personal data. */
export const userHandleOf = (userId: number): string => Buffer.from(`user:${userId}`).toString('base64url')

/** Loaded by the first passkey: it takes a tenth of the processor time of a start. */
const loadLibrary = () => import('@simplewebauthn/server')

export type PasskeyVerdict =
  | { readonly kind: 'accepted' | 'refused' | 'cloned'; readonly passkey: PasskeyRow }
  | { readonly kind: 'unknown' }

/** Consumes the challenge of an assertion of a known passkey, whatever the verdict is. An unknown one writes nothing. */
export async function checkPasskey(
  deps: PasskeyDeps,
  use: ChallengeUse,
  assertion: PasskeyAssertion,
): Promise<PasskeyVerdict> {
  const passkey = await findPasskeyByCredential(deps.db, assertion.id)
  if (!passkey) return { kind: 'unknown' }
  const isFresh = await takeChallenge(deps, use, assertion.response.clientDataJSON)
  const verified = isFresh ? await verifyAssertion(deps, use, passkey, assertion) : undefined
  if (!verified) return { kind: 'refused', passkey }
  const { newCounter, credentialBackedUp } = verified
  const isSaved = await savePasskeyUse(deps.db, passkey.id, newCounter, credentialBackedUp)
  return { kind: isSaved ? 'accepted' : 'cloned', passkey }
}

async function verifyAssertion(
  { relyingParty }: PasskeyDeps,
  { use, subject }: ChallengeUse,
  passkey: PasskeyRow,
  { id, response }: PasskeyAssertion,
) {
  if (!relyingParty) return undefined
  if (use === 'second_factor' && subject !== String(passkey.user_id)) return undefined
  const { userHandle, ...signed } = response
  if (userHandle && userHandle !== userHandleOf(passkey.user_id)) return undefined
  const { verifyAuthenticationResponse } = await loadLibrary()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', response: signed, clientExtensionResults: {} },
    ...expectedOf(relyingParty),
    requireUserVerification: use === 'sign_in',
    // The counter is compared when it is saved, so that concurrent uses are compared too.
    credential: { id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  return verified ? authenticationInfo : undefined
}

/** Returns what the authenticator has created; undefined if anything is wrong. Consumes the challenge. */
export async function checkRegistration(
  deps: PasskeyDeps & { readonly relyingParty: RelyingParty },
  use: ChallengeUse,
  { id, response }: PasskeyRegistration,
): Promise<VerifiedRegistrationResponse['registrationInfo']> {
  if (!(await takeChallenge(deps, use, response.clientDataJSON))) return undefined
  const { clientDataJSON, attestationObject } = response
  const { verifyRegistrationResponse } = await loadLibrary()
  const result = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON, attestationObject },
      clientExtensionResults: {},
    },
    ...expectedOf(deps.relyingParty),
    requireUserVerification: false,
    supportedAlgorithmIDs: passkeyAlgorithms,
  }).catch(() => undefined)
  return result?.verified ? result.registrationInfo : undefined
}

/** The challenge is verified by `takeChallenge`, which reads it from the same client data. */
const expectedOf = ({ id, origin }: RelyingParty) => ({
  expectedChallenge: () => true,
  expectedOrigin: origin,
  expectedRPID: id,
})

async function takeChallenge(
  { db, ring }: PasskeyDeps,
  use: ChallengeUse,
  clientData: string,
): Promise<boolean> {
  const challenge = parseChallenge(ring, use, challengeIn(clientData))
  return challenge !== undefined && consumeChallenge(db, challenge)
}

/** Client data within a frame of another page is refused: the portal is in none. */
function challengeIn(clientData: string): string {
  try {
    const { challenge, crossOrigin } = JSON.parse(Buffer.from(clientData, 'base64url').toString('utf8')) as {
      challenge?: unknown
      crossOrigin?: unknown
    }
    return typeof challenge === 'string' && crossOrigin !== true ? challenge : ''
  } catch {
    return ''
  }
}
