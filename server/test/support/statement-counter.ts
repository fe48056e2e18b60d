// Counts a process's traffic to PostgreSQL on the connections of one use: the statements, and the messages after which
// it waits for answers.
import type { Socket } from 'node:net'
import { SocketProxy } from './socket-proxy.ts'

export type Sent = {
  /** The texts of the statements that were sent to be run. */
  readonly statements: readonly string[]
  /** Each is a round trip. */
  readonly roundTrips: number
}

type Connection = {
  bytes: Buffer
  isCounted: boolean | undefined
  readonly texts: Map<string, string>
  bound: string
}

/** A proxy in front of PostgreSQL that reads the messages of the connections of one use: transactions of teams by default. */
export class StatementCounter {
  readonly #connections = new WeakMap<Socket, Connection>()
  readonly #proxy = new SocketProxy((socket, bytes) => this.#read(socket, bytes))
  readonly #use: 'team' | 'owner'
  #statements: string[] = []
  #roundTrips = 0

  constructor(use: 'team' | 'owner' = 'team') {
    this.#use = use
  }

  through(databaseUrl: string): string {
    return this.#proxy.through(databaseUrl)
  }

  /** Returns the statements sent during the work. No other call may run at the same time. */
  async during(work: () => Promise<unknown>): Promise<Sent> {
    this.#statements = []
    this.#roundTrips = 0
    await work()
    return { statements: this.#statements, roundTrips: this.#roundTrips }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#proxy[Symbol.asyncDispose]()
  }

  #read(socket: Socket, bytes: Buffer): void {
    const connection = this.#connections.get(socket) ?? {
      bytes: Buffer.alloc(0),
      isCounted: undefined,
      texts: new Map(),
      bound: '',
    }
    this.#connections.set(socket, connection)
    connection.bytes = Buffer.concat([connection.bytes, bytes])
    for (;;) {
      // The first message of a connection has no type.
      const typeLength = connection.isCounted === undefined ? 0 : 1
      const { bytes: unread } = connection
      if (unread.length < typeLength + 4) return
      const end = typeLength + unread.readUInt32BE(typeLength)
      if (unread.length < end) return
      connection.bytes = unread.subarray(end)
      const content = unread.subarray(typeLength + 4, end)
      if (typeLength === 0) connection.isCounted = content.includes(` ${this.#use}\0`)
      else if (connection.isCounted) this.#count(connection, String.fromCharCode(unread[0]!), content)
    }
  }

  #count(connection: Connection, type: string, content: Buffer): void {
    const [first = '', second = ''] = content.toString('latin1').split('\0', 2)
    if (type === 'P') connection.texts.set(first, second)
    if (type === 'B') connection.bound = connection.texts.get(second) ?? ''
    if (type === 'E') this.#statements.push(connection.bound)
    if (type === 'Q') this.#statements.push(first)
    if (type === 'S' || type === 'Q') this.#roundTrips++
  }
}
