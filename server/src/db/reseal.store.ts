// The SQL of sealed values in all tables: found by the key that they were sealed under, and replaced only if they are
// unchanged.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from './postgres.ts'

export type SealedPlace = {
  readonly table: string
  /** The columns that identify a row. */
  readonly keys: readonly string[]
  readonly column: string
  /** The column is JSON: an object whose field `sealed` has the value in base64. */
  readonly inJson?: true
}

/** The values of the columns that identify a row, as text. */
export type RowName = readonly string[]

const bytesOf = ({ column, inJson }: SealedPlace): RawBuilder<Buffer> =>
  inJson
    ? sql`case when json_typeof(${sql.ref(column)}) = 'object' and ${sql.ref(column)}::jsonb ? 'sealed'
        then decode(${sql.ref(column)} ->> 'sealed', 'base64') end`
    : sql`${sql.ref(column)}`

const isNamed = ({ keys }: SealedPlace, name: RowName): RawBuilder<boolean> =>
  sql.join(
    keys.map((key, at) => sql`${sql.ref(key)}::text = ${name[at]}`),
    sql` and `,
  )

/** `keyId`: 8 hexadecimal digits, which follow the version in a sealed value. */
const isUnderAnotherKey = (place: SealedPlace, keyId: string): RawBuilder<boolean> =>
  sql`substring(${bytesOf(place)} from 2 for 4) <> decode(${keyId}, 'hex')`

/** Returns the number of values by the id of their key. */
export async function countByKey(db: Db, place: SealedPlace): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ key: string; count: number }>`
    select encode(substring(${bytesOf(place)} from 2 for 4), 'hex') as key, count(*) as count
    from ${sql.table(place.table)} where ${bytesOf(place)} is not null group by 1 order by 1`.execute(db)
  return new Map(rows.map(({ key, count }) => [key, count]))
}

/** Returns whether any value is under these keys. */
export async function hasKeys(db: Db, place: SealedPlace, keys: readonly string[]): Promise<boolean> {
  if (keys.length === 0) return false
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from ${sql.table(place.table)}
      where encode(substring(${bytesOf(place)} from 2 for 4), 'hex') = any(${keys}::text[])) as found`.execute(
    db,
  )
  return rows[0]!.found
}

export async function listSealedByAnother(db: Db, place: SealedPlace, keyId: string): Promise<RowName[]> {
  const { rows } = await sql<{ name: string[] }>`
    select array[${sql.join(place.keys.map((key) => sql`${sql.ref(key)}::text`))}] as name
    from ${sql.table(place.table)} where ${isUnderAnotherKey(place, keyId)}`.execute(db)
  return rows.map(({ name }) => name)
}

export async function findSealed(db: Db, place: SealedPlace, name: RowName): Promise<Buffer | undefined> {
  const { rows } = await sql<{ sealed: Buffer }>`
    select ${bytesOf(place)} as sealed from ${sql.table(place.table)} where ${isNamed(place, name)}`.execute(
    db,
  )
  return rows[0]?.sealed ?? undefined
}

/** Pages of a table that are read by one statement: 4 MB without large values. */
const pagesAtOnce = 500

/** Yields every sealed value with its row, in batches; rows that change in the meantime may be missing. */
export async function* listSealed(
  db: Db,
  place: SealedPlace,
): AsyncGenerator<readonly { readonly name: RowName; readonly sealed: Buffer }[]> {
  const { rows } = await sql<{ pages: number }>`
    select pg_relation_size(${place.table}::regclass) / current_setting('block_size')::integer as pages`.execute(
    db,
  )
  let page = 0
  do {
    const batch = await sql<{ name: string[]; sealed: Buffer }>`
      select array[${sql.join(place.keys.map((key) => sql`${sql.ref(key)}::text`))}] as name, ${bytesOf(place)} as sealed
      from ${sql.table(place.table)}
      where ctid >= ${`(${page},0)`}::tid and ctid < ${`(${page + pagesAtOnce},0)`}::tid and ${bytesOf(place)} is not null`.execute(
      db,
    )
    yield batch.rows
    page += pagesAtOnce
  } while (page < rows[0]!.pages)
}

/** Returns false if the value has changed since it was read. */
export async function replaceSealed(
  db: Db,
  place: SealedPlace,
  name: RowName,
  before: Buffer,
  after: Buffer,
): Promise<boolean> {
  const value = place.inJson
    ? sql`json_build_object('sealed', ${after.toString('base64')}::text)`
    : sql`${after}`
  const { numAffectedRows } = await sql`
    update ${sql.table(place.table)} set ${sql.ref(place.column)} = ${value}
    where ${isNamed(place, name)} and ${bytesOf(place)} = ${before}`.execute(db)
  return numAffectedRows === 1n
}
