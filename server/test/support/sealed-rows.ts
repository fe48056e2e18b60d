// Rows with encrypted values of any kind, in a database without rules (dropRules of generated-rows.ts).
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'
import { sealedPlaces, type SealedValue } from '../../src/db/reseal.ts'
import { seal, type KeyRing } from '../../src/runtime/secrets.ts'
import { addGeneratedRow, type TableShape } from './generated-rows.ts'

/** A table may have several encrypted columns, of which a row fills one. */
export async function allowNoSealedValue(db: Db): Promise<void> {
  for (const { table, column } of sealedPlaces)
    await sql`alter table ${sql.table(table)} alter ${sql.ref(column)} drop not null`.execute(db)
}

type Column = { readonly table: string; readonly column: string }

/** Adds a row that has the value in this column, and no value in the other encrypted columns; returns its ctid. */
export async function addRowWith(
  db: Db,
  tables: readonly TableShape[],
  { table, column }: Column,
  value: RawBuilder<unknown>,
  n = 1,
): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const others = sealedPlaces.filter((one) => one.table === table && one.column !== column)
    const set = [
      sql`${sql.ref(column)} = ${value}`,
      ...others.map((one) => sql`${sql.ref(one.column)} = null`),
    ]
    const before = await sql<{ id: string }>`select ctid::text as id from ${sql.table(table)}`.execute(trx)
    await addGeneratedRow(
      trx,
      tables.find(({ name }) => name === table)!,
      n,
      n,
    )
    const { rows } = await sql<{ id: string }>`update ${sql.table(table)} set ${sql.join(set)}
      where not ctid::text = any(${before.rows.map(({ id }) => id)}::text[]) returning ctid::text as id`.execute(
      trx,
    )
    return rows[0]!.id
  })
}

/** Adds a row with an encrypted value that is bound to it; the other columns are generated. */
export async function addSealedRow(
  db: Db,
  tables: readonly TableShape[],
  place: SealedValue,
  { ring, n = 1 }: { readonly ring: KeyRing; readonly n?: number },
): Promise<void> {
  const id = await addRowWith(db, tables, place, sql`null`, n)
  const keys = place.keys.map((key) => sql`${sql.ref(key)}::text`)
  const { rows } = await sql<{ name: string[] }>`
    select array[${sql.join(keys)}] as name from ${sql.table(place.table)} where ctid = ${id}::tid`.execute(
    db,
  )
  const sealed = seal(ring, place.purpose, Buffer.from('x'), place.context(rows[0]!.name))
  const json = JSON.stringify({ sealed: sealed.toString('base64') })
  const value = place.inJson ? sql`${json}::json` : sql`${sealed}`
  await sql`update ${sql.table(place.table)} set ${sql.ref(place.column)} = ${value} where ctid = ${id}::tid`.execute(
    db,
  )
}
