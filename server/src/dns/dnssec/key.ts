// Keys of a zone as stored: the private part is sealed and leaves this process only towards a signing thread.
import { createSigningKey } from '../sign/signing-key.ts'
import type { Algorithm } from '../sign/algorithm.ts'
import { decodeDnskey } from '../sign/dnskey.ts'
import type { SigningKey } from '../sign/signing-key.ts'
import { seal, type KeyRing } from '../../runtime/secrets.ts'

export type NewKey = {
  readonly algorithm: number
  readonly flags: number
  readonly tag: number
  readonly dnskey: Uint8Array
  readonly privateSealed: Buffer
}

/** The context that the private key is bound to: its zone and public key. `db/reseal.ts` names the same. */
export const keyContext = (zoneId: number, dnskey: Uint8Array): string =>
  `${zoneId} \\x${Buffer.from(dnskey).toString('hex')}`

/** Creates a CSK whose tag is not `taken`, sealed for its row. */
export const createKey = (
  ring: KeyRing,
  zoneId: number,
  algorithm: Algorithm,
  taken: readonly number[] = [],
): NewKey => sealKey(ring, zoneId, createSigningKey(algorithm, 'csk', taken))

/** Seals a key, also an imported one, for its row. */
export function sealKey(
  ring: KeyRing,
  zoneId: number,
  { algorithm, tag, dnskey, privateKey }: Omit<SigningKey, 'kind'>,
): NewKey {
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const privateSealed = seal(ring, 'dnssec-key', der, keyContext(zoneId, dnskey))
  return { algorithm, flags: decodeDnskey(dnskey).flags, tag, dnskey, privateSealed }
}
