// Database rows and operations for tests of announcements. The product does not import this file.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { notifyCheckedStatuses } from '../status/status-message.store.ts'
import type { Operation, TokenActor, UserActor } from '../../operation/operation.ts'

/** Inserts a location and regions in it, in the order of the slugs; returns their ids by slug. */
export async function seedRegions(
  postgres: Postgres,
  slugs: readonly string[],
): Promise<Record<string, number>> {
  await sql`insert into locations (key, name, country, timezone)
    values ('here', 'Here', 'NL', 'Europe/Amsterdam') on conflict do nothing`.execute(postgres.owner)
  const { rows } = await sql<{ id: number; slug: string }>`
    insert into regions (slug, name, location_key, speakers)
    select slug, upper(slug), 'here', jsonb_build_array(jsonb_build_object('name', slug, 'kind', 'sandbox'))
    from unnest(${slugs}::text[]) with ordinality as n (slug, place) order by place
    returning id, slug`.execute(postgres.owner)
  return Object.fromEntries(rows.map(({ id, slug }) => [slug, id]))
}

/** Saves checks of the regions, as a run of their reconciler does; `ageSeconds` is the age of the checks. */
export async function seedChecks(
  postgres: Postgres,
  slugs: readonly string[],
  { result = true, ageSeconds = 0 } = {},
): Promise<void> {
  await postgres.owner.transaction().execute(async (trx) => {
    await sql`update regions set last_check = now() - make_interval(secs => ${ageSeconds}), last_check_result = ${result}
      where slug = any(${slugs}::text[])`.execute(trx)
    await notifyCheckedStatuses(trx)
  })
}

export async function seedTeam(
  { owner }: Postgres,
  slug: string,
  modules: readonly string[] = ['ipam'],
): Promise<number> {
  const { id } = await owner
    .insertInto('teams')
    .values({ slug, name: slug, enabled_modules: [...modules], enable_dns: modules.includes('dns') })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function seedUser(postgres: Postgres, email: string, isStaff = false): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into users (email, password_hash, username, is_staff) values (${email}, '', ${email}, ${isStaff})
    returning id`.execute(postgres.owner)
  return rows[0]!.id
}

export type Seed = {
  readonly teamId: number
  readonly prefix: string
  readonly originAsn?: number
  readonly enabled?: boolean
  readonly suspended?: boolean
  readonly validated?: boolean
  readonly deleted?: boolean
  /** Configured regions by id; enabled ones start as `announcing`, as after `pharos apply`. */
  readonly regions?: readonly number[]
}

/** Inserts one announcement, validated by default; returns its id. */
export async function seedAnnouncement(postgres: Postgres, seed: Seed): Promise<number> {
  const {
    teamId,
    prefix,
    originAsn = 64496,
    enabled = false,
    suspended = false,
    validated = true,
    deleted = false,
    regions = [],
  } = seed
  const time = validated ? '2026-01-01T00:00:00Z' : null
  const desired = enabled && !suspended
  // A test that repeats it after a lost connection finds no half of it.
  return await postgres.owner.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      insert into announcements
        (team_id, prefix, origin_asn, enabled, suspended, suspended_by, irr_validated, rpki_validated, loa_validated, deleted,
          status, vouched, clearance, claimed, checked_origin)
      values (${teamId}, ${prefix}, ${originAsn}, ${enabled}, ${suspended}, ${suspended ? 'staff' : null}, ${time}, ${time}, ${time},
        case when ${deleted} then now() end,
        ${desired && regions.length > 0 ? 'announcing' : validated ? 'ready' : 'pending_validation'},
        ${validated ? '{irr,rpki,loa}' : '{}'}, ${validated ? 'passed' : 'pending'},
        case when ${validated} then now() end, ${validated ? originAsn : null})
      returning id`.execute(trx)
    const id = rows[0]!.id
    await sql`insert into announcement_regions (announcement_id, region_id, team_id, configured, state, changes)
      select ${id}, region_id, ${teamId}, true, ${desired ? 'announcing' : 'withdrawn'},
        case when ${desired} then array[now()] else '{}' end
      from unnest(${regions}::integer[]) as n (region_id)`.execute(trx)
    return id
  })
}

/** Returns an operation of a member of the team; the test can override any part. */
export function operationOf(
  teamId: number,
  rest?: Partial<Omit<Operation, 'actor'>> & { actor?: Partial<UserActor> },
): Operation<UserActor>
export function operationOf(
  teamId: number,
  rest: Partial<Omit<Operation, 'actor'>> & { actor: TokenActor },
): Operation<TokenActor>
export function operationOf(
  teamId: number,
  rest: Partial<Omit<Operation, 'actor'>> & { actor?: Partial<UserActor> | TokenActor } = {},
): Operation {
  const user = {
    kind: 'user',
    userId: 1,
    sessionId: randomUUID(),
    isStaff: false,
    staffRoles: [],
    access: null,
    roles: ['editor'],
    isLocal: true,
    blockedBy: null,
  } as const
  const actor = { ...user, teamId, modules: ['ipam'], ...rest.actor } as Operation['actor']
  return {
    requestId: randomUUID(),
    address: '192.0.2.9',
    dryRun: false,
    ifMatch: null,
    idempotency: null,
    ...rest,
    actor,
  }
}

/** Disables announcements as a faulty statement would: without a request by name in the audit that explains it. */
export async function disableWithoutRequest(postgres: Postgres, ids: readonly number[]): Promise<void> {
  await sql`
    with off as (update announcements set enabled = false where id = any(${ids}::integer[]) returning id)
    update announcement_regions ar set state = 'withdrawing', reason = null, attrs = null, changes = changes || clock_timestamp()
    from off where ar.announcement_id = off.id`.execute(postgres.owner)
}

/** Inserts announcements of different teams, so that the budget of the region applies and not that of a team. */
export async function seedTeams(postgres: Postgres, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at++) ids.push(await seedTeam(postgres, `team-${at}`))
  return ids
}

export async function teamOf(postgres: Postgres, id: number): Promise<number> {
  const { rows } = await sql<{ team_id: number }>`select team_id from announcements where id = ${id}`.execute(
    postgres.owner,
  )
  return rows[0]!.team_id
}
