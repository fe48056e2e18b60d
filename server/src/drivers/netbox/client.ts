// Reads lists of NetBox's REST API, page by page. It only sends GET, follows links of the same server only, and never takes an
// incomplete list for a complete one. Errors do not contain the token.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { createSchemaCheck } from '../../text/schema-error.ts'
import { backOff } from '../../runtime/back-off.ts'
import { DriverError } from '../../runtime/driver-error.ts'

export type NetboxOptions = {
  /** URL of NetBox's web interface, without `/api`. */
  readonly url: URL
  /** Version 1, or version 2 with its prefix `nbt_`. */
  readonly token: string
  readonly timeoutMs?: number
  /** Delay before the first repeat of a request; it doubles. */
  readonly retryMs?: number
}

export type NetboxClient = {
  /**
   * Yields the objects of a list, without unknown fields, in the order of their ids. Throws a DriverError if a page cannot be
   * read, an object has a wrong shape, or the number of objects is not the `count` of the first page.
   */
  list<S extends TSchema & { readonly title?: string }>(
    path: string,
    query: readonly (readonly [string, string])[],
    schema: S,
    signal: AbortSignal,
  ): AsyncGenerator<Static<S> & { readonly id: number }>
}

/** NetBox rejects the request: its answer has a text for each parameter that it does not accept. */
export class NetboxRejection extends DriverError {
  /** Names of parameters. */
  readonly parameters: readonly string[]

  constructor(message: string, parameters: readonly string[]) {
    super('protocol', message)
    this.parameters = parameters
  }
}

/** The largest page of NetBox's default configuration. */
const pageSize = 1000
const bytesMax = 64 * 1024 * 1024
const attemptsMax = 4
const retryAfterMaxMs = 60_000

type Page = {
  readonly count: number
  readonly next: string | null
  readonly results: readonly unknown[]
  /** From the header `API-Version`, such as `4.2`; empty if missing. */
  readonly apiVersion: string
}

type Connection = Required<Pick<NetboxOptions, 'token' | 'timeoutMs' | 'retryMs'>>

const authorizationOf = (token: string): string =>
  token.startsWith('nbt_') ? `Bearer ${token}` : `Token ${token}`

export function createNetboxClient({
  url: base,
  token,
  timeoutMs = 60_000,
  retryMs = 1000,
}: NetboxOptions): NetboxClient {
  const connection = { token, timeoutMs, retryMs }
  const root = base.href.endsWith('/') ? base.href : `${base.href}/`

  return {
    async *list(path, query, schema, signal) {
      const first = new URL(`api/${path}/`, root)
      first.search = new URLSearchParams([
        ...query.map(([name, value]) => [name, value]),
        ['ordering', 'id'],
        ['limit', String(pageSize)],
      ]).toString()
      const decode = createDecoder(path, schema)
      let apiVersion = ''
      let expected: number | undefined
      let last = 0
      let read = 0
      for (let next: URL | undefined = first; next;) {
        const page = await readPage(connection, next, signal)
        expected ??= page.count
        apiVersion = page.apiVersion
        for (const row of page.results) {
          const value = decode(row, apiVersion)
          if (value.id <= last)
            throw new DriverError('protocol', `${path}: object ${value.id} is repeated or out of order`)
          last = value.id
          read++
          yield value
        }
        next = page.next === null ? undefined : followed(page.next, next)
        if (next && page.results.length === 0)
          throw new DriverError('protocol', `${path}: an empty page has a next page`)
      }
      if (read !== expected)
        throw new DriverError('protocol', `${path}: ${read} objects were read, NetBox counted ${expected}`)
    },
  }
}

async function readPage(connection: Connection, url: URL, signal: AbortSignal): Promise<Page> {
  for (let attempt = 1; ; attempt++) {
    const { page, problem, retryAfterMs } = await request(connection, url, signal)
    if (page) return page
    if (attempt === attemptsMax) throw problem!
    await sleep(
      retryAfterMs ?? backOff(attempt, { first: connection.retryMs, max: retryAfterMaxMs }),
      undefined,
      {
        signal,
      },
    )
  }
}

/** Returns a problem if a repeat may succeed; throws otherwise. */
async function request(
  { token, timeoutMs }: Connection,
  url: URL,
  signal: AbortSignal,
): Promise<{ page?: Page; problem?: DriverError; retryAfterMs?: number | undefined }> {
  const place = `${url.origin}${url.pathname}`
  try {
    const response = await fetch(url, {
      headers: { authorization: authorizationOf(token), accept: 'application/json', 'user-agent': 'pharos' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const { status } = response
    if (status === 200) {
      const apiVersion = response.headers.get('api-version') ?? ''
      return { page: { ...parsePage(place, await readText(place, response)), apiVersion } }
    }
    const body = await readProblem(response)
    const problem = [`${place}: HTTP status ${status}`, ...(shownBody(body, token) ?? [])].join(': ')
    if (status === 429 || status >= 500)
      return { problem: new DriverError('unreachable', problem), retryAfterMs: retryAfterOf(response) }
    if (status === 401 || status === 403)
      throw new DriverError('refused', `${problem}; check the token and its permissions`)
    throw new NetboxRejection(problem, status === 400 ? parametersOf(body) : [])
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DriverError) throw error
    const { message, cause } = error as Error
    const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? message
    return { problem: new DriverError('unreachable', `${place}: ${reason}`, { cause: error }) }
  }
}

/** The beginning of an answer that is an error; a server that does not end it is not waited for. */
async function readProblem(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > problemMax) break
  }
  return text
}

const problemMax = 16 * 1024
const shownMax = 300

/** One line of a JSON or plain text; a page of a proxy is not shown. The token is never shown, whatever a server returns. */
function shownBody(body: string, token: string): [string] | undefined {
  // oxlint-disable-next-line no-control-regex
  const line = body.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  if (line === '' || line.startsWith('<')) return undefined
  const hidden = line.replaceAll(token, '***')
  return [hidden.length > shownMax ? `${hidden.slice(0, shownMax)}...` : hidden]
}

/** The names in `{"tag": ["Select a valid choice. ..."]}`. */
function parametersOf(body: string): string[] {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? Object.keys(value) : []
  } catch {
    return []
  }
}

/** The next page is on the same server and path: a link elsewhere would get the token. */
function followed(next: string, current: URL): URL {
  const url = URL.parse(next, current)
  if (url?.origin === current.origin && url.pathname === current.pathname && url.username === '') return url
  throw new DriverError(
    'protocol',
    `${current.origin}${current.pathname}: the next page is ${url?.origin ?? 'no URL'}${url?.pathname ?? ''}, which is not the same ` +
      'list; check X-Forwarded-Proto and Host of the proxy before NetBox',
  )
}

async function readText(place: string, response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax)
      throw new DriverError('protocol', `${place}: a page has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parsePage(place: string, text: string): Omit<Page, 'apiVersion'> {
  const value = parseJson(place, text) as Partial<Page> | null
  const { count, next, results } = value ?? {}
  if (Number.isInteger(count) && Array.isArray(results) && (next === null || typeof next === 'string'))
    return { count: count!, next, results }
  throw new DriverError(
    'protocol',
    `${place}: the answer is not a page of NetBox with count, next and results`,
  )
}

function parseJson(place: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DriverError('protocol', `${place}: the answer is not JSON`, { cause: error })
  }
}

/** RFC 9110 section 10.2.3: seconds, or a date. Undefined if it is absent or cannot be parsed. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), retryAfterMaxMs)
}

/** Returns the fields of the schema, and throws if a field is missing or wrong. */
function createDecoder<S extends TSchema>(path: string, schema: S) {
  const check = createSchemaCheck(schema, { showValues: true })
  return (row: unknown, apiVersion: string): Static<S> & { readonly id: number } => {
    const [problem] = check(row)
    if (!problem) return Value.Clean(schema, row) as Static<S> & { readonly id: number }
    const id = (row as { id?: unknown } | null)?.id
    const field = problem.path.join('.') || 'object'
    const server = apiVersion === '' ? '' : ` (NetBox ${apiVersion}; 3.6 and later are supported)`
    throw new DriverError('protocol', `${path} ${String(id)}: ${field} ${problem.message}${server}`)
  }
}
