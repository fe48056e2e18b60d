// What is wrong with a text that should be an address or a prefix. It knows no HTTP and no Failure: the edge that took
// the text decides what to make of it.

export type PrefixErrorReason =
  | 'syntax'
  | 'leading_zero'
  | 'zone'
  | 'mapped'
  | 'length_missing'
  | 'length_unexpected'
  | 'length_range'
  | 'host_bits'

/** `message` is public text that says what to write instead and never repeats the input. */
export class PrefixError extends Error {
  readonly reason: PrefixErrorReason
  /** What was probably meant, in canonical form, where that can be told (`host_bits`, mostly `mapped`). */
  readonly canonical: string | undefined

  constructor(reason: PrefixErrorReason, message: string, canonical?: string) {
    super(message)
    this.name = 'PrefixError'
    this.reason = reason
    this.canonical = canonical
  }
}
