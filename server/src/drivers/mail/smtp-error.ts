// Converts nodemailer's errors into driver errors. A server's answer may quote the mail or the password that it
// received, so only the codes of such answers are kept.
import type { NodemailerError } from 'nodemailer'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'

export type ErrorOptions = {
  /** The mail contains no secret: the server's answer may be shown in full. */
  readonly quoteAnswers: boolean
}

/** `recipient` is the recipient of the mail; `name` is the server's name, for the message. */
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
 * A 5yz answer concerns this mail only if it is about its recipient or its content. One about the login, the sender or the
 * connection must be fixed by the operator and loses no mails. RFC 5321 section 4.2.1.
 */
function kindOf({ code = '', command = '', responseCode, permanent }: NodemailerError): DriverErrorKind {
  if (responseCode === undefined) return kindOfCode(code)
  // 421 closes the connection, whatever the command was.
  if (responseCode === 421) return 'unreachable'
  if (responseCode < 500) return /^(MAIL FROM|RCPT TO|DATA)/.test(command) ? 'postponed' : 'unreachable'
  if (loginCodes.has(responseCode) || !/^(RCPT TO|DATA)/.test(command)) return 'protocol'
  return permanent ? 'refused' : 'postponed'
}

/** RFC 4954 section 6: the answer to any command before authentication. */
const loginCodes = new Set([530, 534, 535, 538])

/** Errors without an answer of the server. */
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

/** Returns the codes of an answer, such as `554 5.7.1`. */
function codesOf(response: string): string {
  const [codes] = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(response) ?? []
  return codes === undefined ? 'an invalid answer' : codes.replace('-', ' ')
}

function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, wordsMax)
}
