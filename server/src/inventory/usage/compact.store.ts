// The SQL that turns the minutes of past days into one row for each port and day, and deletes expired rows, with ports
// that ended before.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'

const minuteDays = 30
const sampleDays = 400

/** Creates the partitions of today and tomorrow, and compacts days that have been over for two hours. Returns how many. */
export async function compactUsage(db: Db): Promise<number> {
  await sql`
    select create_sample_partition((now() at time zone 'UTC')::date + ahead) from generate_series(0, 1) ahead`.execute(
    db,
  )
  const { rows } = await sql<{ day: string }>`
    select to_date(right(inhrelid::regclass::text, 10), 'YYYY_MM_DD')::text as day
    from pg_inherits where inhparent = 'port_samples'::regclass and inhrelid <> 'port_samples_default'::regclass
      and to_date(right(inhrelid::regclass::text, 10), 'YYYY_MM_DD') < (now() at time zone 'UTC' - interval '2 hours')::date
    order by 1`.execute(db)
  for (const { day } of rows) await sql`select compact_samples(${day}::date)`.execute(db)
  await sql`
    delete from port_days where (seconds = 60 and day < (now() at time zone 'UTC')::date - ${sql.lit(minuteDays)})
      or day < (now() at time zone 'UTC')::date - ${sql.lit(sampleDays)}`.execute(db)
  // An ended port without samples is billed, or too old to be.
  await sql`
    delete from ports p where p.ended < now() - ${sql.lit(`${sampleDays} days`)}::interval
      and not exists (select from port_days d where d.port_id = p.id)`.execute(db)
  return rows.length
}
