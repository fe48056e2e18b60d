// The process of the embedded ClickHouse: chDB behind ClickHouse's HTTP interface on a unix socket. Started by
// embedded.ts, never by hand. It imports almost no code of the product: a crash of the engine ends only this process.
import { once } from 'node:events'
import { createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { prepareSocketDir, socketPathMax } from '../../runtime/socket-dir.ts'
import { insertFromFile, insertsBody, isRead, plainStatement, StatementError } from './statement.ts'

/** Of the addon; the only functions that are used. A connection executes one statement at a time. */
type Connection = { readonly isConnection: true }
type Engine = {
  CreateConnection(dataDir: string, args: readonly string[]): Connection
  CloseConnection(connection: Connection): void
  QueryAsyncConnection(connection: Connection, sql: string, format: string): Promise<{ bytes: Uint8Array }>
}

const [dataDir, settingsText] = process.argv.slice(2) as [string, string]
const settings = JSON.parse(settingsText) as { readonly memoryBytes: number; readonly threads: number }

// Other users must not read flows or connect.
process.umask(0o077)

const incoming = `${dataDir}.incoming`
const readersMax = 4
const writersMax = 2
const waitingMax = 256
const tooManyQueries = 202
const cancelled = 394
/** Options of the HTTP interface that have no meaning here; every other unknown name is a setting of the statement. */
const ignored = new Set([
  'query_id',
  'enable_http_compression',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'role',
])

// The end of the owner, even by kill -9, closes this pipe. Committed data is safe, so the process ends without waiting.
process.stdin.on('end', endNow).on('error', endNow).resume()

const engine = loadEngine()
const args = [
  `--max_server_memory_usage=${settings.memoryBytes}`,
  `--max_threads=${settings.threads}`,
  '--mark_cache_size=67108864',
  // Blocks are inserted when they arrive: the answer is the confirmation.
  '--async_insert=0',
]
rmSync(incoming, { recursive: true, force: true })
mkdirSync(incoming, { recursive: true })
const readers = createPool(readersMax)
const writers = createPool(writersMax)
let files = 0
let isStopping = false

/** ClickHouse's own limit of a URL: lists of values are parameters, which are in the URL. */
const urlBytesMax = 1 << 20

const server = createServer({ maxHeaderSize: urlBytesMax }, (request, response) => {
  void answer(request, response).catch((error: Error) => sendError(request, response, error))
})
server.keepAliveTimeout = 60_000
process.on('SIGTERM', stop).on('SIGINT', () => {})
await listen()

/**
 * Beside the data directory, so that services with private temporary folders find it; or in a short temporary folder,
 * if the path is too long, or if the file system has no sockets, such as shared folders of virtual machines.
 */
async function listen(): Promise<void> {
  const beside = `${dataDir}.sock`
  const socket =
    Buffer.byteLength(beside) <= socketPathMax && (await tryListen(beside))
      ? beside
      : join(prepareSocketDir(dataDir, 'clickhouse.sock'), 'clickhouse.sock')
  if (socket !== beside && !(await tryListen(socket))) throw new Error(`no socket at ${socket}`)
  writeFileSync(`${dataDir}.pid`, `${process.pid}\n${socket}\n`)
}

async function tryListen(socket: string): Promise<boolean> {
  rmSync(socket, { force: true })
  try {
    server.listen(socket)
    await once(server, 'listening')
    return true
  } catch (error) {
    process.stderr.write(`${socket}: ${(error as Error).message}\n`)
    return false
  }
}

function loadEngine(): Engine {
  const require = createRequire(import.meta.url)
  const folder = dirname(require.resolve('chdb/package.json'))
  // Not the package's entry: it loads query builders, and serialises statements with parameters.
  const { loadNative } = require(join(folder, 'dist/loader.js')) as { loadNative(): Engine }
  return loadNative()
}

type Slot = { readonly connection: Connection; database: string }

/** Connections that wait for a statement; statements that wait for a connection are queued in order. */
function createPool(size: number) {
  const free: Slot[] = Array.from({ length: size }, () => ({
    connection: engine.CreateConnection(dataDir, args),
    database: 'default',
  }))
  const all = [...free]
  const waiting: ((slot: Slot) => void)[] = []
  const take = (): Promise<Slot> => {
    const slot = free.pop()
    if (slot !== undefined) return Promise.resolve(slot)
    if (waiting.length >= waitingMax)
      throw new StatementError(tooManyQueries, 'Too many simultaneous queries')
    return new Promise((resolve) => waiting.push(resolve))
  }
  const give = (slot: Slot) => {
    const next = waiting.shift()
    if (next === undefined) free.push(slot)
    else next(slot)
  }
  return {
    /** A statement whose client disconnected while it waited is not executed: it could not be cancelled later. */
    async execute(sql: string, database: string, client: ServerResponse): Promise<Uint8Array> {
      const slot = await take()
      try {
        if (client.destroyed) throw new StatementError(cancelled, 'The client has gone')
        if (slot.database !== database) {
          await engine.QueryAsyncConnection(slot.connection, `use \`${database}\``, 'TabSeparated')
          slot.database = database
        }
        return (await engine.QueryAsyncConnection(slot.connection, sql, 'TabSeparated')).bytes
      } finally {
        give(slot)
      }
    },
    async close(): Promise<void> {
      for (const _ of all) engine.CloseConnection((await take()).connection)
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://chdb')
  if (url.pathname === '/ping') return void response.end('Ok.\n')
  if (isStopping) throw new StatementError(tooManyQueries, 'The server is shutting down')
  const { values, options, database, query, format } = readParameters(url.searchParams)
  if (query !== undefined && insertsBody(query)) {
    await insertBody(request, response, query, values, options, database)
    return void response.end()
  }
  const sql = [query, await readText(request)].filter(Boolean).join('\n')
  if (insertsBody(sql)) throw new StatementError(36, 'The statement of an INSERT belongs into the URL')
  const pool = isRead(sql) ? readers : writers
  response.end(await pool.execute(plainStatement(sql, values, options, format), database, response))
}

function readParameters(search: URLSearchParams) {
  const values = new Map<string, string>()
  const options = new Map<string, string>()
  let [database, query, format]: [string, string | undefined, string] = ['default', undefined, 'TabSeparated']
  for (const [name, value] of search) {
    if (name.startsWith('param_')) values.set(name.slice('param_'.length), value)
    else if (name === 'database') database = value
    else if (name === 'query') query = value
    else if (name === 'default_format') format = value
    else if (!ignored.has(name)) options.set(name, value)
  }
  if (!/^\w+$/.test(database) || !/^\w+$/.test(format)) throw new StatementError(36, 'Invalid name')
  return { values, options, database, query, format }
}

/** Binary data in a statement is cut at its first blank line, so it goes through a file, without passing the heap. */
async function insertBody(
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  values: ReadonlyMap<string, string>,
  options: ReadonlyMap<string, string>,
  database: string,
): Promise<void> {
  const file = join(incoming, `${++files}`)
  try {
    await pipeline(request, createWriteStream(file, { highWaterMark: 1 << 20 }))
    await writers.execute(insertFromFile(query, values, options, file), database, response)
  } finally {
    rmSync(file, { force: true })
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Like ClickHouse: the code is in a header, and the text begins with it. */
function sendError(request: IncomingMessage, response: ServerResponse, error: Error): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const text =
    error instanceof StatementError
      ? `Code: ${error.code}. DB::Exception: ${error.message}. (PHAROS_CHDB)`
      : messageOf(error)
  const code = /^Code: (\d+)/.exec(text)?.[1] ?? '1002'
  // The unread rest of a body would be parsed as the next request.
  if (!request.complete) response.setHeader('connection', 'close')
  response.writeHead(error instanceof StatementError ? 400 : 500, {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-exception-code': code,
  })
  response.end(`${text}\n`)
}

const messageOf = ({ message }: Error): string =>
  message.startsWith('Code: ') ? message : `Code: 1002. DB::Exception: ${message}. (UNKNOWN_EXCEPTION)`

/**
 * Ends after the running statements. The owner kills the process after its own deadline, which loses no confirmed data.
 */
function stop(): void {
  if (isStopping) return
  isStopping = true
  server.close()
  server.closeIdleConnections()
  void endWhenDone()
}

async function endWhenDone(): Promise<void> {
  await Promise.all([writers.close(), readers.close()])
  rmSync(`${dataDir}.pid`, { force: true })
  endNow()
}

/** `process.exit` would wait for the engine's threads, for seconds. */
function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}
