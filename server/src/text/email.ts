// E-mail addresses in stored form: one spelling per mailbox, as far as the text allows.
// Whether the mailbox exists is not known here: only a confirmed mail proves it.
import { domainToASCII } from 'node:url'

/** RFC 5321, 4.5.3.1: in bytes of UTF-8, as a server counts them. */
const addressBytesMax = 254
const localBytesMax = 64
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/

/**
 * Parses an address: the domain in lower case and in ASCII (`ann@xn--mller-kva.example` for `Ann@Müller.example`), the local
 * part unchanged, in NFC. Undefined if it is not valid: quoted local parts and address literals are not accepted, nor is text
 * with a space, a control character or an invisible one.
 */
export function parseEmail(text: string): string | undefined {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at).normalize('NFC')
  if (at < 1 || !isLocal(local)) return undefined
  const domain = asciiDomain(text.slice(at + 1))
  if (domain === undefined) return undefined
  const address = `${local}@${domain}`
  return Buffer.byteLength(address) <= addressBytesMax ? address : undefined
}

/** RFC 5321 4.1.2 Dot-string, with RFC 6531's letters of any script. */
function isLocal(local: string): boolean {
  if (Buffer.byteLength(local) > localBytesMax || /^\.|\.\.|\.$/.test(local)) return false
  return /^[^\s\p{C}\p{Z}@()<>[\]:;,\\"]+$/u.test(local)
}

function asciiDomain(domain: string): string | undefined {
  // Forms that a host name of a URL may have and a mail domain may not: an address, a percent sign.
  if (/[\s\p{C}%[\]:/?#]/u.test(domain)) return undefined
  const ascii = domainToASCII(domain).toLowerCase()
  const labels = ascii.split('.')
  const isName = labels.every((one) => label.test(one)) && !/^[0-9]+$/.test(labels.at(-1)!)
  return isName && ascii.length <= 253 ? ascii : undefined
}
