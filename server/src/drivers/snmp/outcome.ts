// The possible ends of a request, read from the errors of net-snmp. Its errors have keys and digests in them: they are never passed
// on, as a cause or as text.
import { DriverError } from '../../runtime/driver-error.ts'

export type SnmpOutcome<T> =
  | {
      readonly kind: 'answered'
      readonly value: T
      readonly sentAt: number
      readonly receivedAt: number
      readonly roundTripMs: number
    }
  /** `dropped`: invalid datagrams received during the wait. */
  | { readonly kind: 'silent'; readonly dropped: number }
  /** The system's code, such as ECONNREFUSED. */
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'too_big' }
  | { readonly kind: 'refused'; readonly part: CredentialPart; readonly reason: string }
  /** The time of the engine, or the engine, is another one than before (RFC 3414 section 3.2). */
  | { readonly kind: 'unsynchronised' }
  | { readonly kind: 'invalid'; readonly reason: string }

/** The part of the credential that the device did not accept; `access`: it is valid and may not read. */
export type CredentialPart = 'community' | 'user' | 'authPassword' | 'privacy' | 'privacyPassword' | 'access'

/** Error-status of RFC 3416 section 3. */
const status = { tooBig: 1, noAccess: 6, authorizationError: 16 }

/**
 * The text of the reports of RFC 3414 section 3.2 in net-snmp: its code 5 is used for all of them, and for an answer whose digest is
 * wrong.
 */
const reports: readonly (readonly [pattern: RegExp, outcome: SnmpOutcome<never>])[] = [
  [/^Unknown User Name/, refusedOutcome('user', 'The device does not know the user.')],
  [/^Wrong Digest/, refusedOutcome('authPassword', 'The authentication password or protocol is wrong.')],
  [
    /^Unsupported Security Level/,
    refusedOutcome('privacy', 'The user of the device has no such security level.'),
  ],
  [/^Decryption Error/, refusedOutcome('privacyPassword', 'The privacy password or protocol is wrong.')],
  [/^(Not In Time Window|Unknown Engine ID|Message with engineBoots)/, { kind: 'unsynchronised' }],
]

export function classify(error: Error, dropped: number): SnmpOutcome<never> {
  const { code, status: errorStatus } = error as Error & { code?: unknown; status?: unknown }
  if (error.name === 'RequestTimedOutError') return { kind: 'silent', dropped }
  if (error.name === 'RequestFailedError') return failed(Number(errorStatus))
  if (error.name === 'ResponseInvalidError') {
    const report = reports.find(([pattern]) => pattern.test(error.message))
    return report?.[1] ?? { kind: 'invalid', reason: `SNMP library code ${String(code)}` }
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return { kind: 'unreachable', code }
  return { kind: 'invalid', reason: 'its content is malformed' }
}

function failed(errorStatus: number): SnmpOutcome<never> {
  if (errorStatus === status.tooBig) return { kind: 'too_big' }
  if (errorStatus === status.noAccess || errorStatus === status.authorizationError)
    return refusedOutcome('access', 'The credential has no read access.')
  return { kind: 'invalid', reason: `error status ${errorStatus}` }
}

function refusedOutcome(part: CredentialPart, reason: string): SnmpOutcome<never> {
  return { kind: 'refused', part, reason }
}

export function refusal(part: CredentialPart, reason: string): DriverError {
  return new DriverError('refused', reason, { refused: [{ subject: part, reason }] })
}

export function driverErrorOf(outcome: SnmpOutcome<unknown>): DriverError | undefined {
  return outcome.kind === 'refused' ? refusal(outcome.part, outcome.reason) : undefined
}
