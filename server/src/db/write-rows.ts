// Writes of many rows of different origin: a row whose values PostgreSQL refuses neither loses nor blocks the others.
import { sql } from 'kysely'
import { errorCode } from './errno.ts'
import type { Db, Trx } from './postgres.ts'

/**
 * Whether the database refuses the values themselves, now and later: SQLSTATE classes 21 (two rows for one key), 22 (data
 * exception), 23 (integrity violation) and 54 (program limit exceeded).
 */
export const isRefusedValue = (error: unknown): boolean => /^(21|22|23|54)...$/.test(errorCode(error) ?? '')

export type RefusedRow<Row> = { readonly row: Row; readonly error: unknown }

/**
 * Calls `write` with all rows, and with halves of them while their values are refused. Returns the refused rows; all
 * others are written. In a transaction each call has a savepoint. Throws any other error.
 */
export async function writeRows<Row>(
  db: Db | Trx,
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<unknown>,
): Promise<RefusedRow<Row>[]> {
  if (rows.length === 0) return []
  try {
    await (db.isTransaction ? inSavepoint(db, () => write(rows)) : write(rows))
    return []
  } catch (error) {
    if (!isRefusedValue(error)) throw error
    if (rows.length === 1) return [{ row: rows[0]!, error }]
    const half = Math.ceil(rows.length / 2)
    const first = await writeRows(db, rows.slice(0, half), write)
    return [...first, ...(await writeRows(db, rows.slice(half), write))]
  }
}

/** Undoes the changes of `write` if it throws, so that the transaction can continue. */
async function inSavepoint<T>(trx: Db | Trx, write: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(trx)
  try {
    const value = await write()
    await sql`release savepoint part`.execute(trx)
    return value
  } catch (error) {
    // After any other error, such as a lost connection, the transaction ends.
    if (isRefusedValue(error)) {
      await sql`rollback to savepoint part`.execute(trx)
      await sql`release savepoint part`.execute(trx)
    }
    throw error
  }
}

/** Throws if rows were refused, for the log of the loop that has written the others. */
export function reportRefused(what: string, refused: readonly RefusedRow<unknown>[]): void {
  if (refused.length === 0) return
  throw new AggregateError(
    refused.slice(0, 3).map(({ error }) => error),
    `${refused.length} ${what} were not stored: their values are refused`,
  )
}
