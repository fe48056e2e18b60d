// Writes the changes of a plan. Creations go in batches of one kind, so that the triggers that count changes run once
// for each batch; the rest goes one by one. It decides nothing.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import { lockAsn } from '../inventory/asn-proof.store.ts'
import { parseAsn } from '../net/asn.ts'
import { createAnnouncements, deleteAnnouncement, updateAnnouncement } from './announcements.store.ts'
import type { Change, Create, Update } from './plan.ts'
import { kinds, isOperatorsWord, type AsnHold, type Kind } from './platform.ts'

const batchSize = 1000

/** Carries out the changes in their order. */
export async function applyChanges(trx: Trx, changes: readonly Change[], now: Date): Promise<void> {
  await releaseAsns(trx, changes)
  for (const kind of kinds) {
    const created = changes.filter(
      (change): change is Create => change.action === 'create' && change.kind === kind,
    )
    for (let at = 0; at < created.length; at += batchSize) {
      await create(trx, kind, created.slice(at, at + batchSize), now)
    }
    for (const change of changes) {
      if (change.action === 'update' && change.kind === kind) await update(trx, change, now)
    }
  }
  for (const change of changes) {
    if (change.action === 'delete') await deleters[change.kind](trx, change.key)
  }
}

/** One team at most is verified for an ASN: whoever loses it does so before another team gets it. */
async function releaseAsns(trx: Trx, changes: readonly Change[]): Promise<void> {
  const concerned = changes.filter(({ kind }) => kind === 'asn')
  const asns = new Set(concerned.map(({ key }) => parseAsn(Number(key.split(' AS')[1]))))
  for (const asn of [...asns].sort((a, b) => a - b)) await lockAsn(trx, asn)
  for (const change of concerned) {
    if (!isReleased(change)) continue
    const [team, asn] = change.key.split(' AS')
    await sql`
      update asns set verified = null, verified_by = null, expires = null
      where ${inTeam(team!, sql`asn = ${asn}::bigint`)}`.execute(trx)
  }
}

function isReleased(change: Change): boolean {
  if (change.kind !== 'asn' || change.action === 'create') return false
  if (change.action === 'delete') return true
  return change.fields.verified !== undefined && !isOperatorsWord(change.fields.verified)
}

type Creators = {
  readonly [K in Kind]: (trx: Trx, created: readonly Create<K>[], now: Date) => Promise<unknown>
}

function create(trx: Trx, kind: Kind, created: readonly Create[], now: Date): Promise<unknown> {
  return (creators[kind] as (trx: Trx, created: readonly Create[], now: Date) => Promise<unknown>)(
    trx,
    created,
    now,
  )
}

const creators: Creators = {
  location: (trx, created) =>
    trx
      .insertInto('locations')
      .values(created.map(({ key, fields }) => ({ key, ...fields })))
      .execute(),
  region: (trx, created) =>
    trx
      .insertInto('regions')
      .values(
        created.map(({ key, fields: { location, speakers, communities, large_communities, ...rest } }) => ({
          slug: key,
          ...rest,
          communities: [...communities],
          large_communities: [...large_communities],
          location_key: location,
          speakers: JSON.stringify(speakers),
        })),
      )
      .execute(),
  team: (trx, created) =>
    trx
      .insertInto('teams')
      .values(
        created.map(({ key, fields: { modules, ...rest } }) => ({
          slug: key,
          enabled_modules: [...modules],
          ...rest,
        })),
      )
      .execute(),
  user: (trx, created, now) =>
    trx
      .insertInto('users')
      .values(
        created.map(({ fields: { staff, demo, confirmed, ...rest } }) => ({
          ...rest,
          is_staff: staff,
          is_demo: demo,
          email_confirmed: confirmed ? now : null,
          managed_by: 'operator' as const,
        })),
      )
      .execute(),
  membership: (trx, created) =>
    sql`
    with made as (
      insert into memberships (team_id, user_id, is_admin, managed_by)
      select t.id, u.id, n.admin, 'operator'
      from ${recordset(created.map(({ fields }) => fields))} as n (place integer, team text, "user" text, admin boolean)
      join teams t on t.slug = n.team join users u on lower(u.email) = n.user
      order by n.place
      returning team_id, user_id)
    delete from former_members f using made where (f.team_id, f.user_id) = (made.team_id, made.user_id)`.execute(
      trx,
    ),
  prefix: (trx, created) =>
    sql`
    insert into prefixes (team_id, prefix, name, location_key)
    select t.id, n.prefix, n.name, n.location
    from ${recordset(created.map(({ fields }) => fields))} as n (place integer, team text, prefix cidr, name text, location text)
    join teams t on t.slug = n.team
    order by n.place`.execute(trx),
  asn: (trx, created, now) =>
    sql`
    insert into asns (team_id, asn, name, verified, revoked, revoked_reason)
    select t.id, n.asn, n.name, n.verified, n.revoked, n.revoked_reason
    from ${recordset(created.map(({ fields }) => ({ ...fields, ...holdColumns(fields.verified, now) })))} as n (
      place integer, team text, asn bigint, name text, verified timestamptz, revoked timestamptz, revoked_reason text)
    join teams t on t.slug = n.team
    order by n.place`.execute(trx),
  announcement: createAnnouncements,
  source: (trx, created) =>
    trx
      .insertInto('sources')
      .values(
        created.map(({ key, fields: { kind, name, secret_mac, settings } }) => ({
          key,
          kind,
          name,
          secret_mac: Buffer.from(secret_mac, 'hex'),
          settings: JSON.stringify(settings),
        })),
      )
      .execute(),
}

/** Rows as a table; `place` is their order, so that ids follow the order of the file. */
function recordset(rows: readonly object[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(rows.map((row, place) => ({ ...row, place })))}::jsonb)`
}

/** The operator's word takes the place of a proof, and does not end. */
function holdColumns(hold: AsnHold, now: Date) {
  return {
    verified: hold === true ? now : typeof hold === 'string' ? new Date(hold) : null,
    verified_by: null,
    expires: null,
    revoked: hold === false ? now : null,
    revoked_reason: hold === false ? "The provider's platform file says that it is not verified." : null,
  }
}

async function update(trx: Trx, change: Update, now: Date): Promise<void> {
  await (updaters[change.kind] as (trx: Trx, change: Update, now: Date) => Promise<void>)(trx, change, now)
}

type Updaters = { readonly [K in Kind]: (trx: Trx, change: Update<K>, now: Date) => Promise<void> }

const updaters: Updaters = {
  location: (trx, { key, fields }) => set(trx, 'locations', fields, sql`key = ${key}`),
  region: (trx, { key, fields }) => {
    const { location, speakers, ...rest } = fields
    const columns = {
      ...rest,
      ...(location && { location_key: location }),
      ...(speakers && { speakers: JSON.stringify(speakers) }),
    }
    return set(trx, 'regions', columns, sql`slug = ${key}`)
  },
  team: (trx, { key, fields }) => {
    const { modules, ...rest } = fields
    const columns = {
      ...rest,
      ...(modules && { enabled_modules: modules }),
      ...(rest.name !== undefined && { renamed: null }),
    }
    return set(trx, 'teams', columns, sql`slug = ${key}`)
  },
  user: updateUser,
  membership: (trx, { before, fields }) =>
    set(
      trx,
      'memberships',
      { is_admin: fields.admin, managed_by: 'operator' },
      sql`team_id = (select id from teams where slug = ${before.team})
        and user_id = (select id from users where lower(email) = ${before.user})`,
    ),
  prefix: (trx, { before, fields }) => {
    const { location, ...rest } = fields
    const columns = { ...rest, ...(location !== undefined && { location_key: location }) }
    return set(trx, 'prefixes', columns, inTeam(before.team, sql`prefix = ${before.prefix}::cidr`))
  },
  asn: (trx, { before, fields }, now) => {
    const { verified, ...rest } = fields
    const columns = { ...rest, ...(verified !== undefined && holdColumns(verified, now)) }
    return set(trx, 'asns', columns, inTeam(before.team, sql`asn = ${before.asn}`))
  },
  announcement: updateAnnouncement,
  source: (trx, { key, fields }) => {
    const { secret_mac, settings, ...rest } = fields
    const columns = {
      ...rest,
      ...(secret_mac && { secret_mac: Buffer.from(secret_mac, 'hex') }),
      ...(settings && { settings: JSON.stringify(settings) }),
    }
    return set(trx, 'sources', columns, sql`key = ${key}`)
  },
}

/** Who knew the old password is signed out. */
async function updateUser(trx: Trx, { key, fields }: Update<'user'>): Promise<void> {
  const { staff, demo, confirmed, ...rest } = fields
  const columns = {
    ...rest,
    ...(rest.password_hash !== undefined && { password_chosen: null }),
    ...(confirmed !== undefined && { email_confirmed: confirmed ? sql<Date>`now()` : null }),
    ...(staff !== undefined && { is_staff: staff }),
    ...(demo !== undefined && { is_demo: demo }),
  }
  await set(trx, 'users', columns, sql`lower(email) = ${key}`)
  if (fields.password_hash === undefined) return
  await sql`
    with signed_out as (
      update users set session_version = session_version + 1 where lower(email) = ${key} returning id)
    update sessions set revoked = now(), revoked_reason = 'the operator set another password'
    where user_id in (select id from signed_out) and revoked is null`.execute(trx)
}

type Condition = ReturnType<typeof sql>

function inTeam(team: string, condition: Condition): Condition {
  return sql`team_id = (select id from teams where slug = ${team}) and ${condition}`
}

/** Sets the columns of exactly one row. */
async function set(trx: Trx, table: string, columns: object, where: Condition): Promise<void> {
  const assignments = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.join(assignments)} where ${where}`.execute(trx)
  if (numAffectedRows !== 1n) throw new Error(`${table}: ${numAffectedRows} rows instead of one`)
}

type Deleters = { readonly [K in Kind]: (trx: Trx, key: string) => Promise<unknown> }

const deleters: Deleters = {
  location: (trx, key) => sql`delete from locations where key = ${key}`.execute(trx),
  region: async (trx, key) => {
    const region = sql`(select id from regions where slug = ${key})`
    await sql`delete from holds where region_id = ${region}`.execute(trx)
    await sql`delete from region_withdrawals where region_id = ${region}`.execute(trx)
    await sql`delete from regions where slug = ${key}`.execute(trx)
  },
  team: (trx, key) => sql`delete from teams where slug = ${key}`.execute(trx),
  user: async (trx, key) => {
    const user = sql`(select id from users where lower(email) = ${key})`
    await sql`update holds set decided_by = null where decided_by = ${user}`.execute(trx)
    await sql`delete from users where lower(email) = ${key}`.execute(trx)
  },
  membership: (trx, key) => {
    const [team, user] = key.split(' ')
    return sql`
      with gone as (
        delete from memberships
        where ${inTeam(team!, sql`user_id = (select id from users where lower(email) = ${user})`)}
        returning team_id, user_id)
      insert into former_members (team_id, user_id, ended_by) select team_id, user_id, 'operator' from gone
      on conflict (team_id, user_id) do update set ended_by = 'operator', removed = now()`.execute(trx)
  },
  prefix: (trx, key) => {
    const [team, prefix] = key.split(' ')
    return sql`delete from prefixes where ${inTeam(team!, sql`prefix = ${prefix}::cidr`)}`.execute(trx)
  },
  asn: (trx, key) => {
    const [team, asn] = key.split(' AS')
    return sql`delete from asns where ${inTeam(team!, sql`asn = ${asn}::bigint`)}`.execute(trx)
  },
  announcement: deleteAnnouncement,
  source: (trx, key) => sql`delete from sources where key = ${key}`.execute(trx),
}
