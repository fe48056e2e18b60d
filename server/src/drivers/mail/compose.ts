// Composes the bytes of a mail, the same for every transport. It has no I/O, and rejects values that could inject
// another header.
import MailComposer from 'nodemailer/lib/mail-composer'
import type { MailAttachment, MailMessage } from '../../mail/mail-transport.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { parseEmail } from '../../text/email.ts'
import { isHeaderText, type Mailbox } from '../../text/mailbox.ts'

export type Composed = {
  readonly envelope: { readonly from: string; readonly to: readonly string[] }
  readonly bytes: Buffer
}

/** The line limit of RFC 5322; URLs are not wrapped, so that links in a raw mail can be used. */
const lineMax = 998

/** Throws DriverError `refused` if the recipient is not a plain address, or a header would have more than one line. */
export async function composeMail(message: MailMessage): Promise<Composed> {
  checkHeaders(message)
  const { id, date, from, replyTo, to, subject, text, html, unsubscribe, attachment } = message
  const composer = new MailComposer({
    from: { ...from },
    ...(replyTo === null ? {} : { replyTo: { ...replyTo } }),
    to: { name: '', address: to },
    subject,
    date,
    messageId: `<${id}@${domainOf(from.address)}>`,
    // Suppresses automatic replies: RFC 3834, and the header of Exchange.
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...unsubscribeHeaders(unsubscribe),
    },
    text: isPlainAscii(text) ? { raw: sevenBit(text) } : text,
    html,
    ...(attachment === undefined ? {} : { attachments: [attachmentOf(attachment)] }),
    newline: 'win',
    // Derived instead of random: a mail that is sent twice is identical.
    baseBoundary: id,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return { envelope: { from: from.address, to: [to] }, bytes: await composer.compile().build() }
}

const attachmentOf = ({ filename, mediaType, bytes }: MailAttachment) => ({
  filename,
  contentType: mediaType,
  content: bytes,
})

/** RFC 2369 and, for https only, one-click (RFC 8058). */
function unsubscribeHeaders(url: string | undefined): Readonly<Record<string, string>> {
  if (url === undefined) return {}
  const oneClick = url.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}
  return { 'List-Unsubscribe': `<${url}>`, ...oneClick }
}

function checkHeaders({ id, from, replyTo, to, subject, unsubscribe = '' }: MailMessage): void {
  if (parseEmail(to) === undefined) throw refused(to, 'not an address that mail can be sent to')
  const boxes = replyTo === null ? [from] : [from, replyTo]
  const isFit = (box: Mailbox) => parseEmail(box.address) !== undefined && isHeaderText(box.name)
  if (
    !boxes.every(isFit) ||
    !isHeaderText(subject) ||
    !/^[\w.-]+$/.test(id) ||
    /[^!-~]|[<>]/.test(unsubscribe)
  )
    throw refused(to, 'a mail header would contain more than one line')
}

function refused(subject: string, reason: string): DriverError {
  return new DriverError('refused', reason, { refused: [{ subject, reason }] })
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Whether the text is ASCII in lines that every server accepts unchanged. */
function isPlainAscii(text: string): boolean {
  return /^[\t\n\x20-\x7e]*$/.test(text) && text.split('\n').every(({ length }) => length <= lineMax)
}

function sevenBit(text: string): string {
  const head = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n'
  return head + text.replaceAll('\n', '\r\n')
}
