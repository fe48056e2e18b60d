// The SQL of scrubbers, which the platform file writes.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'

export type ScrubberRow = {
  readonly name: string
  readonly driver: Readonly<Record<string, unknown>>
  /** It gets the lists inside these; none: all. */
  readonly prefixes: readonly Prefix[]
  readonly rulesMax: number
}

/** Returns all scrubbers, or those that get the list of a prefix. */
export async function listScrubbers(db: Db, prefix?: string): Promise<ScrubberRow[]> {
  const { rows } = await sql<ScrubberRow>`
    select s.name, s.driver, s.prefixes::text[] as prefixes, s.rules_max as "rulesMax" from scrubbers s
    where ${prefix ?? null}::cidr is null or cardinality(s.prefixes) = 0 or ${prefix ?? null}::cidr <<= any(s.prefixes)
    order by s.name`.execute(db)
  return rows.map((row) => ({ ...row, prefixes: row.prefixes.map((one) => parsePrefix(one)) }))
}
