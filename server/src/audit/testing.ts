// Tampers with the audit log as a person with write access to the tables could. Not imported by the product.
import { sql, type RawBuilder } from 'kysely'
import type { AuditEntry } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'

export const anEntry: AuditEntry = { teamId: null, actor: 'operator', action: 'test.write', target: 'test:1' }

/** Runs the statements with the triggers disabled that prevent changes of the audit log. */
export async function tamper(db: Db, ...statements: readonly RawBuilder<unknown>[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const table of ['audit_entries', 'audit_seals'])
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(trx)
    for (const statement of statements) await statement.execute(trx)
    for (const table of ['audit_entries', 'audit_seals'])
      await sql`alter table ${sql.table(table)} enable trigger user`.execute(trx)
  })
}
