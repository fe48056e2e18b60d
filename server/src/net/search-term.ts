// The meanings of a search text: text, an address or prefix, an ASN. Pure.
import { parseAsn } from './asn.ts'
import { parsePrefixOrAddress, type Prefix } from './prefix.ts'

export type SearchTerm = {
  /** In lower case, without spaces around it. */
  readonly text: string
  /** An address is its /32 or /128. */
  readonly prefix: Prefix | null
  readonly asn: number | null
}

export function parseSearchTerm(query: string): SearchTerm {
  const text = query.trim().toLowerCase()
  return {
    text,
    prefix: valueOr(() => parsePrefixOrAddress(text)),
    asn: valueOr(() => parseAsn(text)),
  }
}

/** Null for any text that is not one: the search then is for the text alone. */
function valueOr<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
