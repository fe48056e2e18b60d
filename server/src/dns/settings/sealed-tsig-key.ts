// Opens TSIG keys of rows: the secret is sealed for the name of the key.
import type { DomainName } from '../../net/dns/name.ts'
import type { TsigAlgorithm, TsigKey } from '../../net/dns/tsig.ts'
import { open, type KeyRing } from '../../runtime/secrets.ts'

export type SealedKey = {
  readonly keyName: DomainName | null
  readonly keyAlgorithm: string | null
  readonly keySealed: Buffer | null
}

/**
 * Returns the key; undefined if the row has no key. Throws if it cannot be opened, so that no message is sent unsigned.
 */
export function openTsigKey(
  ring: KeyRing,
  { keyName: name, keyAlgorithm: algorithm, keySealed: sealed }: SealedKey,
): TsigKey | undefined {
  if (name === null || sealed === null) return undefined
  return { name, algorithm: algorithm as TsigAlgorithm, secret: open(ring, 'tsig-key', sealed, name) }
}
