// Whether the upgrade to this release is finished (decision 099): until then a process of the release before may run, which does not know what
// this one has introduced.
import { sql } from 'kysely'
import { compareVersions } from '../runtime/version.ts'
import type { Db, Trx } from './postgres.ts'

export async function isUpgradeFinished(db: Db | Trx): Promise<boolean> {
  const { rows } = await sql<{ floor: string | null }>`
    select schema_floor as floor from installation`.execute(db)
  const floor = rows[0]?.floor ?? null
  return floor !== null && compareVersions(floor, '0.3.0-rc.1') >= 0
}
