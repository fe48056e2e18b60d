// Retention of the audit log: drops whole months with their seals. An audit entry records it, so that the new beginning
// of the chain is verifiable.
import { sql } from 'kysely'
import { writeAudit } from '../db/audit.ts'
import { deletePersonalTexts } from '../db/audit-addresses.ts'
import type { Db, Trx } from '../db/postgres.ts'

/**
 * Drops the months that ended `months` or more before the month of `now`, and returns the names of the dropped
 * partitions.
 */
export async function expireAudit(db: Db, months: number, now: Date): Promise<string[]> {
  const past = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1))
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ name: string; ends: Date; entries: number }>`
      select * from drop_audit_months(${past})`.execute(trx)
    if (rows.length > 0) await recordExpiry(trx, rows)
    return rows.map(({ name }) => name)
  })
}

async function recordExpiry(
  trx: Trx,
  dropped: readonly { name: string; ends: Date; entries: number }[],
): Promise<void> {
  const before = dropped.at(-1)!.ends
  const { rows } = await sql<{ first: number | null; without: number[] }>`
    select min(sequence) as first,
      coalesce(array_agg(sequence order by sequence) filter (where entry_at < ${before}), '{}') as without
    from audit_seals`.execute(trx)
  await deletePersonalTexts(trx, before)
  await writeAudit(trx, {
    teamId: null,
    actor: 'pharos',
    action: 'audit.expire',
    target: 'audit',
    after: {
      before: before.toISOString(),
      months: dropped.map(({ name }) => name.replace('audit_entries_', '').replace('_', '-')),
      entries: dropped.reduce((sum, { entries }) => sum + entries, 0),
      first_sequence: rows[0]!.first,
      without_entry: rows[0]!.without,
    },
  })
}
