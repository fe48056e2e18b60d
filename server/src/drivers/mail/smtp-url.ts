// The URL of a mail server, in the format of the setting `mail_url`. It reads no file, and its errors never contain the password.
import { isLoopback } from '../../net/loopback.ts'

export type SmtpServer = {
  readonly host: string
  readonly port: number
  /** `implicit`: TLS from the first byte; `starttls`: required; `none`: plaintext. */
  readonly tls: 'implicit' | 'starttls' | 'none'
  /** A PEM file of the certificates to trust; null for the well-known authorities. */
  readonly caFile: string | null
  readonly login: { readonly user: string; readonly password: string } | null
}

/** The ports of mail submission, RFC 6409 and RFC 8314. */
const ports = { 'smtp:': 587, 'smtps:': 465 } as const

/**
 * Parses `smtp://user:password@host:port?starttls=off&ca=/path` or `smtps://...?ca=/path`. STARTTLS is required, except on
 * this machine and with `starttls=off`. Throws an Error with the problem.
 */
export function parseMailUrl(text: string): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'smtp:' && url?.protocol !== 'smtps:')
    throw new Error('must be like smtp://user:password@host:587 or smtps://user:password@host:465')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '' || !['', '/'].includes(url.pathname) || url.hash !== '')
    throw new Error('needs a host, and accepts only ?starttls= and ?ca= after host and port')
  if (!/^[\w.:-]+$/.test(host)) throw new Error('has an invalid host')
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
  if (searchParams.get('ca') === '') throw new Error('has an empty parameter ca')
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
    throw new Error('has an invalid % in user or password: write it as %25')
  }
}
