// The port for sending mails, which SMTP and the folder of the demo implement. It knows neither templates nor the table of mails, and
// tries once: the caller decides about retries.
import type { Mailbox } from '../text/mailbox.ts'

export type MailAttachment = {
  readonly filename: string
  readonly mediaType: string
  readonly bytes: Buffer
}

/** A complete mail to one recipient. */
export type MailMessage = {
  /** The local part of its Message-ID: the same for every attempt, so that duplicates can be detected. */
  readonly id: string
  readonly date: Date
  readonly from: Mailbox
  readonly replyTo: Mailbox | null
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** URL that ends mails of this kind, for `List-Unsubscribe` (RFC 8058). */
  readonly unsubscribe?: string
  readonly attachment?: MailAttachment
}

export type MailTransport = {
  /** Such as `smtp mail.net.example:587`: for the log, without a credential. */
  readonly name: string
  /**
   * Resolves with the server's response text once it has accepted the mail. Rejects with a DriverError: `refused` is
   * permanent (the recipient does not exist, or the content is rejected); `postponed` is a temporary failure of this
   * mail; `unreachable` and `protocol` are failures of the server, which any other mail would meet as well. The message
   * of an error contains no part of the mail except its recipient.
   */
  send(message: MailMessage): Promise<string>
  /** Rejects mails that are being sent, and all later ones, as `unreachable`. */
  close(): Promise<void>
}
