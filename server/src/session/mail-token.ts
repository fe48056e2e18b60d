// Mail tokens, `phm_<purpose>.<id>.<secret>`: a valid token proves access to the mailbox. Only a MAC is stored, and a token is
// invalid once the address or password of its account has changed.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Db, Trx } from '../db/postgres.ts'
import { fail } from '../runtime/error.ts'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'
import {
  findMailToken,
  insertMailToken,
  type FoundMailToken,
  type MailTokenPurpose,
} from './mail-token.store.ts'

export type MailToken = { readonly purpose: MailTokenPurpose; readonly id: string; readonly secret: string }

/** Lifetime by purpose. */
export const mailTokenMinutes: Readonly<Record<MailTokenPurpose, number>> = {
  'confirm-email': 24 * 60,
  'password-reset': 60,
}

const form =
  /^phm_(confirm-email|password-reset)\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/

const formatMailToken = ({ purpose, id, secret }: MailToken): string => `phm_${purpose}.${id}.${secret}`

/** Returns the parts of a token; undefined for any other text. */
function parseMailToken(text: string): MailToken | undefined {
  const [, purpose, id, secret] = form.exec(text) ?? []
  if (purpose === undefined || id === undefined || secret === undefined) return undefined
  return { purpose: purpose as MailTokenPurpose, id, secret }
}

/** Creates a token for the user. Returns its text, which is sent to `email` and not stored. */
export async function createMailToken(
  trx: Trx,
  ring: KeyRing,
  purpose: MailTokenPurpose,
  userId: number,
  email: string,
): Promise<string> {
  const token = { purpose, id: randomUUID(), secret: randomBytes(32).toString('base64url') }
  const minutes = mailTokenMinutes[purpose]
  await insertMailToken(trx, { purpose, id: token.id, userId, email, secretMac: macOf(ring, token), minutes })
  return formatMailToken(token)
}

/** Returns the token's record. Throws the same `invalid_token` for an unknown, expired, used or outdated token. */
export async function requireMailToken(
  db: Db | Trx,
  ring: KeyRing,
  purpose: MailTokenPurpose,
  text: string,
): Promise<FoundMailToken> {
  const token = parseMailToken(text)
  const found = token?.purpose === purpose ? await findMailToken(db, purpose, token.id) : undefined
  if (!token || !found || !verifyMac(ring, 'mail-token', formatMailToken(token), found.secretMac))
    throw invalidToken()
  return found
}

export const invalidToken = () => fail('invalid_token', 'link')

const macOf = (ring: KeyRing, token: MailToken): Buffer => mac(ring, 'mail-token', formatMailToken(token))
