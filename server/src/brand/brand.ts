// The provider as people see it: from the platform file, else from the settings. Read again after a few seconds, so that a
// change needs no restart, and kept while the database does not answer, so that the portal never depends on it.
import type { Db } from '../db/postgres.ts'
import { findBrand, type BrandRow } from './brand.store.ts'

export type Brand = BrandRow

export type ReadBrand = () => Promise<Brand>

const freshMs = 5_000

/** `byDefault`: the name if the platform file has no name. */
export function createBrandReader(db: Db, byDefault: string, now: () => number = Date.now): ReadBrand {
  const unnamed: Brand = { name: byDefault, accent: null, support: null, logo: null, asn: null }
  let known = unnamed
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<Brand> | undefined
  async function read(): Promise<Brand> {
    try {
      known = (await findBrand(db)) ?? unnamed
    } catch {
      // Returns the last known brand; a later request tries again.
    }
    readAt = now()
    return known
  }
  return () => {
    if (now() - readAt < freshMs) return Promise.resolve(known)
    reading ??= read().finally(() => (reading = undefined))
    return reading
  }
}
