// The SQL of attacks that our own detector has stopped to report.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'

export type SilentAttack = {
  readonly sourceKey: string
  readonly id: string
  readonly network: string | null
}

/**
 * Ongoing events of sources of kind `flows` without a report for ten minutes, and without a report in the ingest queue.
 */
export async function listSilentAttacks(db: Db | Trx): Promise<SilentAttack[]> {
  const { rows } = await sql<SilentAttack>`
    select e.source_key as "sourceKey", e.source_event_id as id, e.affected_network as network
    from events e join sources s on s.key = e.source_key and s.kind = 'flows'
    where e.end_at is null and e.source_received < now() - interval '10 minutes'
      and not exists (select from deliveries d where d.source_key = s.key and d.state = 'new')
    order by e.id limit 1000`.execute(db)
  return rows
}
