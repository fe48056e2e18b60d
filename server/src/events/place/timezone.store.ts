// The SQL of the time zone of a location, by its key or by a region that is there.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'

export type LocationRow = {
  readonly key: string
  readonly name: string
  readonly country: string
  readonly timezone: string
}

/** A location has precedence over a region with the same name. */
export async function findLocation(db: Db, keyOrSlug: string): Promise<LocationRow | undefined> {
  const { rows } = await sql<LocationRow>`
    select l.key, l.name, l.country, l.timezone from locations l
    where l.key = ${keyOrSlug} or l.key in (select r.location_key from regions r where r.slug = ${keyOrSlug})
    order by l.key = ${keyOrSlug} desc limit 1`.execute(db)
  return rows[0]
}
