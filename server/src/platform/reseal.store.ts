// The SQL of sealed values, wherever they stand: found by the key that they were sealed under, and changed only where they
// are still what was read.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/postgres.ts'

export type SealedPlace = {
  readonly table: string
  /** The columns that make up a row's name. */
  readonly keys: readonly string[]
  readonly column: string
  /** The value is the text `sealed`, base64, of a JSON object in the place of the object itself. */
  readonly inJson?: true
}

/** The values of the columns that name a row, as text. */
export type RowName = readonly string[]

const bytesOf = ({ column, inJson }: SealedPlace): RawBuilder<Buffer> =>
  inJson
    ? sql`case when jsonb_typeof(${sql.ref(column)}) = 'object' and ${sql.ref(column)} ? 'sealed'
        then decode(${sql.ref(column)} ->> 'sealed', 'base64') end`
    : sql`${sql.ref(column)}`

const isNamed = ({ keys }: SealedPlace, name: RowName): RawBuilder<boolean> =>
  sql.join(
    keys.map((key, at) => sql`${sql.ref(key)}::text = ${name[at]}`),
    sql` and `,
  )

/** `keyId`: 8 hexadecimal digits, which stand in a sealed value behind its version. */
const isOfAnother = (place: SealedPlace, keyId: string): RawBuilder<boolean> =>
  sql`substring(${bytesOf(place)} from 2 for 4) <> decode(${keyId}, 'hex')`

/** How many there are by the id of their key. */
export async function countByKey(db: Db, place: SealedPlace): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ key: string; count: number }>`
    select encode(substring(${bytesOf(place)} from 2 for 4), 'hex') as key, count(*) as count
    from ${sql.table(place.table)} where ${bytesOf(place)} is not null group by 1 order by 1`.execute(db)
  return new Map(rows.map(({ key, count }) => [key, count]))
}

export async function listSealedByAnother(db: Db, place: SealedPlace, keyId: string): Promise<RowName[]> {
  const { rows } = await sql<{ name: string[] }>`
    select array[${sql.join(place.keys.map((key) => sql`${sql.ref(key)}::text`))}] as name
    from ${sql.table(place.table)} where ${isOfAnother(place, keyId)}`.execute(db)
  return rows.map(({ name }) => name)
}

export async function findSealed(db: Db, place: SealedPlace, name: RowName): Promise<Buffer | undefined> {
  const { rows } = await sql<{ sealed: Buffer }>`
    select ${bytesOf(place)} as sealed from ${sql.table(place.table)} where ${isNamed(place, name)}`.execute(
    db,
  )
  return rows[0]?.sealed ?? undefined
}

/** False where somebody has changed it meanwhile. */
export async function replaceSealed(
  db: Db,
  place: SealedPlace,
  name: RowName,
  before: Buffer,
  after: Buffer,
): Promise<boolean> {
  const value = place.inJson
    ? sql`jsonb_build_object('sealed', ${after.toString('base64')}::text)`
    : sql`${after}`
  const { numAffectedRows } = await sql`
    update ${sql.table(place.table)} set ${sql.ref(place.column)} = ${value}
    where ${isNamed(place, name)} and ${bytesOf(place)} = ${before}`.execute(db)
  return numAffectedRows === 1n
}
