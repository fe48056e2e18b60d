// An address as four words, the most significant first, as in FlowColumns: IPv4 is mapped, ::ffff:a.b.c.d.
import { readAddress, type Address } from '../../net/address.ts'
import { formatBits } from '../../net/bits-text.ts'

export type Words = readonly [number, number, number, number]

const isMapped = ([a, b, c]: Words): boolean => a === 0 && b === 0 && c === 0xff_ff

/** Returns the canonical text; a mapped address is IPv4. */
export function formatWords(words: Words): Address {
  const [w0, w1, w2, w3] = words
  const bits = isMapped(words)
    ? { family: 4 as const, length: 32, w0: w3, w1: 0, w2: 0, w3: 0 }
    : { family: 6 as const, length: 128, w0, w1, w2, w3 }
  return formatBits(bits) as Address
}

/** Parses an address without a zone. Throws PrefixError. */
export function parseWords(text: string): Words {
  const { family, w0, w1, w2, w3 } = readAddress(text, text.length)
  return family === 4 ? [0, 0, 0xff_ff, w0 >>> 0] : [w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0]
}
