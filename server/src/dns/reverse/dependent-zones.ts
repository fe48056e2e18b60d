// The zones of reverse DNS that depend on a holding: without it the team could not create them.
import type { Trx } from '../../db/postgres.ts'
import { lengthOf, type Prefix } from '../../net/prefix.ts'
import { listOwnHoldings, listReverseZonesOf } from './reverse.store.ts'
import { rangesOf } from './reverse-zone.ts'

/**
 * Returns the names, without the trailing dot, of the team's zones inside the prefix; an empty list while another
 * holding of the team covers it.
 */
export async function listDependentZones(trx: Trx, teamId: number, prefix: Prefix): Promise<string[]> {
  const covering = await listOwnHoldings(trx, teamId, prefix)
  // The list includes the announcement itself.
  if (covering.length > 1 || lengthOf(prefix) === 0) return []
  return (await listReverseZonesOf(trx, teamId, rangesOf(prefix))).map((name) => name.slice(0, -1))
}
