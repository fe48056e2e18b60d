// Objects of WebAuthn Level 3 in requests and answers. They keep the names of the standard, so that those of the browser can be passed on as
// they are.
import { Type, type Static } from 'typebox'
import { Component, Enumeration, Nullable, Optional } from '../scalar.ts'

/** Longer ids are refused by browsers (WebAuthn, section 4): 1,023 bytes. */
const CredentialId = Type.String({
  minLength: 1,
  maxLength: 1400,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'id of the credential, base64url',
  expects: 'an id in base64url, such as dGhlIGlk',
})

const Bytes = (what: string, maxLength = 12_000) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[A-Za-z0-9_-]+$',
    description: `${what}, base64url`,
    expects: 'bytes in base64url, such as Ynl0ZXM',
  })

const Challenge = Type.String({ description: 'base64url; works once, for five minutes' })
const Timeout = Type.Integer({ description: 'milliseconds that the browser waits' })
const Verification = Enumeration('UserVerification', ['required', 'preferred', 'discouraged'])

const Descriptor = Component('PasskeyDescriptor', {
  type: Enumeration('PasskeyDescriptorType', ['public-key']),
  id: CredentialId,
  transports: Type.Array(Type.String(), { description: 'how the browser reaches it, such as `internal`' }),
})

/** `PublicKeyCredentialRequestOptionsJSON` */
export const PasskeyRequest = Component('PasskeyRequest', {
  challenge: Challenge,
  rpId: Type.String({ description: 'host of the installation' }),
  timeout: Timeout,
  userVerification: Verification,
  allowCredentials: Type.Array(Descriptor, {
    description: 'the passkeys of the account; empty if the browser offers what it has',
  }),
})
export type PasskeyRequest = Static<typeof PasskeyRequest>

/** `PublicKeyCredentialCreationOptionsJSON` */
export const PasskeyCreation = Component('PasskeyCreation', {
  challenge: Challenge,
  rp: Component('PasskeyRelyingParty', {
    id: Type.String({ description: 'host of the installation' }),
    name: Type.String({ description: 'name of the installation' }),
  }),
  user: Component('PasskeyUser', {
    id: Type.String({ description: 'of the account, base64url' }),
    name: Type.String({ description: 'e-mail address of the account' }),
    displayName: Type.String({ description: 'name of the user' }),
  }),
  pubKeyCredParams: Type.Array(
    Component('PasskeyAlgorithm', {
      type: Enumeration('PasskeyAlgorithmType', ['public-key']),
      alg: Type.Integer({ description: 'COSE algorithm (RFC 9053)' }),
    }),
  ),
  timeout: Timeout,
  excludeCredentials: Type.Array(Descriptor, { description: 'passkeys that the account has' }),
  authenticatorSelection: Component('PasskeySelection', {
    residentKey: Enumeration('ResidentKey', ['preferred']),
    userVerification: Verification,
  }),
  attestation: Enumeration('PasskeyAttestation', ['none']),
})
export type PasskeyCreation = Static<typeof PasskeyCreation>

/** What `navigator.credentials.get` returned. */
export const PasskeyAssertion = Component('PasskeyAssertion', {
  id: CredentialId,
  response: Component('PasskeyAssertionResponse', {
    clientDataJSON: Bytes('client data'),
    authenticatorData: Bytes('authenticator data'),
    signature: Bytes('signature'),
    userHandle: Optional(Nullable(Bytes('`user.id` of the creation', 100))),
  }),
})
export type PasskeyAssertion = Static<typeof PasskeyAssertion>

/** What `navigator.credentials.create` returned. */
export const PasskeyRegistration = Component('PasskeyRegistration', {
  id: CredentialId,
  response: Component('PasskeyRegistrationResponse', {
    clientDataJSON: Bytes('client data'),
    attestationObject: Bytes('attestation object'),
    transports: Type.Array(
      Type.String({ minLength: 1, maxLength: 32, pattern: '^[a-z-]+$', expects: 'a transport such as usb' }),
      { maxItems: 10, description: 'of `getTransports()`' },
    ),
  }),
})
export type PasskeyRegistration = Static<typeof PasskeyRegistration>
