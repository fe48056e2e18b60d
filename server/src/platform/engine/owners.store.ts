// The SQL of platform_owners: who manages each element of the platform.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { ElementOwner } from './kind.ts'

/** An owner with its element: the kind, and the id of the row. */
export type OwnerRow = {
  readonly kind: string
  readonly row_id: string
  readonly managed_by: ElementOwner['managedBy']
  readonly file: string | null
}

export async function listOwners(db: Db | Trx, kinds: readonly string[]): Promise<OwnerRow[]> {
  const { rows } = await sql<OwnerRow>`
    select kind, row_id, managed_by, file from platform_owners where kind = any(${kinds})`.execute(db)
  return rows
}

/** Writes only the rows that differ. */
export async function saveOwnerRows(trx: Trx, owners: readonly OwnerRow[]): Promise<void> {
  await sql`
    insert into platform_owners as o (kind, row_id, managed_by, file)
    select n.kind, n.row_id, n.managed_by, n.file
    from jsonb_to_recordset(${JSON.stringify(owners)}::jsonb) as n (kind text, row_id text, managed_by text, file text)
    on conflict (kind, row_id) do update set managed_by = excluded.managed_by, file = excluded.file, applied = now()
    where (o.managed_by, o.file) is distinct from (excluded.managed_by, excluded.file)`.execute(trx)
}

export async function deleteOwners(
  trx: Trx,
  owners: readonly Pick<OwnerRow, 'kind' | 'row_id'>[],
): Promise<void> {
  await sql`
    delete from platform_owners o using jsonb_to_recordset(${JSON.stringify(owners)}::jsonb) as n (kind text, row_id text)
    where o.kind = n.kind and o.row_id = n.row_id`.execute(trx)
}
