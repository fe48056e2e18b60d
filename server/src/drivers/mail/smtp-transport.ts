// Sends mails by SMTP. A few connections are kept open for subsequent mails. It does not retry: the queue of mails does
// that, with longer delays.
import { readFileSync } from 'node:fs'
import { createTransport, type SMTPPoolOptions, type Transporter } from 'nodemailer'
import type { MailMessage, MailTransport } from '../../mail/mail-transport.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { isLoopback } from '../../net/loopback.ts'
import { urlDriver } from '../driver/url-driver.ts'
import { composeMail } from './compose.ts'
import { asDriverError } from './smtp-error.ts'
import { parseMailUrl, type SmtpServer } from './smtp-url.ts'

export type SmtpOptions = {
  /** Timeout of one mail in total: name resolution, connection, login, and the server's answers. */
  readonly timeoutMs?: number
  /** Reports the server's answers in full, including answers that may quote the mail. */
  readonly quoteAnswers?: boolean
}

const timeoutMsDefault = 60_000
/** Small, because servers limit the connections of a client; idle ones are closed before the server closes them. */
const connectionsMax = 4
const idleMs = 10_000

export const smtp = urlDriver<SmtpServer, SmtpOptions, MailTransport>({
  kind: 'smtp',
  schemes: ['smtp:', 'smtps:'],
  forms: ['smtp://user:password@host:587', 'smtps://user:password@host:465'],
  parse: parseMailUrl,
  create: createSmtpTransport,
})

/** Inert until the first mail. Throws if the file of `?ca=` cannot be read. */
export function createSmtpTransport(server: SmtpServer, options: SmtpOptions = {}): MailTransport {
  return new SmtpTransport(server, options)
}

class SmtpTransport implements MailTransport {
  readonly name: string
  readonly #timeoutMs: number
  readonly #quoteAnswers: boolean
  readonly #transporter: Transporter
  #closed = false

  constructor(server: SmtpServer, { timeoutMs = timeoutMsDefault, quoteAnswers = false }: SmtpOptions) {
    this.name = `${server.tls === 'implicit' ? 'smtps' : 'smtp'} ${hostAndPort(server)}`
    this.#timeoutMs = timeoutMs
    this.#quoteAnswers = quoteAnswers
    this.#transporter = createTransport(poolOptions(server, timeoutMs))
  }

  async send(message: MailMessage): Promise<string> {
    const { envelope, bytes } = await composeMail(message)
    if (this.#closed) throw new DriverError('unreachable', `${this.name}: closed`)
    // The timeouts of a connection do not detect a server that sends one byte a minute.
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    try {
      const { response } = await this.#transporter.sendMail({
        envelope: { from: envelope.from, to: [...envelope.to] },
        raw: bytes,
        signal: timeout,
      })
      return response ?? ''
    } catch (error) {
      if (timeout.aborted)
        throw new DriverError('unreachable', `${this.name}: no answer within ${this.#timeoutMs} ms`)
      throw asDriverError(error as Error, message.to, this.name, { quoteAnswers: this.#quoteAnswers })
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#transporter.close({ force: true })
  }
}

function hostAndPort({ host, port }: SmtpServer): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function poolOptions({ host, port, tls, caFile, login }: SmtpServer, timeoutMs: number): PoolOptions {
  return {
    pool: true,
    maxConnections: connectionsMax,
    // A connection that is lost before the mail was transferred is opened once more.
    maxRequeues: 1,
    idleTimeout: idleMs,
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { minVersion: 'TLSv1.2', ...(caFile === null ? {} : { ca: readFileSync(caFile, 'utf8') }) },
    ...(login ? { auth: { user: login.user, pass: login.password }, forceAuth: true } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    allowInternalNetworkInterfaces: isLoopback(host),
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

type PoolOptions = SMTPPoolOptions & { readonly pool: true }
