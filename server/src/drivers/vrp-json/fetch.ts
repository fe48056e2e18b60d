// Fetches the text of a VRP export from a file or over HTTP, only if it changed. Bounded in size and time; it does not parse
// the text.
import { open } from 'node:fs/promises'
import type { VrpJsonAddress } from './url.ts'

/** Identifies a version of the export: the file's time and size, or the server's ETag. Undefined: unknown. */
export type Tag = string | undefined

export type Fetched = { readonly text: string; readonly tag: Tag }

export type FetchLimits = { readonly timeoutMs: number; readonly octetsMax: number }

/** The signal cancels the request. */
export type FetchOptions = FetchLimits & { readonly signal: AbortSignal }

/** Resolves with undefined if the version is still `tag`. Rejects with a text for operators if it cannot be fetched. */
export function fetchExport(
  location: VrpJsonAddress['location'],
  tag: Tag,
  options: FetchOptions,
): Promise<Fetched | undefined> {
  return location.kind === 'file'
    ? readFile(location.path, tag, options)
    : request(location.url, tag, options)
}

async function readFile(path: string, tag: Tag, { octetsMax }: FetchOptions): Promise<Fetched | undefined> {
  await using file = await open(path, 'r')
  const { mtimeMs, size, ino } = await file.stat()
  const now = `${mtimeMs} ${size} ${ino}`
  if (now === tag) return undefined
  if (size > octetsMax) throw tooLong(octetsMax)
  const text = await file.readFile('utf8')
  return { text, tag: now }
}

async function request(
  url: URL,
  tag: Tag,
  { timeoutMs, octetsMax, signal }: FetchOptions,
): Promise<Fetched | undefined> {
  const { target, headers } = withoutCredentials(url)
  if (tag !== undefined) headers.set('if-none-match', tag)
  headers.set('accept', 'application/json')
  const end = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const response = await fetch(target, { headers, signal: end, redirect: 'follow' })
  if (response.status === 304 && tag !== undefined) {
    await response.body?.cancel()
    return undefined
  }
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`HTTP status ${response.status}`)
  }
  return { text: await readBody(response.body, octetsMax), tag: response.headers.get('etag') ?? undefined }
}

async function readBody(body: ReadableStream<Uint8Array>, octetsMax: number): Promise<string> {
  const decoder = new TextDecoder()
  let octets = 0
  let text = ''
  for await (const chunk of body) {
    octets += chunk.length
    if (octets > octetsMax) throw tooLong(octetsMax)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** fetch rejects a URL with credentials. */
function withoutCredentials(url: URL): { target: URL; headers: Headers } {
  const target = new URL(url)
  const headers = new Headers()
  if (url.username !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }
  target.username = ''
  target.password = ''
  return { target, headers }
}

function tooLong(octetsMax: number): Error {
  return new Error(`longer than ${octetsMax} octets`)
}
