// One query to the configured name servers, or the system's. It caches no answers and retries only as the resolver
// itself does.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'

export type ResolverOptions = {
  /** `127.0.0.1`, `127.0.0.1:5353`, `[::1]:5353`; the system's if missing. */
  readonly servers?: readonly string[]
  /** Timeout of the first attempt with each server; later attempts are longer. */
  readonly timeoutMs?: number
  readonly tries?: number
}

/**
 * Returns the result of `ask`; an empty list if the name or such a record does not exist. `what` is the question, for
 * errors.
 */
export type ResolverQuery = <Record>(
  what: string,
  signal: AbortSignal,
  ask: (resolver: Resolver) => Promise<readonly Record[]>,
) => Promise<readonly Record[]>

/** Throws a TypeError on a server that is not an address. */
export function createQuery({ servers = [], timeoutMs = 1_500, tries = 2 }: ResolverOptions): ResolverQuery {
  checkNameServers(servers)
  return async (what, signal, ask) => {
    signal.throwIfAborted()
    // One resolver per query: cancelling a resolver ends all its queries.
    const resolver = new Resolver({ timeout: timeoutMs, tries })
    if (servers.length > 0) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await ask(resolver)
    } catch (error) {
      signal.throwIfAborted()
      return emptyOrThrow(what, error)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** Throws a TypeError if a server is not an IP address with an optional port. */
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

function emptyOrThrow(what: string, error: unknown): readonly never[] {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  // ENODATA: the name has other records, or only names below it.
  if (code === 'ENOTFOUND' || code === 'ENODATA') return []
  throw new DriverError(kinds[code] ?? 'unreachable', `${what}: ${code || String(error)}`, { cause: error })
}
