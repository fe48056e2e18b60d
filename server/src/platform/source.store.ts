// The SQL of sources as the operator names them.
import type { Db } from '../db/postgres.ts'

export async function listSourceKeys(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('sources').select('key').orderBy('key').execute()
  return rows.map(({ key }) => key)
}
