// The token by which a team marks its own entries in a registry. It is derived from the key ring, the team and the ASN,
// so it is not stored, and it is not secret: it is invalid for other teams and ASNs.
import { createHmac } from 'node:crypto'
import type { Asn } from '../../net/asn.ts'
import { deriveKeys, type KeyRing } from '../../runtime/secrets.ts'

const prefix = 'pharos-asn-verify='
/** 144 bits: 24 characters of base64url without padding. */
const macBytes = 18

/** Newest first: the team gets the first one, all are accepted. */
export type AsnTokens = readonly [string, ...string[]]

export function asnTokens(ring: KeyRing, teamId: number, asn: Asn): AsnTokens {
  const tokens = deriveKeys(ring, 'asn-proof').map(({ key }) => {
    const mac = createHmac('sha256', key).update(`${teamId}|${asn}`).digest()
    return prefix + mac.subarray(0, macBytes).toString('base64url')
  })
  return tokens as unknown as AsnTokens
}

/** Returns whether the text contains one of the tokens as a separate word. */
export function holdsToken(text: string, tokens: AsnTokens): boolean {
  return text.split(/[\s"',;]+/).some((word) => tokens.includes(word))
}
