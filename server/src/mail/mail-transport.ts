// What carries mails away: the port that SMTP and the folder of the demo stand behind. It knows neither templates nor the
// table of mails, and it tries once: whoever calls decides about the next time.
import type { Mailbox } from '../text/mailbox.ts'

/** One mail to one recipient, ready to go. */
export type MailMessage = {
  /** What is left of the @ of its Message-ID: the same for every attempt, so that a double can be told. */
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
   * Resolves once somebody else is answerable for the mail, with what he said, for people. Rejects with a DriverError:
   * `refused` is for good (a recipient that does not exist, or a content that is not taken); `postponed` is about this mail
   * now; `unreachable` and `protocol` are about the way to the server, and would meet any other mail too. No message of an
   * error holds anything of the mail but its recipient.
   */
  send(message: MailMessage): Promise<string>
  /** What is under way is rejected as `unreachable`, and so is all that comes. */
  close(): Promise<void>
}
