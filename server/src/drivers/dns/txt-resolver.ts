// Resolves TXT records with the configured name servers, or those of the system. It caches nothing and retries only as the
// resolver itself does; the meaning of a record is not known here.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'

export type TxtResolverOptions = {
  /** `127.0.0.1`, `127.0.0.1:5353`, `[::1]:5353`; none: those of the system. */
  readonly servers?: readonly string[]
  /** Timeout of the first attempt with each server; later ones are longer. */
  readonly timeoutMs?: number
  readonly tries?: number
}

/** Throws a TypeError on a server that is not an address. */
export function createTxtResolver(options: TxtResolverOptions = {}): TxtResolver {
  const { servers = [], timeoutMs = 1_500, tries = 2 } = options
  checkNameServers(servers)
  return {
    async resolveTxt(name, signal) {
      signal.throwIfAborted()
      // One resolver per query: cancelling a resolver ends all its queries.
      const resolver = new Resolver({ timeout: timeoutMs, tries })
      if (servers.length > 0) resolver.setServers(servers)
      const cancel = () => resolver.cancel()
      signal.addEventListener('abort', cancel, { once: true })
      try {
        return (await resolver.resolveTxt(name)).map((strings) => strings.join(''))
      } catch (error) {
        signal.throwIfAborted()
        return emptyOrThrow(name, error)
      } finally {
        signal.removeEventListener('abort', cancel)
      }
    },
  }
}

/** Throws a TypeError if one of the servers is not an IP address with an optional port. */
export function checkNameServers(servers: readonly string[]): void {
  for (const server of servers) checkNameServer(server)
}

function checkNameServer(text: string): void {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text)
  const address = match?.[1] ?? match?.[2] ?? text
  const port = Number(match?.[3] ?? 53)
  if (isIP(address) === 0 || port < 1 || port > 65_535)
    throw new TypeError(`a name server is an address, with a port or without, not ${JSON.stringify(text)}`)
}

/** Codes of node:dns. Any other code means that no server was reachable in time. */
const kinds: Readonly<Record<string, DriverErrorKind>> = {
  ESERVFAIL: 'refused',
  EREFUSED: 'refused',
  EFORMERR: 'protocol',
  ENOTIMP: 'protocol',
  EBADRESP: 'protocol',
  EBADQUERY: 'protocol',
  EBADNAME: 'protocol',
}

function emptyOrThrow(name: string, error: unknown): readonly string[] {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  // ENODATA: the name has other records, or only names below it.
  if (code === 'ENOTFOUND' || code === 'ENODATA') return []
  throw new DriverError(kinds[code] ?? 'unreachable', `TXT ${name}: ${code || String(error)}`, {
    cause: error,
  })
}
