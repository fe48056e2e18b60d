// The active provider of each verified domain, in memory: the answer of the sign-in page takes the same time for every address.
import type { Db } from '../db/postgres.ts'
import { listDomainProviders, type DomainProvider } from './provider.store.ts'

const ttlMs = 5_000

/** Returns a function that returns the provider. It reads the list again after five seconds, once for all that wait. */
export function createDomainProviders(db: Db, now = () => performance.now()) {
  let known:
    | { readonly list: Promise<ReadonlyMap<string, DomainProvider>>; readonly until: number }
    | undefined
  return async (domain: string): Promise<DomainProvider | undefined> => {
    if (!known || known.until <= now()) {
      const list = listDomainProviders(db)
      known = { list, until: now() + ttlMs }
      list.catch(() => (known = undefined))
    }
    return (await known.list).get(domain)
  }
}
