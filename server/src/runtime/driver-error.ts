// The one way in which a driver says that the other side failed. It tells the cases that the loops treat
// differently, and must not carry HTTP codes or text for customers: what a driver says is for operators.

/**
 * - `unreachable`: no answer within the deadline, no connection, or the connection broke. What was asked for may or
 *   may not have happened.
 * - `refused`: the other side answered no. What it refused stands in `refused`; the rest of the call was carried out.
 * - `postponed`: the other side answered "not now", and will take the same call later (SMTP 4yz). Nothing happened.
 * - `protocol`: the other side is not what we expected: another version, another service, an answer that cannot be read.
 */
export type DriverErrorKind = 'unreachable' | 'refused' | 'postponed' | 'protocol'

/** One part of a call that was refused: its name in our words (a prefix, a zone) and the reason as it was given. */
export type Refusal = { readonly subject: string; readonly reason: string }

/** The failure of a call to something outside of the process. */
export class DriverError extends Error {
  readonly kind: DriverErrorKind
  readonly refused: readonly Refusal[]

  constructor(
    kind: DriverErrorKind,
    message: string,
    details: { refused?: readonly Refusal[]; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'DriverError'
    this.kind = kind
    this.refused = details.refused ?? []
  }
}
