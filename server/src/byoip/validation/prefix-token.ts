// The token by which a team marks its prefix in DNS or in the address registry. It is derived from the key ring, the
// team and the prefix, so it is not stored. It is not secret: it is invalid for another team or another prefix.
import { createHmac } from 'node:crypto'
import type { Prefix } from '../../net/prefix.ts'
import { deriveKeys, type KeyRing } from '../../runtime/secrets.ts'

const start = 'pharos-verify='
/** 144 bits, which are 24 characters without padding. */
const macBytes = 18

/** Newest first: the team sees the first one, and all are accepted. */
export type PrefixTokens = readonly [string, ...string[]]

export function prefixTokens(ring: KeyRing, teamId: number, prefix: Prefix): PrefixTokens {
  const tokens = deriveKeys(ring, 'prefix-proof').map(({ key }) => {
    const mac = createHmac('sha256', key).update(`${teamId}|${prefix}`).digest()
    return start + mac.subarray(0, macBytes).toString('base64url')
  })
  return tokens as unknown as PrefixTokens
}
