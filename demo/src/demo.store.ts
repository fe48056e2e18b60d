// The SQL of the demo: deliveries received in the past, and whether the database belongs to a demo.
import { sql } from 'kysely'
import type { Db, Trx } from '../../server/src/db/postgres.ts'

export type PastDelivery = {
  readonly sourceKey: string
  readonly deliveryId: string
  readonly received: Date
  readonly body: object
}

/** Returns the slug of any other team; undefined if the database has no other. */
export async function findOtherTeam(db: Db, slugs: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ slug: string }>`
    select slug from teams where slug <> all(${slugs}::text[]) order by slug limit 1`.execute(db)
  return rows[0]?.slug
}

/** Partitions are created before rows: a month cannot get one once the default partition contains its rows. */
export async function createPartitionsSince(trx: Trx, since: Date, until: Date): Promise<void> {
  await sql`
    select create_month_partitions(month::date)
    from generate_series(date_trunc('month', ${since}::timestamptz at time zone 'UTC'),
      ${until}::timestamptz at time zone 'UTC', interval '1 month') month`.execute(trx)
}

/** Adds the deliveries that do not exist yet and returns their number. */
export async function insertPastDeliveries(trx: Trx, deliveries: readonly PastDelivery[]): Promise<number> {
  const rows = deliveries.map(({ sourceKey, deliveryId, received, body }) => ({
    source_key: sourceKey,
    delivery_id: deliveryId,
    received,
    body: JSON.stringify(body),
  }))
  const { numAffectedRows = 0n } = await sql`
    with sent as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as n (source_key text, delivery_id text, received timestamptz, body text)),
    fresh as (
      insert into delivery_ids (source_key, delivery_id, received) select source_key, delivery_id, received from sent
      on conflict do nothing returning source_key, delivery_id)
    insert into deliveries (source_key, delivery_id, received, content_type, body)
    select source_key, delivery_id, received, 'application/json', convert_to(body, 'UTF8')
    from sent join fresh using (source_key, delivery_id) order by received, delivery_id`.execute(trx)
  return Number(numAffectedRows)
}

export type TeamAdmin = { readonly teamId: number; readonly userId: number; readonly timezone: string }

/** Returns the team with the slug and its first admin. */
export async function findTeamAdmin(db: Db | Trx, slug: string): Promise<TeamAdmin | undefined> {
  const { rows } = await sql<TeamAdmin>`
    select t.id as "teamId", m.user_id as "userId", t.timezone
    from teams t join memberships m on m.team_id = t.id and m.is_admin
    where t.slug = ${slug} order by m.user_id limit 1`.execute(db)
  return rows[0]
}

export async function hasZones(db: Db): Promise<boolean> {
  const { rows } = await sql`select from dns_zones limit 1`.execute(db)
  return rows.length > 0
}
