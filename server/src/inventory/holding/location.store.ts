// The SQL of the place that a row of the inventory refers to.
import { sql } from 'kysely'
import type { Location } from './holding.ts'

/** The location of a row with the alias `alias`, which has a column `location_key`; null if unset. */
export const locationColumn = (alias: string) => sql<Location | null>`(
  select json_build_object('key', l.key, 'name', l.name, 'country', l.country) from locations l
  where l.key = ${sql.ref(`${alias}.location_key`)})`
