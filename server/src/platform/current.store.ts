// Reads everything that the operator's file can name, in its words.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import { parsePrefix } from '../net/prefix.ts'
import type { AsnHold, Current, Fields, Kind, Row } from './platform.ts'
import type { NamedSpeaker } from '../drivers/speakers.ts'

/** All rows of all kinds. In one transaction that holds the apply lock, they belong together. */
export async function readCurrent(db: Db | Trx): Promise<Current> {
  return {
    location: byKey(await readLocations(db)),
    region: byKey(await readRegions(db)),
    team: byKey(await readTeams(db)),
    user: byKey(await readUsers(db)),
    membership: byKey(await readMemberships(db)),
    prefix: byKey(await readPrefixes(db)),
    asn: byKey(await readAsns(db)),
    announcement: byKey(await readAnnouncements(db)),
    source: byKey(await readSources(db)),
    ended: await readEnded(db),
  }
}

function byKey<R extends Row>(rows: readonly R[]): ReadonlyMap<string, R> {
  return new Map(rows.map((row) => [row.key, row]))
}

function rowOf<K extends Kind>(
  kind: K,
  key: string,
  id: number | string,
  fields: Fields[K],
  more: Partial<Pick<Row, 'inUse' | 'alsoRefersTo' | 'prunable' | 'teamsOwn'>> = {},
): Row<K> {
  const { inUse = null, alsoRefersTo = [], prunable = true, teamsOwn = [] } = more
  return { kind, key, id, fields, inUse, alsoRefersTo, prunable, teamsOwn } as Row<K>
}

async function readLocations(db: Db | Trx): Promise<Row<'location'>[]> {
  const rows = await db.selectFrom('locations').selectAll().execute()
  return rows.map(({ key, ...fields }) => rowOf('location', key, key, fields))
}

async function readRegions(db: Db | Trx): Promise<Row<'region'>[]> {
  const rows = await db
    .selectFrom('regions')
    .select([
      'id',
      'slug',
      'name',
      'location_key',
      'open',
      'speakers',
      'quorum',
      'communities',
      'large_communities',
    ])
    .execute()
  return rows.map(({ id, slug, location_key: location, speakers, ...rest }) =>
    rowOf('region', slug, id, { ...rest, location, speakers: speakers as unknown as NamedSpeaker[] }),
  )
}

async function readTeams(db: Db | Trx): Promise<Row<'team'>[]> {
  const rows = await db
    .selectFrom('teams')
    .select(['id', 'slug', 'name', 'enabled_modules', 'enable_dns', 'enable_sdwan', 'renamed'])
    .execute()
  return rows.map(({ id, slug, enabled_modules, renamed, ...fields }) =>
    rowOf(
      'team',
      slug,
      id,
      { ...fields, modules: enabled_modules.toSorted() },
      { teamsOwn: renamed === null ? [] : ['name'] },
    ),
  )
}

async function readUsers(db: Db | Trx): Promise<Row<'user'>[]> {
  const rows = await db
    .selectFrom('users')
    .select([
      'id',
      'email',
      'username',
      'first_name',
      'last_name',
      'display_name',
      'avatar_url',
      'country',
      'password_hash',
    ])
    .select(['is_staff as staff', 'is_demo as demo', 'managed_by', 'email_confirmed', 'password_chosen'])
    .execute()
  return rows.map(({ id, managed_by, email_confirmed, password_chosen, ...fields }) => {
    const confirmed = email_confirmed !== null
    const teamsOwn = [...(confirmed ? ['confirmed'] : []), ...(password_chosen ? ['password_hash'] : [])]
    const more = { prunable: managed_by === 'operator', teamsOwn }
    return rowOf('user', fields.email.toLowerCase(), id, { ...fields, confirmed }, more)
  })
}

async function readMemberships(db: Db | Trx): Promise<Row<'membership'>[]> {
  const rows = await db
    .selectFrom('memberships as m')
    .innerJoin('teams as t', 't.id', 'm.team_id')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['t.slug as team', sql<string>`lower(u.email)`.as('user'), 'm.is_admin as admin'])
    .select('m.managed_by')
    .execute()
  return rows.map(({ managed_by, ...fields }) => {
    const key = `${fields.team} ${fields.user}`
    const prunable = managed_by === 'operator'
    return rowOf('membership', key, key, fields, { prunable, teamsOwn: prunable ? [] : ['admin'] })
  })
}

async function readEnded(db: Db | Trx): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ key: string }>`
    select t.slug || ' ' || lower(u.email) as key
    from former_members f join teams t on t.id = f.team_id join users u on u.id = f.user_id
    where f.ended_by = 'team'
      and not exists (select from memberships m where m.team_id = f.team_id and m.user_id = f.user_id)`.execute(
    db,
  )
  return new Set(rows.map(({ key }) => key))
}

async function readPrefixes(db: Db | Trx): Promise<Row<'prefix'>[]> {
  const rows = await db
    .selectFrom('prefixes as p')
    .innerJoin('teams as t', 't.id', 'p.team_id')
    .select(['p.id', 't.slug as team', 'p.prefix', 'p.name', 'p.location_key as location'])
    .execute()
  return rows.map(({ id, ...fields }) =>
    rowOf('prefix', `${fields.team} ${fields.prefix}`, id, { ...fields, prefix: parsePrefix(fields.prefix) }),
  )
}

async function readAsns(db: Db | Trx): Promise<Row<'asn'>[]> {
  const rows = await db
    .selectFrom('asns as a')
    .innerJoin('teams as t', 't.id', 'a.team_id')
    .select(['a.id', 't.slug as team', 'a.asn', 'a.name', 'a.verified', 'a.verified_by', 'a.revoked'])
    .execute()
  // The file need not name what the team has proven, and pruning does not lift a revocation.
  return rows.map(({ id, team, asn, name, verified, verified_by: provenBy, revoked }) =>
    rowOf(
      'asn',
      `${team} AS${asn}`,
      id,
      { team, asn, name, verified: holdOf(verified, provenBy !== null, revoked !== null) },
      { prunable: provenBy === null && revoked === null },
    ),
  )
}

function holdOf(verified: Date | null, isProven: boolean, isRevoked: boolean): AsnHold {
  if (verified === null) return isRevoked ? false : null
  return isProven ? { proven: verified.toISOString() } : verified.toISOString()
}

async function readAnnouncements(db: Db | Trx): Promise<Row<'announcement'>[]> {
  const { rows } = await sql<AnnouncementRow>`
    select a.id, t.slug as team, a.prefix, a.origin_asn, a.description, a.enabled, a.suspended,
      a.irr_validated, a.rpki_validated, a.loa_validated, a.managed_by,
      coalesce(array_agg(r.slug order by r.slug collate "C") filter (where ar.configured), '{}') as regions,
      coalesce(array_agg(r.slug order by r.slug collate "C") filter (where r.id is not null), '{}') as known,
      coalesce(bool_and(ar.state = 'withdrawn'), true) as withdrawn
    from announcements a
    join teams t on t.id = a.team_id
    left join announcement_regions ar on ar.announcement_id = a.id
    left join regions r on r.id = ar.region_id
    where a.deleted is null and (a.claimed is not null
      or a.managed_by = 'operator' and not exists (
        select from announcements o where o.prefix = a.prefix and o.claimed is not null and o.deleted is null))
    group by a.id, t.slug
    order by a.id`.execute(db)
  return rows.map((row) => {
    const { id, team, origin_asn, description, enabled, suspended, regions } = row
    const prefix = parsePrefix(row.prefix)
    const validations = {
      irr: passed(row.irr_validated),
      rpki: passed(row.rpki_validated),
      loa: passed(row.loa_validated),
    }
    const fields = { team, prefix, origin_asn, description, enabled, suspended, regions, ...validations }
    const atRest = row.withdrawn && !enabled
    return rowOf('announcement', prefix, id, fields, {
      inUse: atRest ? null : 'it is withdrawn first, apply again when it is',
      alsoRefersTo: row.known.map((slug) => `region ${slug}`),
      prunable: row.managed_by === 'operator',
      teamsOwn: ['enabled', 'regions'],
    })
  })
}

type AnnouncementRow = {
  id: number
  team: string
  prefix: string
  origin_asn: number
  description: string
  enabled: boolean
  suspended: boolean
  irr_validated: Date | null
  rpki_validated: Date | null
  loa_validated: Date | null
  managed_by: string
  regions: string[]
  known: string[]
  withdrawn: boolean
}

async function readSources(db: Db | Trx): Promise<Row<'source'>[]> {
  const rows = await db
    .selectFrom('sources as s')
    .select(['s.key', 's.kind', 's.name', 's.secret_mac', 's.settings'])
    .select(
      sql<boolean>`exists (select from delivery_ids d where d.source_key = s.key)
        or exists (select from deliveries d where d.source_key = s.key)`.as('used'),
    )
    .execute()
  return rows.map(({ key, kind, name, secret_mac, settings, used }) =>
    rowOf(
      'source',
      key,
      key,
      { kind, name, secret_mac: secret_mac.toString('hex'), settings: settings as Record<string, unknown> },
      { inUse: used ? 'deliveries of it are kept' : null },
    ),
  )
}

function passed(time: Date | null): string | false {
  return time === null ? false : time.toISOString()
}
