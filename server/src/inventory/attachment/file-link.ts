// Links to files that need no credential: an HMAC over the attachment and the end of the link. Pure.
import { attachmentLinkSeconds } from '@pharos/contract/inventory/attachment'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKeys, type KeyRing } from '../../runtime/secrets.ts'

export type FileLink = { readonly url: string; readonly url_expires: string }

/** `teamId`: of a file of an event, of which each team sees its part. */
export function createFileLink(
  ring: KeyRing,
  publicUrl: string,
  id: number,
  now: Date,
  teamId: number | null = null,
): FileLink {
  // The whole minute: the answer, and so its ETag, is the same until then.
  const expires = Math.ceil(now.getTime() / 60_000) * 60 + attachmentLinkSeconds
  const named = teamId === null ? `${expires}` : `${expires}-${teamId}`
  const signature = sign(deriveKeys(ring, 'attachment')[0]!.key, id, named).toString('hex')
  return {
    url: `${publicUrl.replace(/\/$/, '')}/v3/attachments/${id}/file?token=${named}.${signature}`,
    url_expires: new Date(expires * 1000).toISOString(),
  }
}

/** Part of the ETag of a record with links: it changes before a link that a client has kept with the record can end. */
export const linkPeriodOf = (now: Date): number => Math.floor(now.getTime() / (attachmentLinkSeconds * 500))

/**
 * Returns the team of the link, null for a link of staff; undefined unless it is valid for this attachment and has not
 * expired.
 */
export function readFileLink(
  ring: KeyRing,
  id: number,
  token: string,
  now: Date,
): { readonly teamId: number | null } | undefined {
  const [named = '', signature = ''] = token.split('.')
  const [expires, teamId] = named.split('-')
  if (Number(expires) * 1000 < now.getTime()) return undefined
  const given = Buffer.from(signature, 'hex')
  const isOurs = deriveKeys(ring, 'attachment').some(({ key }) => {
    const expected = sign(key, id, named)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return isOurs ? { teamId: teamId === undefined ? null : Number(teamId) } : undefined
}

const sign = (key: Buffer, id: number, named: string): Buffer =>
  createHmac('sha256', key).update(`${id}|${named}`).digest()
