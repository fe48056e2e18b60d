// Resolves the current addresses of a name with the configured name servers, or the system's. It caches no addresses,
// so that the checked addresses are the used ones, and reads no hosts file and no search list.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

export type HostResolver = {
  /** Addresses, IPv4 first; an address resolves to itself. Empty if the name does not exist. Rejects if no server answers. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>
}

export type HostResolverOptions = {
  /** `127.0.0.1`, `127.0.0.1:5353`, `[::1]:5353`; the system's if missing. */
  readonly servers?: readonly string[]
  readonly timeoutMs?: number
  readonly tries?: number
}

export function createHostResolver(options: HostResolverOptions = {}): HostResolver {
  const { servers = [], timeoutMs = 2_000, tries = 2 } = options
  return {
    async resolve(host, signal) {
      signal.throwIfAborted()
      if (isIP(host) !== 0) return [host]
      const resolver = new Resolver({ timeout: timeoutMs, tries })
      if (servers.length > 0) resolver.setServers(servers)
      const cancel = () => resolver.cancel()
      signal.addEventListener('abort', cancel, { once: true })
      try {
        const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
        signal.throwIfAborted()
        return addressesOf(found)
      } finally {
        signal.removeEventListener('abort', cancel)
      }
    },
  }
}

/** A failed query for one family does not matter if the other one has an address. */
function addressesOf(found: readonly PromiseSettledResult<string[]>[]): readonly string[] {
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = found.find(
    (one) => one.status === 'rejected' && !isAbsence(one.reason),
  ) as PromiseRejectedResult
  if (addresses.length === 0 && failed) throw failed.reason
  return addresses
}

const isAbsence = (error: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA'].includes((error as NodeJS.ErrnoException).code ?? '')
