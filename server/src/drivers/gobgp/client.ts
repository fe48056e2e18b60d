// One gRPC connection to a GoBGP daemon: calls with a deadline, driver errors, and a notification when the daemon is reachable
// again. It knows messages and methods, but not their meaning.
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import type { DescMessage, DescMethodClientStreaming, MessageShape } from '@bufbuild/protobuf'
import type { DescMethodServerStreaming, DescMethodUnary } from '@bufbuild/protobuf'
import * as grpc from '@grpc/grpc-js'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'
import { isOfThisMachine } from './endpoint.ts'

export type GobgpConnection = {
  /** `host:port` or `unix:/path`. */
  readonly address: string
  /** PEM texts: `ca` verifies the daemon, `cert` and `key` identify this client. */
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string } | undefined
  /** Allows plaintext to another machine: any client that reaches the API controls the router. */
  readonly insecure?: boolean | undefined
}

type Method<I extends DescMessage, O extends DescMessage> =
  | DescMethodUnary<I, O>
  | DescMethodServerStreaming<I, O>
  | DescMethodClientStreaming<I, O>

type Channel = ReturnType<grpc.Client['getChannel']>

/** Timeout of a connection attempt: the interval of TCP's SYN retransmissions grows to two minutes. */
const connectTimeoutMs = 5_000

/** Throws TypeError on a plaintext address of another machine. Connects at the first call. */
export class GobgpClient {
  readonly #connection: GobgpConnection
  readonly #running = new Set<{ cancel(): void }>()
  readonly #watchers = new Set<() => void>()
  #grpc: grpc.Client
  #closed = false
  #losses = 0
  #connecting: NodeJS.Timeout | undefined

  constructor(connection: GobgpConnection) {
    this.#connection = connection
    this.#grpc = createClient(connection)
    this.#follow(this.#grpc.getChannel(), grpc.connectivityState.IDLE)
  }

  get address(): string {
    return this.#connection.address
  }

  /** The number of lost connections: the next one may reach another daemon. */
  get losses(): number {
    return this.#losses
  }

  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    deadline: Date,
  ): Promise<MessageShape<O>> {
    return this.#call((done) => {
      const { path, serialize, deserialize } = wire(method)
      return this.#grpc.makeUnaryRequest(path, serialize, deserialize, request, { deadline }, done)
    })
  }

  /**
   * Resolves after the last message and an OK status: the messages are then complete. Each message extends the deadline
   * by the initial time: a large table takes as long as it needs.
   */
  serverStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageShape<I>,
    deadline: Date,
    onMessage: (message: MessageShape<O>) => void,
  ): Promise<undefined> {
    return this.#call((done) => {
      const { path, serialize, deserialize } = wire(method)
      const call = this.#grpc.makeServerStreamRequest(path, serialize, deserialize, request)
      const silentMs = Math.max(0, deadline.getTime() - Date.now())
      let silence: grpc.ServiceError | undefined
      const timer = setTimeout(() => {
        silence = deadlineExceeded(`no message for ${silentMs / 1_000} s`)
        call.cancel()
      }, silentMs)
      call.on('data', (message: MessageShape<O>) => {
        timer.refresh()
        onMessage(message)
      })
      call.on('error', (error: grpc.ServiceError) => done(silence ?? error))
      call.on('status', ({ code }: grpc.StatusObject) => {
        clearTimeout(timer)
        if (code === grpc.status.OK) done(null, undefined)
      })
      return call
    })
  }

  /** Sends the given octets unchanged: they must stay the same between the check and the transmission. */
  clientStream(
    method: DescMethodClientStreaming<DescMessage, DescMessage>,
    requests: readonly Uint8Array[],
    deadline: Date,
  ): Promise<undefined> {
    return this.#call((done) => {
      const answered = (error: grpc.ServiceError | null): void => done(error)
      const call = this.#grpc.makeClientStreamRequest(
        pathOf(method),
        asBuffer,
        ignore,
        { deadline },
        answered,
      )
      call.on('error', () => {}) // reported through `answered` as well
      for (const request of requests) call.write(request)
      call.end()
      return call
    })
  }

  /**
   * Follows an endless stream. `onEnd` is called once, when the stream ended for any reason, including a call of the returned
   * function, which cancels it.
   */
  follow<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageShape<I>,
    onMessage: (message: MessageShape<O>) => void,
    onEnd: () => void,
  ): () => void {
    const { path, serialize, deserialize } = wire(method)
    const call = this.#grpc.makeServerStreamRequest(path, serialize, deserialize, request)
    this.#running.add(call)
    call.on('data', onMessage)
    call.on('error', () => {}) // the status follows
    call.once('status', () => {
      this.#running.delete(call)
      onEnd()
    })
    return () => call.cancel()
  }

  get isReady(): boolean {
    return (
      !this.#closed && this.#grpc.getChannel().getConnectivityState(false) === grpc.connectivityState.READY
    )
  }

  /** Keeps the connection open from now on; `onUp` is called each time it is established. Returns the function that stops this. */
  watch(onUp: () => void): () => void {
    const watcher = (): void => onUp()
    this.#watchers.add(watcher)
    this.#grpc.getChannel().getConnectivityState(true)
    return () => void this.#watchers.delete(watcher)
  }

  /** Closes the connection and opens another one; running calls reject. */
  reconnect(): void {
    if (this.#closed) return
    const before = this.#grpc
    if (this.isReady) this.#losses++
    this.#grpc = createClient(this.#connection)
    for (const call of this.#running) call.cancel()
    before.close()
    const channel = this.#grpc.getChannel()
    this.#follow(channel, channel.getConnectivityState(this.#watchers.size > 0))
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#connecting)
    for (const call of this.#running) call.cancel()
    this.#grpc.close()
  }

  /** Follows the states of a connection until it is closed. Reconnects only if there is a watcher. */
  #follow(channel: Channel, state: grpc.connectivityState): void {
    clearTimeout(this.#connecting)
    if (state === grpc.connectivityState.CONNECTING && this.#watchers.size > 0)
      this.#connecting = setTimeout(() => this.reconnect(), connectTimeoutMs).unref()
    channel.watchConnectivityState(state, Infinity, () => {
      if (this.#closed || channel !== this.#grpc.getChannel()) return
      if (state === grpc.connectivityState.READY) this.#losses++
      const now = channel.getConnectivityState(this.#watchers.size > 0)
      if (now === grpc.connectivityState.READY) for (const watcher of this.#watchers) watcher()
      this.#follow(channel, now)
    })
  }

  async #call<T>(
    start: (done: (error: grpc.ServiceError | null, value?: T) => void) => { cancel(): void },
  ): Promise<T> {
    if (this.#closed) throw new DriverError('unreachable', `gobgpd at ${this.address}: the client is closed`)
    let call: { cancel(): void } | undefined
    try {
      return await new Promise<T>((resolve, reject) => {
        call = start((error, value) => (error ? reject(this.#explain(error)) : resolve(value as T)))
        this.#running.add(call)
      })
    } finally {
      if (call) this.#running.delete(call)
    }
  }

  #explain(error: grpc.ServiceError): DriverError {
    const message = `gobgpd at ${this.address}: ${error.details || error.message}`
    return new DriverError(kindOf(error), message, { cause: error })
  }
}

function deadlineExceeded(details: string): grpc.ServiceError {
  const code = grpc.status.DEADLINE_EXCEEDED
  return Object.assign(new Error(details), { code, details, metadata: new grpc.Metadata() })
}

/** Whether the deadline passed without an answer; the connection may still be open. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof DriverError)) return false
  return (error.cause as Partial<grpc.ServiceError> | undefined)?.code === grpc.status.DEADLINE_EXCEEDED
}

function pathOf({ parent, name }: Method<DescMessage, DescMessage>): string {
  return `/${parent.typeName}/${name}`
}

function asBuffer(octets: Uint8Array): Buffer {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
}

function ignore(): undefined {}

function createClient(connection: GobgpConnection): grpc.Client {
  return new grpc.Client(connection.address, credentials(connection), {
    // A restarted daemon has no routes: they must be announced before its neighbors are established again.
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 500,
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    'grpc.use_local_subchannel_pool': 1,
    ...(connection.tls && ipOf(connection.address) ? { 'grpc.ssl_target_name_override': noName } : {}),
  })
}

function wire<I extends DescMessage, O extends DescMessage>(method: Method<I, O>) {
  return {
    path: pathOf(method),
    serialize: (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
    deserialize: (octets: Buffer) => fromBinary(method.output, octets, { readUnknownFields: false }),
  }
}

/** GoBGP answers all its own rejections with UNKNOWN. */
const kinds: { readonly [code: number]: DriverErrorKind } = {
  [grpc.status.UNAVAILABLE]: 'unreachable',
  [grpc.status.DEADLINE_EXCEEDED]: 'unreachable',
  [grpc.status.CANCELLED]: 'unreachable',
  [grpc.status.ABORTED]: 'unreachable',
  [grpc.status.UNIMPLEMENTED]: 'protocol',
  [grpc.status.INTERNAL]: 'protocol',
  [grpc.status.OUT_OF_RANGE]: 'protocol',
  [grpc.status.DATA_LOSS]: 'protocol',
}

/** Shortly after its start the daemon has no configuration and rejects every call: this is not caused by a route. */
function kindOf({ code, details }: grpc.ServiceError): DriverErrorKind {
  if (code === grpc.status.UNKNOWN && details.includes("hasn't started")) return 'unreachable'
  return kinds[code] ?? 'refused'
}

function credentials({ address, tls, insecure }: GobgpConnection): grpc.ChannelCredentials {
  if (tls) return grpc.credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert), identityOf(address))
  if (!insecure && !isOfThisMachine(address))
    throw new TypeError(
      `gobgpd at ${address}: plaintext only to this machine. Configure tls, or insecure: true if the path is protected`,
    )
  return grpc.credentials.createInsecure()
}

/**
 * grpc-js sends the host as the TLS server name, which Node rejects for an IP address (RFC 6066 section 3). Such a host gets a
 * placeholder as server name, and its certificate is checked against the address.
 */
function identityOf(address: string): grpc.VerifyOptions {
  const ip = ipOf(address)
  return ip === undefined
    ? {}
    : {
        checkServerIdentity: (_: string, certificate: PeerCertificate) =>
          checkServerIdentity(ip, certificate),
      }
}

const noName = 'gobgpd.invalid'

function ipOf(address: string): string | undefined {
  const host = address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? undefined : host
}

function pem(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text)
}
