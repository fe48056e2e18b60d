// A proxy in front of PostgreSQL on a Unix socket, for all connections of a process: it simulates a stopped server, a silent
// network and a failover.
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class SocketProxy {
  /** A short path: the path of a Unix socket is limited to 107 bytes. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'proxy-'))
  readonly #sockets = new Set<Socket>()
  readonly #silent: Socket[] = []
  #server: Server | undefined
  #target: { path: string } | { host: string; port: number } | undefined
  #frozen = false
  readonly #onSent: (connection: Socket, bytes: Buffer) => void

  /** `onSent` is called with the bytes of each connection to the server. */
  constructor(onSent: (connection: Socket, bytes: Buffer) => void = () => {}) {
    this.#onSent = onSent
  }

  /** Opens the proxy and returns the database URL through it. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl)
    const socketFolder = url.searchParams.get('host')
    const port = url.port || '5432'
    this.#target = socketFolder?.startsWith('/')
      ? { path: `${socketFolder}/.s.PGSQL.${port}` }
      : { host: url.hostname, port: Number(port) }
    url.searchParams.set('host', this.#folder)
    url.port = '5432'
    this.open()
    return url.href
  }

  open(): void {
    this.#frozen = false
    for (const socket of this.#sockets) socket.resume()
    if (this.#server) return
    this.#server = createServer((socket) => this.#connect(socket))
    this.#server.listen(join(this.#folder, '.s.PGSQL.5432'))
  }

  /** Simulates a stopped server: connections end, new ones are refused. */
  shut(): void {
    this.#server?.close()
    this.#server = undefined
    this.#drop()
  }

  /** Simulates a hung host or an unplugged cable: existing and new connections receive no data. */
  freeze(): void {
    this.#frozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Simulates a failover: existing connections stay silent forever, new ones work. */
  replace(): void {
    this.#silent.push(...this.#sockets)
    this.#sockets.clear()
    this.open()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.shut()
    for (const socket of this.#silent) socket.destroy()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #drop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #connect(inside: Socket): void {
    const outside = connect(this.#target as { path: string })
    inside.on('data', (bytes: Buffer) => this.#onSent(inside, bytes))
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
      if (this.#frozen) from.pause()
    }
  }
}
