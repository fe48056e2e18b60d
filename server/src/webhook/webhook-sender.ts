// The port to whoever takes a message: one request, one answer, and never an exception for what the other side does.

export type WebhookRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent to the byte as it is: it is signed. */
  readonly body: string
}

export type Answered = {
  readonly kind: 'answered'
  readonly status: number
  /** The delay of `Retry-After`; null without a valid one. */
  readonly retryAfterSeconds: number | null
  /** The beginning of the answer's body as text without control characters. */
  readonly text: string
  readonly durationMs: number
}

/** `error` is a sentence for the team: it names no address that the team did not write. */
export type Unanswered = { readonly kind: 'unanswered'; readonly error: string; readonly durationMs: number }

export type SendResult = Answered | Unanswered

export type WebhookSender = {
  /** Rejects with the signal's reason only. */
  send(request: WebhookRequest, signal: AbortSignal): Promise<SendResult>
}
