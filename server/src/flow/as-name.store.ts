// The SQL of names of AS numbers, which come from files of the operator. They are the same for every team.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { storedText } from '../db/stored-json.ts'
import { unnestRows } from '../db/unnest.ts'
import { writeRows, type RefusedRow } from '../db/write-rows.ts'

type AsName = { readonly asn: number; readonly name: string }

/** Replaces all names, and returns the refused ones; unchanged rows are not written. */
export async function saveAsNames(db: Db, names: ReadonlyMap<number, string>): Promise<RefusedRow<AsName>[]> {
  const rows = Array.from(names, ([asn, name]) => ({ asn, name: storedText(name) }))
  const refused = await writeRows(db, rows, (some) => upsertNames(db, some))
  const without = new Set(refused.map(({ row }) => row))
  const stored = rows.filter((row) => !without.has(row)).map(({ asn }) => asn)
  await sql`delete from as_names where not asn = any(${stored}::bigint[])`.execute(db)
  return refused
}

async function upsertNames(db: Db, rows: readonly AsName[]): Promise<void> {
  await sql`
    insert into as_names as a (asn, name)
    select asn, name from ${unnestRows(rows, { asn: 'bigint', name: 'text' })} order by asn
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
