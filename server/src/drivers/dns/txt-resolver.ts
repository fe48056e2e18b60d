// Resolves TXT records with the configured name servers, or the system's. It does not interpret the records.
import type { TxtResolver } from '../../team/txt-resolver.ts'
import { createQuery, type ResolverOptions } from './resolver-query.ts'

/** Throws a TypeError on a server that is not an address. */
export function createTxtResolver(options: ResolverOptions = {}): TxtResolver {
  const query = createQuery(options)
  return {
    resolveTxt: (name, signal) =>
      query(`TXT ${name}`, signal, async (resolver) =>
        (await resolver.resolveTxt(name)).map((strings) => strings.join('')),
      ),
  }
}
