// The delay after failed sign-ins in tests. Only tests import this file.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

/** Moves the failures to a later time: their delays of seconds do not end during a test, however slow the machine is. */
export async function extendDelays(db: Db): Promise<void> {
  await sql`update sign_in_failures set latest = now() + interval '1 hour'`.execute(db)
}
