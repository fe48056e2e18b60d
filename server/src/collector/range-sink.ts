// The result of reading a file of ranges.

/** `first` and `last` are inclusive: 32 bits of IPv4, the first 64 bits of IPv6. 0 is no AS number and no country. */
export type RangeSink = {
  add(family: 4 | 6, first: bigint, last: bigint, asn: number, country: number): void
  /** May be called for every range of the AS. */
  name(asn: number, name: string): void
}

/** A country as one number, its first letter in the high byte; 0 if the text is no country. */
export function toCountryNumber(text: string): number {
  if (!/^[A-Z]{2}$/i.test(text) || text.toUpperCase() === 'ZZ') return 0
  return (text.toUpperCase().charCodeAt(0) << 8) | text.toUpperCase().charCodeAt(1)
}
