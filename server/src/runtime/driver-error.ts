// The error of drivers for failures of the remote system. Its kinds are the cases that loops treat differently; it has no HTTP
// codes and no text for customers: messages of drivers are for operators.

/**
 * - `unreachable`: no answer within the deadline, no connection, or the connection broke. The call may or may not have had an effect.
 * - `refused`: the remote system rejected it. `refused` contains the rejected items; the rest of the call was applied.
 * - `postponed`: the remote system answered "not now" and may accept the same call later (SMTP 4yz). It had no effect.
 * - `protocol`: the remote system is another version, another service, or its answer is invalid.
 */
export type DriverErrorKind = 'unreachable' | 'refused' | 'postponed' | 'protocol'

/** A rejected part of a call: its name in Pharos' terms (a prefix, a zone) and the reason from the remote system. */
export type RejectedItem = { readonly subject: string; readonly reason: string }

/** The failure of a call to a remote system. */
export class DriverError extends Error {
  readonly kind: DriverErrorKind
  readonly refused: readonly RejectedItem[]

  constructor(
    kind: DriverErrorKind,
    message: string,
    details: { refused?: readonly RejectedItem[]; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'DriverError'
    this.kind = kind
    this.refused = details.refused ?? []
  }
}

/** A statement exceeded its limits of time, memory, rows read or rows returned. The store is well; the question is too large. */
export class QueryTooExpensive extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'QueryTooExpensive'
  }
}
