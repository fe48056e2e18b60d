// RDAP over HTTP (RFC 7480, 9082, 9083): the bootstrap file selects the registry to query. HTTPS only, except on a loopback
// address that the operator's own bootstrap file contains.
import { readFile } from 'node:fs/promises'
import type { IpNetwork, RdapSource } from '../../registry/rdap-source.ts'
import { parsePrefix, type Prefix, covers, lengthOf, firstOf, hostPrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { isLoopback } from '../../net/loopback.ts'
import type { HostResolver } from '../outgoing/resolve-host.ts'
import { getText, type GetOptions } from './get-text.ts'
import { familyOf, parseAddress } from '../../net/address.ts'

export type RdapSourceOptions = {
  /** The folder of `ipv4.json` and `ipv6.json`, as `https://host/path/` or `file:/path/`. */
  readonly bootstrap: string
  readonly resolver: HostResolver
  /** Timeout of one query, including the bootstrap file and redirects. */
  readonly timeoutMs?: number
  readonly now?: () => number
}

const timeoutMsDefault = 5_000
/** The bootstrap files change a few times a year. */
const bootstrapAgeMs = 24 * 3_600_000
/** Time for which the old file is used after a failure, before the next attempt. */
const bootstrapRetryMs = 60_000
const loopback = [parsePrefix('127.0.0.0/8'), parsePrefix('::1/128')]

/** Throws a TypeError if the bootstrap URL is not allowed. Sends no request yet. */
export function createRdapSource(options: RdapSourceOptions): RdapSource {
  const folder = parseBootstrapUrl(options.bootstrap)
  const { resolver, timeoutMs = timeoutMsDefault, now = Date.now } = options
  const kept = new Map<string, { readonly services: readonly Service[]; readonly until: number }>()
  const isOperators = folder.protocol === 'file:' || isLoopback(hostOf(folder))
  const origins = () => new Set([...kept.values()].flatMap(({ services }) => services.flatMap(originsOf)))
  const get: GetOptions = {
    resolver,
    allowedFor: (url) =>
      isOperators && (url.origin === folder.origin || origins().has(url.origin)) ? loopback : [],
  }

  return {
    async findIpNetwork(prefix, signal) {
      signal.throwIfAborted()
      const timeout = AbortSignal.timeout(timeoutMs)
      try {
        return await find(prefix, AbortSignal.any([signal, timeout]))
      } catch (error) {
        signal.throwIfAborted()
        if (timeout.aborted) throw new DriverError('unreachable', `no answer within ${timeoutMs} ms`)
        throw error
      }
    },
  }

  async function find(prefix: Prefix, signal: AbortSignal): Promise<IpNetwork | undefined> {
    const services = await readServices(prefix.includes(':') ? 'ipv6.json' : 'ipv4.json', signal)
    const [base] = basesOf(services, prefix)
    if (!base) return undefined
    const text = await getText(new URL(`ip/${prefix}`, base), get, signal)
    return text === undefined ? undefined : decodeIpNetwork(text)
  }

  async function readServices(file: string, signal: AbortSignal): Promise<readonly Service[]> {
    const last = kept.get(file)
    if (last && now() < last.until) return last.services
    try {
      const services = parseBootstrap(await readBootstrap(new URL(file, folder), get, signal))
      kept.set(file, { services, until: now() + bootstrapAgeMs })
      return services
    } catch (error) {
      if (!last) throw error instanceof DriverError ? error : notReadable(file, error)
      kept.set(file, { services: last.services, until: now() + bootstrapRetryMs })
      return last.services
    }
  }
}

async function readBootstrap(url: URL, get: GetOptions, signal: AbortSignal): Promise<string> {
  if (url.protocol === 'file:') return readFile(url, 'utf8')
  const text = await getText(url, get, signal)
  if (text === undefined) throw new DriverError('protocol', `${url.origin}: there is no bootstrap file`)
  return text
}

const notReadable = (file: string, error: unknown): DriverError =>
  new DriverError('protocol', `${file}: ${(error as Error).message}`, { cause: error })

const originsOf = ({ urls }: Service): string[] => urls.map(({ origin }) => origin)
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Parses the URL of the folder with the bootstrap files; throws a TypeError with the accepted forms. */
export function parseBootstrapUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text.endsWith('/') ? text : `${text}/`) : undefined
  const isAllowed =
    url?.protocol === 'https:' ||
    (url?.protocol === 'file:' && url.host === '') ||
    (url?.protocol === 'http:' && isLoopback(hostOf(url)))
  if (!url || !isAllowed || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError(
      'write https://host/path/ or file:/path/ of the folder that has ipv4.json and ipv6.json (RFC 9224)',
    )
  return url
}

/** An entry of a bootstrap registry of IANA (RFC 9224), which maps address space to RDAP servers. */
type Service = { readonly prefix: Prefix; readonly urls: readonly URL[] }

/** Parses a bootstrap file; throws a TypeError for other files. Skips unknown forms of entries. */
export function parseBootstrap(text: string): readonly Service[] {
  const services = (parseJson(text) as { services?: unknown } | null)?.services
  if (!Array.isArray(services)) throw new TypeError('not a bootstrap file: it has no services')
  return services.flatMap((service: unknown) => {
    const [prefixes, urls] = Array.isArray(service) ? (service as unknown[]) : []
    if (!Array.isArray(prefixes) || !Array.isArray(urls)) return []
    const bases = urls.flatMap(readBase)
    return bases.length === 0 ? [] : prefixes.flatMap((prefix: unknown) => readService(prefix, bases))
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TypeError('not a bootstrap file: not JSON', { cause: error })
  }
}

function readService(text: unknown, urls: readonly URL[]): Service[] {
  try {
    return typeof text === 'string' ? [{ prefix: parsePrefix(text), urls }] : []
  } catch {
    return []
  }
}

/** A base URL ends with a slash (RFC 9224 section 3). */
function readBase(text: unknown): URL[] {
  if (typeof text !== 'string' || !URL.canParse(text)) return []
  const url = new URL(text.endsWith('/') ? text : `${text}/`)
  return /^https?:$/.test(url.protocol) ? [url] : []
}

/** Returns the base URLs of the most specific entry that covers the prefix, secure ones first. */
export function basesOf(services: readonly Service[], prefix: Prefix): readonly URL[] {
  const [best] = services
    .filter((service) => covers(service.prefix, prefix))
    .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix))
  return (best?.urls ?? []).toSorted(
    (a, b) => Number(b.protocol === 'https:') - Number(a.protocol === 'https:'),
  )
}

/** Further lines are ignored: a token is not expected in a record of that length. */
const linesMax = 2_000

/** Decodes an "ip network" object (RFC 9083 section 5.4); throws a DriverError (`protocol`) if the text is not one. */
function decodeIpNetwork(text: string): IpNetwork {
  try {
    const object = JSON.parse(text) as Record<string, unknown>
    if (object['objectClassName'] !== 'ip network') throw new TypeError('not an ip network')
    const [first, last] = [addressOf(object['startAddress']), addressOf(object['endAddress'])]
    if (familyOf(first) !== familyOf(last) || firstOf(hostPrefix(first)) > firstOf(hostPrefix(last)))
      throw new TypeError('not a range')
    return { handle: handleOf(object['handle']), first, last, remarks: linesOf(object['remarks']) }
  } catch (error) {
    throw new DriverError('protocol', `not an RDAP answer: ${(error as Error).message}`, { cause: error })
  }
}

/** It is stored, and PostgreSQL rejects a NUL or half of a surrogate pair together with all other results of a run. */
const handleOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .slice(0, 200)
        .toWellFormed()
        .replaceAll(/\p{Cc}/gu, ' ')
    : ''

function addressOf(value: unknown) {
  if (typeof value !== 'string') throw new TypeError('an address is missing')
  return parseAddress(value)
}

/** `remarks: [{ description: [line, ...] }, ...]` (RFC 9083 section 4.3). A line may contain line breaks. */
function linesOf(remarks: unknown): string[] {
  if (!Array.isArray(remarks)) return []
  return remarks
    .flatMap((remark: unknown) => (remark as { description?: unknown } | null)?.description)
    .filter((line) => typeof line === 'string')
    .flatMap((line) => line.split(/\r?\n/))
    .slice(0, linesMax)
}
