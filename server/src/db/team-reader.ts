// The hot path of reading: a few connections that all requests share in pg's pipeline mode, so that a read costs one
// round trip and no waiting for a free connection. Their role is pharos_tenant and they can only read. Each statement
// enters its team in its own message (team-query.ts), so that a connection belongs to no team between two of them. A
// slow query delays later ones on its connection: use inTeam() for statements that may take long.
import type { CompiledQuery } from 'kysely'
import type { Socket } from 'node:net'
import { Client, type ClientConfig, type Submittable } from 'pg'
import { assertTeamId } from './connection.ts'
import { asFailure, isConnectionLost, isServerFull, isStale } from './failure.ts'
import { enterTeam, TeamQuery, type Outbox } from './team-query.ts'
import type { KnownColumns, WireStatement } from './wire-query.ts'

const TIMEOUT_CHECK_MS = 1_000

/** Statements kept prepared per connection; a text beyond that is parsed each time. */
const PREPARED_MAX = 500

type Slot = { inFlight: number; session: Session | undefined; opening: Promise<Session> | undefined }

/** A small set of shared connections; they are opened when first needed and again after a loss. */
export class TeamReader {
  readonly #config: ClientConfig
  readonly #slots: Slot[]
  readonly #names = new Map<string, string>()
  readonly #timer: NodeJS.Timeout
  #stopped = false

  /**
   * A connection without any answer for `answerTimeoutMs` is closed. One timer checks them all: pg's own timeout creates a timer
   * for each statement, and with it all objects of the statement reached the old generation of the memory.
   */
  constructor(config: ClientConfig, connections: number, answerTimeoutMs: number) {
    this.#config = { ...config, pipeline: true } as ClientConfig
    this.#timer = setInterval(() => {
      for (const { session } of this.#slots) session?.closeIfSilent(answerTimeoutMs)
    }, TIMEOUT_CHECK_MS).unref()
    this.#slots = Array.from({ length: connections }, () => ({
      inFlight: 0,
      session: undefined,
      opening: undefined,
    }))
  }

  /** Returns the rows of one reading statement, as the team sees them. Rejects with `unavailable` if the connection is lost. */
  async read<R>(teamId: number, query: Pick<CompiledQuery<R>, 'sql' | 'parameters'>): Promise<R[]> {
    assertTeamId(teamId)
    const statement = { name: this.#nameOf(query.sql), text: query.sql, values: query.parameters }
    for (let isRepeated = false; ; isRepeated = true) {
      const slot = this.#pick()
      slot.inFlight++
      let session: Session | undefined
      try {
        session = slot.session ?? (await this.#open(slot).catch((error) => this.#openSession(error)))
        return await session.read<R>(teamId, statement)
      } catch (error) {
        if (session && (isStale(error) || isConnectionLost(error))) this.#discard(slot, session)
        if (isRepeated || !isStale(error)) throw asFailure(error)
      } finally {
        slot.inFlight--
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await Promise.all(
      this.#slots.map(
        async ({ session, opening }) => await (session ?? (await opening?.catch(() => undefined)))?.close(),
      ),
    )
  }

  /** The least busy connection; opening a connection counts as one more statement. */
  #pick(): Slot {
    let best = this.#slots[0]!
    for (const slot of this.#slots) if (cost(slot) < cost(best)) best = slot
    return best
  }

  async #open(slot: Slot): Promise<Session> {
    if (this.#stopped) throw new Error('the reader is stopped')
    slot.opening ??= Session.open(this.#config, (session) => {
      if (slot.session === session) slot.session = undefined
    })
      .then((session) => (slot.session = session))
      .finally(() => (slot.opening = undefined))
    return await slot.opening
  }

  /**
   * While the server has no free connection, the open ones take all statements. Throws the error if there is no open
   * connection.
   */
  #openSession(error: unknown): Session {
    const open = this.#slots.filter(({ session }) => session !== undefined)
    const [best] = open.toSorted((a, b) => a.inFlight - b.inFlight)
    if (!best || !isServerFull(error)) throw error
    return best.session!
  }

  #discard(slot: Slot, session: Session): void {
    if (slot.session === session) slot.session = undefined
    void session.close()
  }

  #nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= PREPARED_MAX) return known
    const name = `pharos_${this.#names.size}`
    this.#names.set(sql, name)
    return name
  }
}

function cost({ inFlight, session }: Slot): number {
  return inFlight + (session === undefined ? 1 : 0)
}

/** One connection; each statement on it names its team. */
class Session {
  readonly #client: Client
  readonly #columns: KnownColumns = new Map()
  readonly #outbox: Outbox = { messages: [], flush: () => this.#flush() }
  #waiting = 0
  /** When the first statement was sent, or the last answer arrived. */
  #activeAt = 0

  constructor(client: Client) {
    this.#client = client
  }

  static async open(config: ClientConfig, onEnd: (session: Session) => void): Promise<Session> {
    const client = new Client(config)
    const session = new Session(client)
    const lost = () => onEnd(session)
    client.on('error', lost)
    client.on('end', lost)
    try {
      await client.connect()
      await client.query('set role pharos_tenant; set default_transaction_read_only = on')
      // Prepared here, for every later statement.
      await client.query({ ...enterTeam, values: [''] })
      return session
    } catch (error) {
      void session.close()
      throw error
    }
  }

  read<R>(teamId: number, statement: WireStatement): Promise<R[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting++ === 0) this.#activeAt = performance.now()
      const query = new TeamQuery(teamId, statement, this.#columns, this.#outbox, (error, result) => {
        this.#waiting--
        this.#activeAt = performance.now()
        if (error) reject(error)
        else resolve(result.rows as R[])
      })
      this.#client.query(query as unknown as Submittable)
    })
  }

  /** pg reports the loss to all statements that wait. */
  closeIfSilent(timeoutMs: number): void {
    if (this.#waiting > 0 && performance.now() - this.#activeAt > timeoutMs) this.#stream.destroy()
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {})
  }

  get #stream(): Socket {
    return (this.#client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream
  }

  /** The statements of one turn of the event loop are sent together: each write costs both processes a system call. */
  #flush(): void {
    const { messages } = this.#outbox
    const bytes = messages.length === 1 ? messages[0]! : Buffer.concat(messages)
    messages.length = 0
    if (this.#stream.writable) this.#stream.write(bytes)
  }
}
