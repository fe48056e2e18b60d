// Many rows as parameters of one statement: an array for each column. PostgreSQL needs half the time that it needs for a JSON list of the
// rows, which repeats the names in each, and every text of JSON in such a list is escaped once more.
import { sql, type RawBuilder } from 'kysely'

/** Separates texts of JSON (RFC 7464), which cannot contain it. */
const recordSeparator = '\u001e'

/**
 * The rows as `n`, with the columns of `types` and `place`, from 1. `json`: a text of JSON, or null. PostgreSQL has no arrays of unequal arrays:
 * of such a column pass texts (`arrayText`), and cast them in the statement. `few`: PostgreSQL does not look at the number of rows, so that
 * it keeps the plan.
 */
export function unnestRows<Row>(
  rows: readonly Row[],
  types: { readonly [Name in keyof Row]: string },
  options: { readonly few?: boolean } = {},
): RawBuilder<unknown> {
  const names = Object.keys(types) as (keyof Row & string)[]
  const lists = names.map((name) => {
    const list = listOf(name)
    return options.few ? sql`(select ${list})` : list
  })
  function listOf(name: keyof Row & string): RawBuilder<unknown> {
    const values = rows.map((row) => row[name])
    if (types[name] !== 'json') return sql`${values}::${sql.raw(types[name])}[]`
    const texts = values.map((value) => value ?? 'null').join(recordSeparator)
    return sql`string_to_array(${texts}::text, ${recordSeparator}, 'null')`
  }
  return sql`unnest(${sql.join(lists)}) with ordinality n (${sql.join([...names, 'place'].map((name) => sql.ref(name)))})`
}

/** PostgreSQL's text of an array of codes. */
export const arrayText = (codes: readonly string[]): string => `{${codes.join(',')}}`
