// Shared fixtures of the cross-cutting tests: two teams with equivalent resources that must not see each other's, a third team
// without modules, their members, regions, announcements, events and detectors.
import { sourceSecretMac } from '../../src/events/ingest/delivery.ts'
import { ingestDeliveries } from '../../src/events/ingest/ingest.ts'
import { fixture } from '../../src/events/sources/fixtures.ts'
import { deliver } from '../../src/events/testing.ts'
import { seedAnnouncement, seedRegions } from '../../src/byoip/announcement/testing.ts'
import type { Db } from '../../src/db/postgres.ts'
import { seedPort } from '../../src/inventory/testing.ts'
import { createOwnershipCache } from '../../src/inventory/holding/ownership.ts'
import { insertApprovalRow, withdrawalsOf } from '../../src/approval/testing.ts'
import { sql } from 'kysely'
import { addTeam, addUser, type TestApi, type TestTeam } from '../api.ts'
import { addLetter } from './letters.ts'

export type Holder = TestTeam & {
  /** Verified for the team by the operator. */
  readonly asn: number
  /** Validated and disabled everywhere; validated and enabled in `ams`; not validated; suspended. */
  readonly announcements: {
    readonly off: number
    readonly on: number
    readonly unvalidated: number
    readonly suspended: number
  }
  readonly prefixId: number
  readonly serviceId: number
  /** A device with a port of the service. */
  readonly deviceId: number
  readonly portId: number
  /** A letter of the announcement that is not validated; pending review. */
  readonly letterId: number
  readonly eventIds: readonly string[]
  /** Texts that must not occur in any response to another team. */
  readonly marks: readonly string[]
}

export type Person = { readonly userId: number; readonly email: string }

export type Fixtures = {
  readonly red: Holder
  readonly blue: Holder
  readonly bare: TestTeam
  /** Requires a second factor of its members. */
  readonly strict: TestTeam
  /** Requires its identity provider of its members. */
  readonly closed: TestTeam
  readonly people: Readonly<
    Record<
      | 'member'
      | 'admin'
      | 'staff'
      | 'reader'
      | 'billing'
      | 'noc'
      | 'demo'
      | 'former'
      | 'blue'
      | 'bound'
      | 'contractor'
      | 'bare'
      | 'lacking'
      | 'closed',
      Person
    >
  >
  readonly regions: Readonly<Record<string, number>>
  /** Key and secret of each detector. */
  readonly sources: { readonly detector: string; readonly other: string }
  /** A processed delivery of an event. */
  readonly deliveryId: string
}

export const openRegions = ['ams', 'fra', 'lon'] as const

const networks = {
  red: { four: '203.0.113', six: '2001:db8:1ed', asn: 64510 },
  blue: { four: '198.18.7', six: '2001:db8:b1e', asn: 64511 },
} as const

export async function createFixtures(api: TestApi, { events = 3 } = {}): Promise<Fixtures> {
  const db = api.database.postgres.owner
  const regions = await seedRegions(api.database.postgres, [...openRegions, 'closed'])
  await sql`update regions set open = false where slug = 'closed'`.execute(db)
  const teams = {
    red: await addTeam(api, 'red'),
    blue: await addTeam(api, 'blue'),
    bare: await addTeam(api, 'bare', []),
    strict: await addTeam(api, 'strict'),
    closed: await addTeam(api, 'closed'),
  }
  await sql`update teams set sign_in_policy = 'required' where id = ${teams.closed.teamId}`.execute(db)
  await sql`update teams set require_2fa = true where id = ${teams.strict.teamId}`.execute(db)
  const sources = { detector: 'secret-of-detector', other: 'secret-of-other' }
  for (const [key, secret] of Object.entries(sources)) await addSource(api, key, secret)
  const held = {
    red: await addHoldings(api, teams.red, networks.red, regions),
    blue: await addHoldings(api, teams.blue, networks.blue, regions),
  }
  for (const { four } of Object.values(networks)) await deliverAttacks(db, four, events)
  await ingestDeliveries(api.database.postgres, createOwnershipCache())
  const holderOf = async (name: 'red' | 'blue'): Promise<Holder> => ({
    ...teams[name],
    asn: networks[name].asn,
    ...held[name],
    letterId: await addLetter(db, held[name].announcements.unvalidated, `${networks[name].four}.0.png`),
    eventIds: await eventIdsOf(db, teams[name]),
    marks: [`${networks[name].four}.`, networks[name].six, `Team ${name}`],
  })
  return {
    red: await holderOf('red'),
    blue: await holderOf('blue'),
    bare: teams.bare,
    strict: teams.strict,
    closed: teams.closed,
    people: await addPeople(api, teams),
    regions,
    sources,
    deliveryId: await firstDeliveryId(db),
  }
}

async function firstDeliveryId(db: Db): Promise<string> {
  const row = await db.selectFrom('deliveries').select('delivery_id').orderBy('id').executeTakeFirstOrThrow()
  return row.delivery_id
}

async function addSource(api: TestApi, key: string, secret: string): Promise<void> {
  await api.database.postgres.owner
    .insertInto('sources')
    .values({
      key,
      kind: 'fastnetmon',
      name: key,
      secret_mac: sourceSecretMac(api.config.secret, secret),
      settings: '{}',
    })
    .execute()
}

async function addHoldings(
  { database: { postgres } }: TestApi,
  { teamId }: TestTeam,
  { four, six, asn }: { four: string; six: string; asn: number },
  regions: Record<string, number>,
): Promise<Pick<Holder, 'announcements' | 'prefixId' | 'serviceId' | 'deviceId' | 'portId'>> {
  const prefix = await postgres.owner
    .insertInto('prefixes')
    .values([
      { team_id: teamId, prefix: `${four}.0/24` },
      { team_id: teamId, prefix: `${six}::/48` },
    ])
    .returning('id')
    .executeTakeFirstOrThrow()
  const service = await postgres.owner
    .insertInto('services')
    .values({ team_id: teamId, name: `Transit of ${four}.0`, type: 'transit', asn })
    .returning('id')
    .executeTakeFirstOrThrow()
  await postgres.owner.insertInto('asns').values({ team_id: teamId, asn, verified: new Date() }).execute()
  // In the last minutes of a month a port that was assigned just now has no bill for it.
  const since = new Date(Date.now() - 3_600_000)
  const port = { teamId, serviceId: service.id, circuitId: `CIRCUIT ${four}.1`, since }
  const sold = await seedPort(postgres, port)
  const add = (prefix: string, rest: object) => seedAnnouncement(postgres, { teamId, prefix, ...rest })
  return {
    prefixId: prefix.id,
    serviceId: service.id,
    ...sold,
    announcements: {
      off: await add(`${four}.0/24`, {}),
      on: await add(`${six}::/48`, { enabled: true, regions: [regions['ams']] }),
      unvalidated: await add(`${six}:8000::/50`, { validated: false }),
      suspended: await add(`${six}:4000::/50`, { suspended: true }),
    },
  }
}

/** Sends one attack on each of the first addresses of the network. */
async function deliverAttacks(db: Db, four: string, count: number): Promise<void> {
  const body = JSON.stringify(fixture('fastnetmon-ban'))
  const attacks = Array.from({ length: count }, (_, at) =>
    JSON.parse(
      body
        .replaceAll('203.0.113.77', `${four}.${at + 1}`)
        .replaceAll('203.0.113.0', `${four}.0`)
        .replaceAll('0b8a4c52-6f0e-4d1b-9a57-1f2c3d4e5f60', `attack on ${four}.${at + 1}`),
    ),
  )
  await deliver(db, 'detector', attacks, new Date('2026-03-01T10:00:00Z'))
}

async function eventIdsOf(db: Db, { teamId }: TestTeam): Promise<string[]> {
  const rows = await db
    .selectFrom('team_events')
    .select('event_id')
    .where('team_id', '=', teamId)
    .orderBy('event_id')
    .execute()
  return rows.map((row) => row.event_id)
}

async function addPeople(
  api: TestApi,
  { red, blue, bare, strict, closed }: Record<'red' | 'blue' | 'bare' | 'strict' | 'closed', TestTeam>,
): Promise<Fixtures['people']> {
  return {
    member: await addUser(api, 'member', [red]),
    admin: await addUser(api, 'admin', [red], { admin: true }),
    // Staff, not a member of any customer team.
    staff: await addUser(api, 'staff', [], { staff: true }),
    reader: await addUser(api, 'reader', [], { staff: ['reader'] }),
    billing: await addUser(api, 'billing', [], { staff: ['billing'] }),
    noc: await addUser(api, 'noc', [], { staff: ['noc'] }),
    demo: await addUser(api, 'demo', [red], { admin: true, demo: true }),
    // Has a session in red, but is no longer a member of it.
    former: await addUser(api, 'former', [blue]),
    blue: await addUser(api, 'admin', [blue], { admin: true }),
    bound: await addUser(api, 'bound', [blue]),
    contractor: await addContractor(api, blue),
    bare: await addUser(api, 'admin', [bare], { admin: true }),
    lacking: await addUser(api, 'admin', [strict], { admin: true }),
    closed: await addUser(api, 'admin', [closed], { admin: true }),
  }
}

/** A member whose address is not in the domain of the team. */
async function addContractor(api: TestApi, { teamId }: TestTeam): Promise<Person> {
  const person = await addUser(api, 'contractor', [])
  await sql`insert into memberships (team_id, user_id, is_admin, roles) values (${teamId}, ${person.userId}, false, '{editor}')`.execute(
    api.database.postgres.owner,
  )
  return person
}

/** Replaces the open approval of the region and returns the id of the new one. */
export const replaceOpenApproval = (api: TestApi, regionId: number): Promise<number> =>
  insertApprovalRow(api.database.postgres.owner, {
    area: 'routes',
    kind: 'changes',
    regionId,
    reason: 'too_many_withdrawals',
    attrs: { max: 3, team_max: 2, minutes: 10, recent: 0 },
    items: withdrawalsOf(['198.51.100.0/24']),
  })

/** Closes the open restore and returns the id of a new one, whose only difference is decided or not. */
export async function replaceOpenRestore(api: TestApi, isDecided = false): Promise<number> {
  const db = api.database.postgres.owner
  await sql`update restores set closed = now() where closed is null`.execute(db)
  const { rows } = await sql<{ id: number }>`
    with opened as (insert into restores (reason, evidence) values ('by_hand', '{}') returning id)
    insert into restore_items (restore_id, area, source, subject, kind, database, adoptable, decision)
    select id, 'blackholes', 'ams', '198.51.100.1/32', 'add', '{"blackhole_id": 2000000000}', true,
      case when ${isDecided} then 'adopt' end
    from opened returning restore_id as id`.execute(db)
  return rows[0]!.id
}

/** Makes the list of a prefix wait for a confirmation, and returns its id. */
export async function replaceUnconfirmedList(api: TestApi, teamId: number, prefix: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into shield_lists as l (team_id, prefix, version, previous_version, confirm_by)
    values (${teamId}, ${prefix}::cidr, 1, 0, now() + interval '1 hour')
    on conflict (team_id, prefix) do update set previous_version = coalesce(l.previous_version, l.version),
      version = case when l.confirm_by is null then l.version + 1 else l.version end, confirm_by = excluded.confirm_by
    returning id`.execute(api.database.postgres.owner)
  return rows[0]!.id
}

let formerRouters = 0

/** Adds a former router of the region, and returns its id. */
export async function addFormerRouter(api: TestApi, regionId: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into former_speakers (region_id, name, settings, identity, prefixes)
    values (${regionId}, 'r9', '{"kind": "sandbox"}', ${`sandbox former ${formerRouters++}`}, '{198.18.0.0/24}')
    returning id`.execute(api.database.postgres.owner)
  return rows[0]!.id
}

/** Creates or resets two routers r1 and r2 in the region that can replace each other; r1 is drained or not. */
export async function restoreRouters(
  api: TestApi,
  slug: string,
  { drained }: { drained: boolean },
): Promise<void> {
  const db = api.database.postgres.owner
  const speakers = JSON.stringify(['r1', 'r2'].map((name) => ({ name, kind: 'sandbox' })))
  await sql`update regions set speakers = ${speakers}::jsonb where slug = ${slug}`.execute(db)
  await sql`
    insert into region_routers (region_id, name, last_check, last_check_result, drained, routes, neighbors)
    select r.id, n.name, now(), true, case when ${drained} and n.name = 'r1' then now() end, 0, ${neighbors}::jsonb
    from regions r, (values ('r1'), ('r2')) n (name) where r.slug = ${slug}
    on conflict (region_id, name) do update
    set drained = excluded.drained, last_check = now(), last_check_result = true, neighbors = excluded.neighbors`.execute(
    db,
  )
}

const neighbors = JSON.stringify([
  {
    address: '192.0.2.254',
    asn: 64501,
    state: 'established',
    families: [4, 6],
    since: '2026-03-01T10:00:00Z',
  },
])
