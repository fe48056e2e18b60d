// The port for sending mails, which SMTP and the folder of the demo implement. It knows neither templates nor the table of mails, and
// tries once: the caller decides about retries.
import type { Mailbox } from '../text/mailbox.ts'

/** One mail to one recipient, ready to go. */
export type MailMessage = {
  /** The local part of its Message-ID: the same for every attempt, so that duplicates can be recognised. */
  readonly id: string
  readonly date: Date
  readonly from: Mailbox
  readonly replyTo: Mailbox | null
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

export type MailTransport = {
  /** `smtp mail.net.example:587`: for the log, without a credential. */
  readonly name: string
  /**
   * Resolves once the server has accepted the mail, with its response text. Rejects with a DriverError: `refused` is permanent (a
   * recipient that does not exist, or content that is not accepted); `postponed` concerns this mail for now; `unreachable` and
   * `protocol` concern the server, and would fail any other mail too. The message of an error holds nothing of the mail but its
   * recipient.
   */
  send(message: MailMessage): Promise<string>
  /** Rejects mails that are being sent, and all later ones, as `unreachable`. */
  close(): Promise<void>
}
