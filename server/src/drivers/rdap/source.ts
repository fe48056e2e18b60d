// RDAP over HTTP (RFC 7480, 9082, 9083): the bootstrap file selects the registry to query. HTTPS only, except on a loopback
// address that the operator's own bootstrap file contains.
import { readFile } from 'node:fs/promises'
import type { IpNetwork, RdapSource } from '../../registry/rdap-source.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { isLoopback } from '../../net/loopback.ts'
import type { HostResolver } from '../webhook/resolve-host.ts'
import { basesOf, parseBootstrap, type Service } from './bootstrap.ts'
import { getText, type GetOptions } from './get-text.ts'
import { decodeIpNetwork } from './ip-network.ts'

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
/** After a failure the old file is used for this long before the next attempt. */
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
