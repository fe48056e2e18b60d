// The sender of a mail: an address with an optional name.
import { parseEmail } from './email.ts'

/** An address with its display name; empty if missing. */
export type Mailbox = { readonly name: string; readonly address: string }

/** Parses `noreply@net.example` or `Example Net <noreply@net.example>`; throws an Error with the accepted forms. */
export function parseMailbox(text: string): Mailbox {
  const [, quoted, plain, bracketed] = /^(?:"([^"\\<>]*)"|([^"<>]*))\s*<([^<>]*)>$/.exec(text.trim()) ?? []
  const name = (quoted ?? plain ?? '').trim()
  const address = parseEmail(bracketed ?? text.trim())
  if (address === undefined || !isHeaderText(name))
    throw new Error('must be like noreply@net.example or Example Net <noreply@net.example>')
  return { name, address }
}

/** Whether a text is safe in a mail header: it has no line end, hidden character or change of direction. */
export function isHeaderText(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)
}
