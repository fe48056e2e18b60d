// One attempt to send a message, signed with the current secrets of the webhook.
import type { KeyRing } from '../runtime/secrets.ts'
import type { DeliveryAttempt } from './delivery.store.ts'
import { errorOf } from './schedule.ts'
import { openWebhookSecret, signedHeaders } from './webhook-secret.ts'
import type { SendResult, WebhookSender } from './webhook-sender.ts'

export type WebhookSigning = {
  readonly webhook_id: number
  readonly url: string
  readonly secret_sealed: Buffer
  /** Null once it no longer signs. */
  readonly former_secret_sealed: Buffer | null
}

export type WebhookMessage = { readonly message_id: string; readonly body: string }

/** Rejects with the signal's reason only. */
export async function attemptToSend(
  ring: KeyRing,
  sender: WebhookSender,
  { webhook_id, url, secret_sealed, former_secret_sealed }: WebhookSigning,
  { message_id, body }: WebhookMessage,
  at: Date,
  signal: AbortSignal,
): Promise<SendResult> {
  let secrets: Buffer[]
  try {
    const sealed = former_secret_sealed === null ? [secret_sealed] : [secret_sealed, former_secret_sealed]
    secrets = sealed.map((one) => openWebhookSecret(ring, webhook_id, one))
  } catch {
    return { kind: 'unanswered', error: 'the secret can no longer be decrypted: rotate it', durationMs: 0 }
  }
  return sender.send({ url, body, headers: signedHeaders(secrets, message_id, body, at) }, signal)
}

/** Returns the attempt in its stored form. */
export function attemptOf(result: SendResult, at: Date): DeliveryAttempt {
  return {
    at: at.toISOString(),
    status: result.kind === 'answered' ? result.status : null,
    error: errorOf(result) ?? null,
    duration_ms: result.durationMs,
    answer: result.kind === 'answered' ? result.text : '',
  }
}
