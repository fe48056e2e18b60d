// Passkeys in the browser (WebAuthn): what prevents them, and its two calls with the shapes of the API.
import type {
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyRequest,
} from '@pharos/contract/session/webauthn'

export type PasskeyObstacle = 'address' | 'insecure' | 'unsupported'

/** Returns why the page cannot use passkeys; undefined if it can. */
export function findPasskeyObstacle(): PasskeyObstacle | undefined {
  if (/^[\d.]+$|^\[/.test(location.hostname)) return 'address'
  if (!window.isSecureContext) return 'insecure'
  const isKnown =
    typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential
  return isKnown ? undefined : 'unsupported'
}

/** The user closed the dialog of the browser, or let it expire: not an error to show. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')

/** The authenticator has a passkey of the account already. */
export const isKnownAuthenticator = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'InvalidStateError'

export async function createCredential(options: PasskeyCreation): Promise<PasskeyRegistration> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const { id, response } = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential & {
    readonly response: AuthenticatorAttestationResponse
  }
  return {
    id,
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
      transports: response.getTransports(),
    },
  }
}

type Asking = Pick<CredentialRequestOptions, 'signal' | 'mediation'>

/** With the mediation `conditional` it waits until the user selects a passkey in a field with the autocomplete token `webauthn`. */
export async function getCredential(options: PasskeyRequest, asking: Asking = {}): Promise<PasskeyAssertion> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const { id, response } = (await navigator.credentials.get({
    publicKey,
    ...asking,
  })) as PublicKeyCredential & { readonly response: AuthenticatorAssertionResponse }
  return {
    id,
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      authenticatorData: encode(response.authenticatorData),
      signature: encode(response.signature),
      ...(response.userHandle ? { userHandle: encode(response.userHandle) } : {}),
    },
  }
}

export const canAutofill = async (): Promise<boolean> =>
  (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true

/** Base64url. */
const encode = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
