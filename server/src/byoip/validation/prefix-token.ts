// The token by which a team marks its prefix in DNS or in the address registry. It follows from the key ring, the team and the
// prefix, so nothing is stored; anybody may read it: for another team, or another prefix, it proves nothing.
import { createHmac } from 'node:crypto'
import type { Prefix } from '../../net/prefix.ts'
import { deriveKeys, type KeyRing } from '../../runtime/secrets.ts'

const start = 'pharos-verify='
/** 144 bits, which are 24 characters without padding. */
const macBytes = 18

/** Newest first: the first one is shown to the team, all of them are accepted. */
export type PrefixTokens = readonly [string, ...string[]]

export function prefixTokens(ring: KeyRing, teamId: number, prefix: Prefix): PrefixTokens {
  const tokens = deriveKeys(ring, 'prefix-proof').map(({ key }) => {
    const mac = createHmac('sha256', key).update(`${teamId}|${prefix}`).digest()
    return start + mac.subarray(0, macBytes).toString('base64url')
  })
  return tokens as unknown as PrefixTokens
}
