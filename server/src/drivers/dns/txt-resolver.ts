// TXT records by way of name servers that the operator names, or those of the system. It keeps nothing and retries only as
// the resolver itself does; what a record means is not known here.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'

export type TxtResolverOptions = {
  /** `127.0.0.1`, `127.0.0.1:5353`, `[::1]:5353`; none: those of the system. */
  readonly servers?: readonly string[]
  /** For the first try with each server; a later one waits longer. */
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
      // One for each question: cancelling one ends everything that it was asked.
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

/** The codes of node:dns. What is not here is a server that could not be reached, or not in time. */
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
