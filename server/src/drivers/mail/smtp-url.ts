// The settings of mail as texts: through which server it goes, and whose address it carries. It reads no file, and what it
// throws never holds the password.
import { parseEmail } from '../../text/email.ts'
import { isLoopback } from '../../net/loopback.ts'

/** An address with the name that is shown beside it; empty for none. */
export type Mailbox = { readonly name: string; readonly address: string }

export type SmtpServer = {
  readonly host: string
  readonly port: number
  /** `implicit` from the first byte, `starttls` or nothing at all, `none` in the clear. */
  readonly tls: 'implicit' | 'starttls' | 'none'
  /** A file of certificates in PEM that vouch for the server; null for the well-known authorities. */
  readonly caFile: string | null
  readonly login: { readonly user: string; readonly password: string } | null
}

/** RFC 6409 and RFC 8314: where a server takes mail from programs. */
const ports = { 'smtp:': 587, 'smtps:': 465 } as const

/**
 * Reads `smtp://user:password@host:port?starttls=off&ca=/path` or `smtps://...?ca=/path`. STARTTLS is required unless the
 * host is this machine or `starttls=off` says otherwise. Throws with what to write instead.
 */
export function parseMailUrl(text: string): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'smtp:' && url?.protocol !== 'smtps:')
    throw new Error('must be like smtp://user:password@host:587 or smtps://user:password@host:465')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '' || !['', '/'].includes(url.pathname) || url.hash !== '')
    throw new Error('needs a host, and nothing behind host and port but ?starttls= and ?ca=')
  if (!/^[\w.:-]+$/.test(host)) throw new Error('names a host that cannot be one')
  const tls = tlsOf(url, host)
  const login = loginOf(url)
  if (login && tls === 'none' && !isLoopback(host))
    throw new Error('would send a password in the clear: leave out starttls=off, or the user')
  const port = url.port === '' ? ports[url.protocol] : Number(url.port)
  return { host, port, tls, caFile: url.searchParams.get('ca'), login }
}

function tlsOf({ protocol, searchParams }: URL, host: string): SmtpServer['tls'] {
  const known = protocol === 'smtps:' ? ['ca'] : ['starttls', 'ca']
  const unknown = [...searchParams.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined) throw new Error(`has no parameter ${unknown}, only ${known.join(' and ')}`)
  if (searchParams.get('ca') === '') throw new Error('names no file behind ?ca=')
  if (protocol === 'smtps:') return 'implicit'
  const word = searchParams.get('starttls') ?? (isLoopback(host) ? 'off' : 'required')
  if (word !== 'required' && word !== 'off') throw new Error('has starttls=required or starttls=off')
  return word === 'required' ? 'starttls' : 'none'
}

function loginOf({ username, password }: URL): SmtpServer['login'] {
  if (username === '' && password === '') return null
  if (username === '' || password === '') throw new Error('has a user without a password, or the reverse')
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    throw new Error('holds a % in user or password that encodes nothing: write %25 for it')
  }
}

/** Reads `noreply@net.example` or `Example Net <noreply@net.example>`. Throws with what to write instead. */
export function parseMailbox(text: string): Mailbox {
  const [, quoted, plain, bracketed] = /^(?:"([^"\\<>]*)"|([^"<>]*))\s*<([^<>]*)>$/.exec(text.trim()) ?? []
  const name = (quoted ?? plain ?? '').trim()
  const address = parseEmail(bracketed ?? text.trim())
  if (address === undefined || !isHeaderText(name))
    throw new Error('must be like noreply@net.example or Example Net <noreply@net.example>')
  return { name, address }
}

/** Whether a text may stand in a header: nothing that ends a line, hides or turns around. */
export function isHeaderText(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)
}
