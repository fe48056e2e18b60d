// The state of the last run of the import, for `pharos status`.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { HeldDeletions } from './guard.ts'

export type ImportState = {
  readonly source: string
  readonly attempted: Date
  readonly succeeded: Date | null
  /** Of the last run; null if it succeeded. */
  readonly error: string | null
  readonly held: readonly Omit<HeldDeletions, 'keys'>[]
}

export async function listImports(db: Db | Trx): Promise<ImportState[]> {
  const { rows } = await sql<ImportState>`
    select source, attempted, succeeded, error, held from inventory_imports order by source`.execute(db)
  return rows
}

/** Returns whether deletions are held that were not held before. After an error, deletions held before stay held. */
export async function saveImport(
  db: Db | Trx,
  { error, held }: Pick<ImportState, 'error' | 'held'>,
): Promise<boolean> {
  const isHeld = held.length > 0
  const succeeded = error === null && !isHeld
  const { rows } = await sql<{ is_new: boolean }>`
    with before as (select alarmed from inventory_imports where source = 'netbox')
    insert into inventory_imports as i (source, attempted, succeeded, error, held, alarmed)
    values ('netbox', now(), case when ${succeeded} then now() end, ${error}, ${JSON.stringify(held.map(({ kind, deletions, limit }) => ({ kind, deletions, limit })))},
      case when ${isHeld} then now() end)
    on conflict (source) do update set attempted = now(), error = excluded.error,
      succeeded = coalesce(excluded.succeeded, i.succeeded),
      held = case when ${error}::text is null then excluded.held else i.held end,
      alarmed = case when ${error}::text is not null then i.alarmed when ${isHeld} then coalesce(i.alarmed, now()) end
    returning ${isHeld} and not exists (select from before where alarmed is not null) as is_new`.execute(db)
  return rows[0]!.is_new
}
