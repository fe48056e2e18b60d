// The SQL of names of AS numbers, which come from files of the operator. They are the same for every team.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'

/** Replaces all names; rows that stay the same are not written. */
export async function saveAsNames(db: Db, names: ReadonlyMap<number, string>): Promise<void> {
  await sql`
    with n as materialized (
      select * from unnest(${[...names.keys()]}::bigint[], ${[...names.values()]}::text[]) as n (asn, name)),
    gone as (delete from as_names where asn not in (select asn from n))
    insert into as_names as a (asn, name) select asn, name from n order by asn
    on conflict (asn) do update set name = excluded.name where a.name <> excluded.name`.execute(db)
}

/** Returns the known names of these AS numbers. */
export async function listAsNames(db: Db, asns: readonly string[]): Promise<Map<string, string>> {
  const numbers = asns.filter((asn) => /^[0-9]{1,10}$/.test(asn))
  if (numbers.length === 0) return new Map()
  const { rows } = await sql<{ asn: string; name: string }>`
    select asn::text as asn, name from as_names where asn = any(${numbers}::bigint[])`.execute(db)
  return new Map(rows.map(({ asn, name }) => [asn, name]))
}
