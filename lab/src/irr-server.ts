// A routing registry of the lab: a file of RPSL objects, and a TCP server that answers queries of IRRd's `!` protocol about
// them. People edit the file, tests set the objects; the next query sees either. It searches all objects linearly, so that
// it is obviously correct, and suits hundreds of them.
import { once } from 'node:events'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { parseRpsl } from '../../server/src/registry/objects/rpsl.ts'
import { answerIrrQuery, createIrrSession, type IrrSession } from './irr-answers.ts'
import { createRegistry, type Registry } from './irr-registry.ts'

export type IrrServerOptions = {
  /** File of RPSL objects; created if missing. */
  readonly file: string
  readonly address: string
  readonly port: number
  /** The sources that it has even without objects. */
  readonly sources?: readonly string[]
}

/**
 * Faults, for tests: `hang` accepts queries and never answers, `drop` closes the connection instead of answering,
 * `half` sends half of the answer and then stops, `cut` sends half of it and closes, `garbage` sends an invalid answer,
 * `large` announces a length that no client should accept.
 */
export type IrrFault = 'hang' | 'drop' | 'half' | 'cut' | 'garbage' | 'large'

/** A whois server; `start` and `stop` control it. */
export class IrrServer {
  readonly options: IrrServerOptions
  fault: IrrFault | undefined
  /** Number of connections, and every received line, since the start. */
  connections = 0
  readonly queries: string[] = []
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #registry: Registry = createRegistry([], [], 0)
  #fileState = ''

  constructor(options: IrrServerOptions) {
    this.options = options
  }

  /** Serial of the last detected change; it increases with each. */
  get serial(): number {
    return this.#registry.serial
  }

  /** Number of open connections. */
  get open(): number {
    return this.#sockets.size
  }

  async start(): Promise<void> {
    await writeFile(this.options.file, '% The registry of the lab.\n', { flag: 'wx' }).catch(unlessExists)
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket))
    this.#server.listen(this.options.port, this.options.address)
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    if (!this.#server) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.dropConnections()
    await closed
    this.#server = undefined
  }

  /** Closes every connection, as a server does after an idle timeout. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Replaces the file atomically with the texts of the objects, each without empty lines. */
  async setObjects(objects: readonly string[]): Promise<void> {
    const { file } = this.options
    const text = ['% The registry of the lab.', ...objects.map((object) => object.trim())].join('\n\n')
    await writeFile(`${file}.new`, `${text}\n`)
    await rename(`${file}.new`, file)
  }

  #serve(socket: Socket): void {
    this.connections++
    this.#sockets.add(socket)
    const session = createIrrSession()
    let rest = ''
    let work = Promise.resolve()
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      if (rest.length > 10_000) socket.destroy()
      // Sequentially: answers are sent in the order of the queries.
      for (const line of lines) work = work.then(() => this.#answer(socket, session, line.replace(/\r$/, '')))
    })
  }

  async #answer(socket: Socket, session: IrrSession, line: string): Promise<void> {
    if (socket.destroyed) return
    this.queries.push(line)
    try {
      await this.#reload()
    } catch (error) {
      socket.write(`F ${(error as Error).message.replaceAll('\n', ' ')}\n`)
      return
    }
    const answer = answerIrrQuery(this.#registry, session, line)
    if (answer !== undefined) this.#send(socket, answer)
    if (session.isEnding) socket.end()
  }

  #send(socket: Socket, answer: string): void {
    const half = answer.slice(0, answer.length / 2)
    switch (this.fault) {
      case undefined:
        socket.write(answer)
        return
      case 'hang':
        return
      case 'drop':
        socket.destroy()
        return
      case 'half':
        socket.write(half)
        return
      case 'cut':
        socket.end(half)
        return
      case 'garbage':
        socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')
        return
      case 'large':
        socket.write('A99999999999\n')
    }
  }

  /** Reads the file if it has changed. Objects that cannot be parsed are skipped, as registries do. */
  async #reload(): Promise<void> {
    const { file } = this.options
    const { mtimeMs, size, ino } = await stat(file)
    const state = `${mtimeMs}-${size}-${ino}`
    if (state === this.#fileState) return
    const { objects } = parseRpsl(await readFile(file, 'utf8'))
    this.#registry = createRegistry(this.options.sources ?? ['LAB'], objects, this.#registry.serial + 1)
    this.#fileState = state
  }
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
