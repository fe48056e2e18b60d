// Ends of black holes by time, and the events with a black hole on the routers.
import { writeAudit } from '../../db/audit.ts'
import type { Db } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { networkOf, parsePrefix } from '../../net/prefix.ts'
import { endDue } from './expire-blackholes.store.ts'

/**
 * Stores the end of black holes whose time is over, and wakes the routers' loops, which would withdraw them at their next run anyway.
 * Returns how many ended.
 */
export async function expireBlackholes(db: Db): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const ended = await endDue(trx)
    if (ended.length === 0) return 0
    await writeAudit(
      trx,
      ...ended.map(({ id, teamId, host, expires }) => ({
        teamId,
        actor: 'pharos',
        action: 'blackhole.expire',
        target: `blackhole:${id}`,
        before: { host: networkOf(parsePrefix(host)), expires },
        after: { ended: expires },
      })),
    )
    await wake(trx, 'announcements')
    return ended.length
  })
}
