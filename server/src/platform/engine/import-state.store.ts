// The state of the last run of the import, for `pharos status`.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'

export type ImportState = {
  readonly source: string
  readonly attempted: Date
  readonly succeeded: Date | null
  /** Error of the last run; null if it succeeded, or waits for an approval. */
  readonly error: string | null
}

export async function listImports(db: Db | Trx): Promise<ImportState[]> {
  const { rows } = await sql<ImportState>`
    select source, attempted, succeeded, error from inventory_imports order by source`.execute(db)
  return rows
}

/** `isApplied`: false after an error, and while deletions wait for an approval. */
export async function saveImport(
  db: Db | Trx,
  { error, isApplied }: Pick<ImportState, 'error'> & { readonly isApplied: boolean },
): Promise<void> {
  await sql`
    insert into inventory_imports as i (source, attempted, succeeded, error)
    values ('netbox', now(), case when ${isApplied} then now() end, ${error})
    on conflict (source) do update set attempted = now(), error = excluded.error,
      succeeded = coalesce(excluded.succeeded, i.succeeded)`.execute(db)
}
