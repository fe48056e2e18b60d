// The SQL of the provider's row, which the platform file writes.
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import type { Db } from '../db/postgres.ts'

const brandColumns = columns('provider', 'p', ['name', 'accent', 'support', 'logo', 'asn'])
export type BrandRow = RowOf<typeof brandColumns>

export async function findBrand(db: Db): Promise<BrandRow | undefined> {
  const { rows } = await sql<BrandRow>`select ${brandColumns} from provider p`.execute(db)
  return rows[0]
}
