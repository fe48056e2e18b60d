// The port for sending a message to an endpoint: one request, one result, and no exception for any behaviour of the endpoint.

export type WebhookRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte: it is signed. */
  readonly body: string
}

export type Answered = {
  readonly kind: 'answered'
  readonly status: number
  /** Value of `Retry-After`; null if it is absent or cannot be parsed. */
  readonly retryAfterSeconds: number | null
  /** The start of the response body as text, without control characters. */
  readonly text: string
  readonly durationMs: number
}

/** `error` is text for the team: it contains no address that the team did not enter. */
export type Unanswered = {
  readonly kind: 'unanswered'
  readonly error: string
  /** Not sent: the target is in a network that is not public, and that the operator has not allowed. */
  readonly isNotPublic?: boolean
  readonly durationMs: number
}

export type SendResult = Answered | Unanswered

export type WebhookSender = {
  /** Rejects with the signal's reason only. */
  send(request: WebhookRequest, signal: AbortSignal): Promise<SendResult>
}
