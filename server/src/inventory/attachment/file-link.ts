// Links to files that need no credential: an HMAC over the attachment and the end of the link. Pure.
import { attachmentLinkSeconds } from '@pharos/contract/attachment'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKeys, type KeyRing } from '../../runtime/secrets.ts'

export type FileLink = { readonly url: string; readonly url_expires: string }

export function createFileLink(ring: KeyRing, publicUrl: string, id: number, now: Date): FileLink {
  const expires = Math.floor(now.getTime() / 1000) + attachmentLinkSeconds
  const signature = sign(deriveKeys(ring, 'attachment')[0]!.key, id, expires).toString('hex')
  return {
    url: `${publicUrl.replace(/\/$/, '')}/v3/attachments/${id}/file?token=${expires}.${signature}`,
    url_expires: new Date(expires * 1000).toISOString(),
  }
}

/** Whether the link is one of ours for this attachment and has not ended. */
export function isValidLink(ring: KeyRing, id: number, token: string, now: Date): boolean {
  const [expiresText = '', signature = ''] = token.split('.')
  const expires = Number(expiresText)
  if (expires * 1000 < now.getTime()) return false
  const given = Buffer.from(signature, 'hex')
  return deriveKeys(ring, 'attachment').some(({ key }) => {
    const expected = sign(key, id, expires)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

const sign = (key: Buffer, id: number, expires: number): Buffer =>
  createHmac('sha256', key).update(`${id}|${expires}`).digest()
