// A relay in front of PostgreSQL, so that one client can lose its database while the others keep it: refused as by a
// server that is down, or silent as behind a link that is down.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class Relay {
  readonly databaseUrl: string
  readonly #server: Server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #state: 'open' | 'refusing' | 'silent' = 'open'

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server
    this.databaseUrl = databaseUrl
  }

  /** Relays to a database that is reached by a Unix socket: `?host=/run/postgresql`. */
  static async create(databaseUrl: string): Promise<Relay> {
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
    const relay = new Relay(server, url.href)
    server.on('connection', (client) => relay.#accept(client, socket))
    return relay
  }

  open(): void {
    this.#state = 'open'
    // Silent connections are closed: the other side has timed out, as after minutes without an answer.
    this.#cut()
  }

  /** Connections break, and new ones end at once. */
  refuse(): void {
    this.#state = 'refusing'
    this.#cut()
  }

  /** Nothing arrives any more in either direction, and no connection ends. */
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
