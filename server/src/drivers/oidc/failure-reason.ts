// From an error of the library or of the connection to a reason of the closed list.
import type { SignInReason } from '@pharos/contract/sign-in-reason'

type LibraryError = { readonly code?: unknown; readonly cause?: unknown; readonly message?: unknown }

const ofClaim: Readonly<Record<string, SignInReason>> = {
  iss: 'issuer',
  aud: 'audience',
  azp: 'audience',
  nonce: 'nonce',
}

const ofCode: Readonly<Record<string, SignInReason>> = {
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'issuer',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'time',
  OAUTH_KEY_SELECTION_FAILED: 'signature',
  OAUTH_UNSUPPORTED_OPERATION: 'algorithm',
  OAUTH_AUTHORIZATION_RESPONSE_ERROR: 'idp_error',
  OAUTH_RESPONSE_BODY_ERROR: 'idp_error',
  // The client ID or the client secret is wrong.
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: 'idp_error',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'unavailable',
  OAUTH_RESPONSE_IS_NOT_JSON: 'unavailable',
}

/** Codes of the library begin with OAUTH_; all other errors are of the connection. */
export function failureReasonOf(error: unknown): SignInReason {
  const { code, cause, message } = error as LibraryError
  if (typeof code !== 'string' || !code.startsWith('OAUTH_')) {
    const inner = (cause as LibraryError | undefined)?.code
    return typeof inner === 'string' && inner.startsWith('OAUTH_') ? failureReasonOf(cause) : 'unavailable'
  }
  if (code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED') return ofClaim[claimOf(cause)] ?? 'document'
  if (code === 'OAUTH_INVALID_RESPONSE') return ofMessage(`${String(message)} ${messageOf(cause)}`)
  return ofCode[code] ?? 'document'
}

const messageOf = (cause: unknown): string => String((cause as LibraryError | undefined)?.message ?? '')

/** The claim is in the cause, or in the cause of the cause. */
function claimOf(cause: unknown): string {
  const { claim, cause: inner } = (cause ?? {}) as { claim?: unknown; cause?: unknown }
  if (typeof claim === 'string') return claim
  return inner === undefined ? '' : claimOf(inner)
}

function ofMessage(message: string): SignInReason {
  if (message.includes('signature')) return 'signature'
  if (message.includes('"alg"')) return 'algorithm'
  if (message.includes('"iss"')) return 'issuer'
  return message.includes('"nonce"') ? 'nonce' : 'document'
}
