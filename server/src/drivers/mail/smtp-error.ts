// What became of a mail that an SMTP server did not take: from nodemailer's error to ours. A server that has read the mail
// may quote it in its answer, and one that was sent a password may quote that: of such an answer only the codes are kept.
import type { NodemailerError } from 'nodemailer'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'

export type ErrorOptions = {
  /** The mail holds no secret: the server's answer may be told in full. */
  readonly quoteAnswers: boolean
}

/** `recipient` is whom the mail was for; `name` is the server's, for the message. */
export function asDriverError(
  error: NodemailerError,
  recipient: string,
  name: string,
  options: ErrorOptions,
): DriverError {
  const kind = kindOf(error)
  const reason = `${name}${stepOf(error)}: ${wordsOf(error, options)}`
  return new DriverError(
    kind,
    reason,
    kind === 'refused' ? { refused: [{ subject: recipient, reason }] } : {},
  )
}

/**
 * A 5yz answer is about this mail only where it is about its recipient or its content. One that is about us (login, sender,
 * the connection itself) is for the operator to mend, and no reason to lose mails. RFC 5321 section 4.2.1.
 */
function kindOf({ code = '', command = '', responseCode, permanent }: NodemailerError): DriverErrorKind {
  if (responseCode === undefined) return kindOfCode(code)
  // 421 closes the connection, whatever was asked.
  if (responseCode === 421) return 'unreachable'
  if (responseCode < 500) return /^(MAIL FROM|RCPT TO|DATA)/.test(command) ? 'postponed' : 'unreachable'
  if (loginCodes.has(responseCode) || !/^(RCPT TO|DATA)/.test(command)) return 'protocol'
  return permanent ? 'refused' : 'postponed'
}

/** RFC 4954 section 6: what a server answers to any command of somebody whom it wants to know. */
const loginCodes = new Set([530, 534, 535, 538])

/** Of what went wrong without an answer. */
function kindOfCode(code: string): DriverErrorKind {
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return 'refused'
  return ['ETLS', 'EAUTH', 'ENOAUTH', 'EPROTOCOL'].includes(code) ? 'protocol' : 'unreachable'
}

function stepOf({ command = '' }: NodemailerError): string {
  return /^[A-Z][A-Z0-9 -]{1,20}$/.test(command) && command !== 'CONN' && command !== 'API'
    ? ` at ${command}`
    : ''
}

const wordsMax = 300

function wordsOf(
  { message, response, command = '' }: NodemailerError,
  { quoteAnswers }: ErrorOptions,
): string {
  if (response === undefined) return oneLine(message)
  const isSafe = quoteAnswers || /^(EHLO|HELO|STARTTLS|MAIL FROM|RCPT TO)/.test(command)
  return isSafe ? oneLine(response) : codesOf(response)
}

/** `554 5.7.1` of a whole answer. */
function codesOf(response: string): string {
  const [codes] = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(response) ?? []
  return codes === undefined ? 'an answer that is none' : codes.replace('-', ' ')
}

function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, wordsMax)
}
