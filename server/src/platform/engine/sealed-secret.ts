// A secret of the platform file that is stored sealed, in hexadecimal, bound to the key of its element.
import { isSealedUnderNewest, open, seal, type Purpose } from '../../runtime/secrets.ts'
import type { Secret } from './kind.ts'

/** A stored value of the same text stays. `decode` returns the bytes to seal. */
export const sealedSecret = (
  name: string,
  purpose: Purpose,
  decode: (text: string) => Buffer = (text) => Buffer.from(text, 'utf8'),
): Secret => ({
  name,
  store(text, stored, ring, key) {
    const plain = decode(text)
    if (stored !== undefined && isSame(stored)) return stored
    return seal(ring, purpose, plain, key).toString('hex')

    function isSame(hex: string): boolean {
      const sealed = Buffer.from(hex, 'hex')
      return isSealedUnderNewest(ring, purpose, sealed) && open(ring, purpose, sealed, key).equals(plain)
    }
  },
})
