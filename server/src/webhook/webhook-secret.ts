// The secret of a webhook and its signatures, according to the Standard Webhooks specification (version 1.0.0,
// symmetric): HMAC-SHA256 over id, time and body. It is sealed at rest, bound to its webhook, because signing needs its
// plain text.
import { createHmac, randomBytes } from 'node:crypto'
import { open, seal, type KeyRing } from '../runtime/secrets.ts'

const prefix = 'whsec_'
const secretBytes = 32

/** The key itself, 32 bytes. */
export const createSecret = (): Buffer => randomBytes(secretBytes)

/** The format that is shown, and that the libraries of the specification expect. */
export const formatSecret = (secret: Buffer): string => `${prefix}${secret.toString('base64')}`

export const sealWebhookSecret = (ring: KeyRing, webhookId: number, secret: Buffer): Buffer =>
  seal(ring, 'webhook-secret', secret, String(webhookId))

/** Throws if its key is no longer in the ring. */
export const openWebhookSecret = (ring: KeyRing, webhookId: number, sealed: Buffer): Buffer =>
  open(ring, 'webhook-secret', sealed, String(webhookId))

/** The headers of one attempt. With several secrets there are several signatures, the newest first. */
export function signedHeaders(
  secrets: readonly Buffer[],
  messageId: string,
  body: string,
  at: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const sign = (secret: Buffer) =>
    `v1,${createHmac('sha256', secret).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`
  return {
    'content-type': 'application/json',
    'user-agent': 'Pharos-Webhooks/1',
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  }
}
