// A real SMTP server on loopback behind a relay with configurable network failures. The product does not import this file.
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerError,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server'

export type ArrivedMail = {
  readonly from: string
  readonly to: readonly string[]
  readonly bytes: Buffer
  readonly secure: boolean
  readonly user: string | undefined
}

/** A rejection of the server: code, text, and for the content a text derived from the received one. */
export type Answers = {
  mailFrom?: SmtpReply | undefined
  rcptTo?: SmtpReply | undefined
  data?: ((bytes: Buffer) => SmtpReply) | undefined
  /** Ends every connection once, instead of answering to MAIL FROM. */
  dropsNextMail?: boolean
}
export type SmtpReply = { readonly code: number; readonly text: string }

/** `open` accepts everything, `away` drops every connection immediately, `silent` never answers. */
export type RelayState = 'open' | 'away' | 'silent'

export type TestSmtpServer = {
  readonly port: number
  readonly mails: ArrivedMail[]
  readonly answers: Answers
  /** The maximum number of simultaneous connections. */
  readonly connectionsMost: number
  /** The credentials of all login attempts. */
  readonly logins: string[]
  /** Sets the state of the relay, also for open connections. */
  setRelay(relay: RelayState): void
  /** Ends every connection now, and accepts new ones. */
  dropConnections(): void
  stop(): Promise<void>
}

export type TestSmtpOptions = {
  /** Required credentials; without them, no login is offered. */
  readonly login?: { readonly user: string; readonly password: string }
  /** PEM; with it STARTTLS is offered, or TLS is used from the first byte. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly implicit?: boolean }
}

export async function startSmtpServer(options: TestSmtpOptions = {}): Promise<TestSmtpServer> {
  const [mails, logins, answers]: [ArrivedMail[], string[], Answers] = [[], [], {}]
  const smtp = new SMTPServer({
    ...commandOptions(options),
    authOptional: !options.login,
    authMethods: ['PLAIN', 'LOGIN'],
    closeTimeout: 1,
    logger: false,
    disableReverseLookup: true,
    onAuth({ username, password }, _session, callback) {
      logins.push(`${username}:${password}`)
      const known = username === options.login?.user && password === options.login?.password
      callback(known ? null : refusal({ code: 535, text: `5.7.8 not ${username}:${password}` }), {
        user: username,
      })
    },
    onMailFrom(_address: SMTPServerAddress, _session: SMTPServerSession, callback) {
      if (!answers.dropsNextMail) return callback(refusal(answers.mailFrom))
      answers.dropsNextMail = false
      relay.drop()
    },
    onRcptTo: (_address: SMTPServerAddress, _session: SMTPServerSession, callback) =>
      callback(refusal(answers.rcptTo)),
    async onData(stream, { envelope, secure, user }, callback) {
      const bytes = await buffer(stream)
      const answer = answers.data?.(bytes)
      if (answer) return callback(refusal(answer))
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), bytes, secure, user })
      callback(null, '2.0.0 taken')
    },
  })
  smtp.on('error', () => {})
  const inside = smtp.listen(0, '127.0.0.1')
  await once(inside, 'listening')
  const relay = await startRelay((inside.address() as AddressInfo).port)
  return {
    port: relay.port,
    mails,
    answers,
    logins,
    get connectionsMost() {
      return relay.most()
    },
    setRelay: relay.set,
    dropConnections: relay.drop,
    async stop() {
      await relay.close()
      await new Promise<void>((resolve) => smtp.close(resolve))
    },
  }
}

function commandOptions({ tls, login }: TestSmtpOptions): SMTPServerOptions {
  const disabledCommands = [...(tls ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])]
  if (!tls) return { disabledCommands, allowInsecureAuth: true }
  return { disabledCommands, cert: tls.cert, key: tls.key, secure: tls.implicit === true }
}

function refusal(answer: SmtpReply | undefined): Error | null {
  if (!answer) return null
  const error: SMTPServerError = new Error(answer.text)
  error.responseCode = answer.code
  return error
}

async function startRelay(port: number) {
  const sockets = new Set<Socket>()
  let state: RelayState = 'open'
  let most = 0
  const server: Server = createServer((outside) => {
    hold(outside)
    if (state === 'away') return outside.destroy()
    if (state === 'silent') return
    most = Math.max(most, [...sockets].filter((one) => one.localPort === outside.localPort).length)
    const inside = connect(port, '127.0.0.1')
    hold(inside)
    outside.pipe(inside).pipe(outside)
    outside.on('close', () => inside.destroy())
    inside.on('close', () => outside.destroy())
  })
  const hold = (socket: Socket): void => {
    sockets.add(socket)
    socket.setNoDelay()
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const drop = (): void => sockets.forEach((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    most: () => most,
    drop,
    set(relay: RelayState): void {
      state = relay
      if (relay === 'away') drop()
      if (relay === 'silent') for (const socket of sockets) socket.unpipe().pause()
    },
    async close(): Promise<void> {
      drop()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
