// A TCP proxy in front of PostgreSQL that disconnects one client from its database while the others stay connected: connections are
// refused, as by a stopped server, or silent, as over a broken link.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class TcpProxy {
  readonly databaseUrl: string
  readonly #server: Server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #state: 'open' | 'refusing' | 'silent' = 'open'

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server
    this.databaseUrl = databaseUrl
  }

  /** Creates a proxy to a database on a Unix socket: `?host=/run/postgresql`. */
  static async create(databaseUrl: string): Promise<TcpProxy> {
    const target = new URL(databaseUrl)
    const socket = `${target.searchParams.get('host')}/.s.PGSQL.${target.port || target.searchParams.get('port') || 5432}`
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const url = new URL(databaseUrl)
    url.searchParams.delete('host')
    url.searchParams.delete('port')
    url.hostname = '127.0.0.1'
    url.port = String(port)
    const proxy = new TcpProxy(server, url.href)
    server.on('connection', (client) => proxy.#accept(client, socket))
    return proxy
  }

  open(): void {
    this.#state = 'open'
    // Closes silent connections: the other side has timed out, as after minutes without a response.
    this.#cut()
  }

  /** Closes connections, and closes new ones immediately. */
  refuse(): void {
    this.#state = 'refusing'
    this.#cut()
  }

  /** Stops forwarding in both directions without closing any connection. */
  silence(): void {
    this.#state = 'silent'
    for (const [client, server] of this.#pairs) {
      client.unpipe(server)
      server.unpipe(client)
      client.pause()
      server.pause()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.refuse()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket, path: string): void {
    client.on('error', () => {})
    if (this.#state === 'refusing') return void client.destroy()
    if (this.#state === 'silent') {
      client.pause()
      this.#pairs.add([client, client])
      return
    }
    const server = connect(path)
    const pair = [client, server] as const
    this.#pairs.add(pair)
    server.on('error', () => {})
    client.pipe(server)
    server.pipe(client)
    const end = () => {
      if (this.#state === 'silent') return
      client.destroy()
      server.destroy()
      this.#pairs.delete(pair)
    }
    client.once('close', end)
    server.once('close', end)
  }

  #cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
    this.#pairs.clear()
  }
}
