// Passkeys of test users: added without the calls that add them, and the challenges that these calls give.
import { sql } from 'kysely'
import { createChallenge } from '../../src/session/passkey-challenge.ts'
import { passkeyRequestOf, signInUse, userHandleOf } from '../../src/session/passkey-check.ts'
import { relyingPartyOf } from '../../src/session/relying-party.ts'
import type { TestApi } from '../api.ts'
import { Authenticator } from './authenticator.ts'

const partyOf = ({ shared }: TestApi) => relyingPartyOf(shared.publicUrl, 'Example Net')!

/** Adds a passkey and returns its id. The account is not marked: signing in with the password stays as it is for other tests. */
export async function addPasskey(api: TestApi, userId: number): Promise<number> {
  const credentialId = new Authenticator(partyOf(api).origin).id.toString('base64url')
  const { rows } = await sql<{ id: number }>`
    insert into passkeys (user_id, credential_id, public_key, counter, transports, backed_up, aaguid, relying_party, name)
    values (${userId}, ${credentialId}, '', 0, '{internal}', false, gen_random_uuid(), ${partyOf(api).id}, 'Laptop')
    returning id`.execute(api.database.postgres.owner)
  return rows[0]!.id
}

/** Returns what the browser answers to the options of the session of an access token; undefined for other credentials. */
export function createRegistration(api: TestApi, authorization: string | undefined, userId = 0) {
  const [, payload] = /^Bearer eyJ[^.]+\.(eyJ[^.]+)\./.exec(authorization ?? '') ?? []
  const { sid: subject = '' } = payload
    ? (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sid?: string })
    : {}
  const { id, origin, name } = partyOf(api)
  return new Authenticator(origin).create({
    challenge: createChallenge(api.config.secret, { use: 'register', subject }),
    rp: { id, name },
    user: { id: userHandleOf(userId), name: '', displayName: '' },
    pubKeyCredParams: [],
    timeout: 1,
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
  })
}

/** Returns an assertion to sign in of a passkey that no account has. */
export const createUnknownAssertion = (api: TestApi) =>
  new Authenticator(partyOf(api).origin).get(passkeyRequestOf(api.config.secret, partyOf(api), signInUse))
