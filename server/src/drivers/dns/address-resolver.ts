// Resolves the addresses of names with the configured name servers, or the system's.
import type { AddressResolver } from '../../dns/reverse/address-resolver.ts'
import { createQuery, type ResolverOptions } from './resolver-query.ts'

/** Throws a TypeError on a server that is not an address. */
export function createAddressResolver(options: ResolverOptions = {}): AddressResolver {
  const query = createQuery(options)
  return {
    resolveAddresses: (name, family, signal) =>
      query(`${family === 4 ? 'A' : 'AAAA'} ${name}`, signal, (resolver) =>
        family === 4 ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true }),
      ),
  }
}
