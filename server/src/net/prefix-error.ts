// The error of a text that is not an address or a prefix. It knows no HTTP and no Failure: the caller that received the text
// converts it.

export type PrefixErrorReason =
  | 'syntax'
  | 'leading_zero'
  | 'zone'
  | 'mapped'
  | 'length_missing'
  | 'length_unexpected'
  | 'length_range'
  | 'host_bits'

/** `message` is public text with advice and never repeats the input. */
export class PrefixError extends Error {
  readonly reason: PrefixErrorReason
  /** The probably intended prefix in canonical form, if it can be derived (`host_bits`, mostly `mapped`). */
  readonly canonical: string | undefined

  constructor(reason: PrefixErrorReason, message: string, canonical?: string) {
    super(message)
    this.name = 'PrefixError'
    this.reason = reason
    this.canonical = canonical
  }
}
