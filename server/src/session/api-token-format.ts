// The text format of tokens, `phs_<id>_<secret><checksum>` of a team, `phstaff_...` of staff and `phscim_...` of an identity provider: secret scanners find them by
// the prefix and verify the checksum offline. Whether a token is valid is decided in credentials.ts.
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * - `id`: 12 characters of base32 (RFC 4648, lower case), 60 random bits; public, used in logs and in the audit log.
 * - `secret`: 43 characters of base62, 256 random bits; only its MAC is stored.
 */
export type ApiToken = { readonly holder: TokenHolder; readonly id: string; readonly secret: string }
export type TokenHolder = 'team' | 'staff' | 'scim'

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 12
const secretLength = 43
const checksumLength = 6
const prefixes: Readonly<Record<TokenHolder, string>> = { team: 'phs', staff: 'phstaff', scim: 'phscim' }
const holders = Object.keys(prefixes) as TokenHolder[]
const form = /^(phs|phstaff|phscim)_([a-z2-7]{12})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** Creates a token from the system's random source. */
export function createApiToken(holder: TokenHolder = 'team'): ApiToken {
  const id = Array.from(randomBytes(idLength), (byte) => base32[byte & 31]).join('')
  return { holder, id, secret: toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretLength) }
}

/** Returns the text of the token, which is shown once. */
export function formatApiToken({ holder, id, secret }: ApiToken): string {
  const text = `${prefixes[holder]}_${id}_${secret}`
  return text + checksum(text)
}

/** Returns the parts of a token; undefined if the text is not a token or its checksum is wrong. */
export function parseApiToken(text: string): ApiToken | undefined {
  const [, prefix, id, secret, given] = form.exec(text) ?? []
  if (id === undefined || secret === undefined) return undefined
  const holder = holders.find((one) => prefixes[one] === prefix)!
  return given === checksum(text.slice(0, -checksumLength)) ? { holder, id, secret } : undefined
}

/** Returns the CRC-32 (IEEE 802.3) of the text in base62: 62^6 is enough for every value. */
function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumLength)
}

function toBase62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = base62[Number(rest % 62n)]! + text
  return text
}
