// Short texts that replace long ones in comparisons.
import { createHash } from 'node:crypto'

/** Returns 64 bits of the text's SHA-256 in hexadecimal: enough to notice a change, not to prove an identity. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
