// For tests: how a zone is signed.
import type { ZoneName } from '../../net/dns/name.ts'
import type { Algorithm } from './algorithm.ts'
import { defaultTimes, type SignatureSettings } from './signature.ts'
import { createSigningKey, type KeyKind } from './signing-key.ts'

/** Signs with new keys, from now on. */
export const signingOf = (
  zone: ZoneName,
  denial: 'nsec' | 'nsec3' = 'nsec',
  algorithm: Algorithm = 13,
  kinds: readonly KeyKind[] = ['csk'],
): SignatureSettings => ({
  zone,
  keys: kinds.map((kind) => createSigningKey(algorithm, kind)),
  denial,
  now: Math.floor(Date.now() / 1000),
  times: defaultTimes,
})
