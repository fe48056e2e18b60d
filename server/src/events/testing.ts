// Fixtures for the tests of this folder: teams with their resources, sources, deliveries. Not imported by the product.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { emptyTables } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { sourceSecretMac } from './ingest/delivery.ts'
import { insertDelivery } from './ingest/delivery.store.ts'

const testKeys = createKeyRing(['a secret of the tests that is long enough'])

export async function addTeam(db: Db, slug: string): Promise<number> {
  const { id } = await db
    .insertInto('teams')
    .values({ slug, name: slug, enabled_modules: ['lighthouse'] })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addLocation(db: Db, key: string, name: string, country: string): Promise<void> {
  await db.insertInto('locations').values({ key, name, country, timezone: 'Europe/Amsterdam' }).execute()
}

export async function addPrefix(
  db: Db,
  teamId: number,
  prefix: string,
  name = '',
  location?: string,
): Promise<number> {
  const { id } = await db
    .insertInto('prefixes')
    .values({ team_id: teamId, prefix, name, location_key: location ?? null })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const passed = {
  irr_validated: new Date(0),
  rpki_validated: new Date(0),
  loa_validated: new Date(0),
  vouched: ['irr', 'rpki', 'loa'],
  clearance: 'passed' as const,
  claimed: new Date(),
}

/** With all checks passed, so that it is matched. */
export async function addAnnouncement(
  db: Db,
  teamId: number,
  prefix: string,
  originAsn: number,
): Promise<number> {
  const { id } = await db
    .insertInto('announcements')
    .values({ team_id: teamId, prefix, origin_asn: originAsn, checked_origin: originAsn, ...passed })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addAsn(db: Db, teamId: number, asn: number, name = ''): Promise<number> {
  const { id } = await db
    .insertInto('asns')
    .values({ team_id: teamId, asn, name })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addSource(
  db: Db,
  key: string,
  { kind = 'fastnetmon', secret = 'secret', settings = {} as unknown } = {},
): Promise<void> {
  await db
    .insertInto('sources')
    .values({
      key,
      kind,
      name: key,
      secret_mac: sourceSecretMac(testKeys, secret),
      settings: JSON.stringify(settings),
    })
    .execute()
}

/** Stores deliveries as if they had been received one minute apart. */
export async function deliver(
  db: Db,
  sourceKey: string,
  bodies: readonly unknown[],
  from?: Date,
): Promise<void> {
  for (const [minute, body] of bodies.entries()) {
    await db.transaction().execute(async (trx) => {
      const deliveryId = randomUUID()
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
      await insertDelivery(trx, { sourceKey, deliveryId, contentType: 'application/json', body: bytes })
      if (!from) return
      const at = new Date(from.getTime() + minute * 60_000)
      await sql`update deliveries set received = ${at} where delivery_id = ${deliveryId}`.execute(trx)
    })
  }
}

/** The counts and the rollup as they are kept, and as the events have them; equal if every writer keeps them exactly. */
export async function compareCounts(db: Db): Promise<{ kept: unknown[]; counted: unknown[] }> {
  const kept = await sql`
    select team_id, facet, measure, bucket, events from team_event_counts where events <> 0
    order by team_id, facet, measure, bucket`.execute(db)
  const counted = await sql`
    select e.team_id, b.facet, b.measure collate "C" as measure, b.bucket, count(*) as events
    from team_events e cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.facet) b
    group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(db)
  const keptHours = await sql`
    select * from team_event_hours where started <> 0 or ended <> 0 or max_bps is not null
    order by team_id, minutes, at, classification_key`.execute(db)
  const countedHours = await sql`
    select e.team_id, h.minutes, h.at, e.classification_key collate "C" as classification_key,
      sum(h.started)::integer as started, sum(h.ended)::integer as ended, max(h.max_bps) as max_bps,
      max(h.max_pps) as max_pps
    from team_events e cross join event_hours(e.start_at, e.end_at, e.affected_bps, e.affected_pps) h
    group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(db)
  return { kept: [...kept.rows, ...keptHours.rows], counted: [...counted.rows, ...countedHours.rows] }
}

/** Removes events, with their teams, sources and deliveries; caches of ownership read again. */
export async function removeEvents(db: Db): Promise<void> {
  const tables = [
    'teams',
    'locations',
    'sources',
    'deliveries',
    'delivery_ids',
    'events',
    'removed_resources',
    'team_events',
    'team_event_counts',
    'team_event_hours',
    'team_event_facets',
    'outbox',
  ]
  await emptyTables(db, tables, { restart: true })
  await sql`update revisions set revision = revision + 1`.execute(db)
}
