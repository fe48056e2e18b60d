// The SQL of domains. Every statement is limited to a team, except the search for due domains.
import { sql, type RawBuilder } from 'kysely'
import type { DomainCheckResult, listDomainsRoute } from '@pharos/contract/team/domain'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../db/columns.ts'
import { claimRows } from '../db/due-work.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import type { TeamDomainName } from './domain-name.ts'
import type { DomainState } from './domain-verification.ts'

const domainColumns = columns(
  'domains',
  'd',
  ['id', 'team_id', 'auto_join', 'created', 'verified', 'pending_since', 'last_check', 'missed', 'due'],
  {
    domain: sql<TeamDomainName>`d.domain`,
    last_check_result: sql<DomainCheckResult | null>`d.last_check_result`,
  },
)
type DomainRow = RowOf<typeof domainColumns>

export type TeamDomain = DomainState & {
  readonly id: number
  readonly teamId: number
  readonly domain: TeamDomainName
  readonly autoJoin: boolean
  readonly created: Date
}

const domainOf = (row: DomainRow): TeamDomain => ({
  id: row.id,
  teamId: row.team_id,
  domain: row.domain,
  autoJoin: row.auto_join,
  created: row.created,
  verified: row.verified,
  pendingSince: row.pending_since,
  lastCheck: row.last_check,
  lastCheckResult: row.last_check_result,
  missed: row.missed,
  due: row.due,
})

export async function listDomainRows(
  postgres: Postgres,
  teamId: number,
  { verified, ordering, ...slice }: QueryOf<typeof listDomainsRoute>,
): Promise<Page<TeamDomain>> {
  const { page, count } = await listInTeam<DomainRow>(postgres, teamId, {
    matching: sql`
      select d.* from domains d where d.team_id = ${teamId} ${andAll(
        verified !== undefined && sql`(d.verified is not null) = ${verified}`,
      )}`,
    columns: domainColumns,
    order: orderBy(
      ordering,
      {
        id: sql`d.id`,
        domain: sql`d.domain`,
        created: sql`d.created`,
        verified: sql`d.verified`,
        last_check: sql`d.last_check`,
      },
      sql`d.id`,
    ),
    slice,
  })
  return { page: page.map(domainOf), count }
}

export async function findDomain(trx: Trx, teamId: number, id: number): Promise<TeamDomain | undefined> {
  return readDomain(trx, teamId, id, sql``)
}

/** Like `findDomain`, with the row locked until the end of the transaction. */
export async function lockDomain(trx: Trx, teamId: number, id: number): Promise<TeamDomain | undefined> {
  return readDomain(trx, teamId, id, sql`for update`)
}

async function readDomain(
  trx: Trx,
  teamId: number,
  id: number,
  lock: RawBuilder<unknown>,
): Promise<TeamDomain | undefined> {
  const { rows } = await sql<DomainRow>`
    select ${domainColumns} from domains d where d.team_id = ${teamId} and d.id = ${id}::bigint ${lock}`.execute(
    trx,
  )
  return rows[0] && domainOf(rows[0])
}

/** Blocks adding domains to the team until the end of the transaction, so that the count stays valid. */
export async function countDomains(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`domains of ${teamId}`}, 0))`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from domains where team_id = ${teamId}`.execute(trx)
  return rows[0]!.count
}

/** Returns undefined if the team already has the domain. The new domain is due immediately. */
export async function insertDomain(
  trx: Trx,
  { teamId, domain, autoJoin, now }: { teamId: number; domain: TeamDomainName; autoJoin: boolean; now: Date },
): Promise<TeamDomain | undefined> {
  const { rows } = await sql<DomainRow>`
    insert into domains as d (team_id, domain, auto_join, created, pending_since, due)
    values (${teamId}, ${domain}, ${autoJoin}, ${now}, ${now}, ${now})
    on conflict (team_id, domain) do nothing returning ${domainColumns}`.execute(trx)
  return rows[0] && domainOf(rows[0])
}

export async function saveAutoJoin(trx: Trx, { teamId, id }: TeamDomain, autoJoin: boolean): Promise<void> {
  await sql`update domains set auto_join = ${autoJoin} where team_id = ${teamId} and id = ${id}`.execute(trx)
}

/** Ends what the identity provider of the domain has opened for its addresses. */
export async function endProofsOfDomain(trx: Trx, { teamId, domain }: DueDomain): Promise<void> {
  await sql`select end_provider_proofs(${teamId}::integer, null, ${domain})`.execute(trx)
}

export async function saveDomainState(
  trx: Trx,
  { teamId, id }: TeamDomain,
  state: DomainState,
): Promise<void> {
  const { verified, pendingSince, lastCheck, lastCheckResult, missed, due } = state
  await sql`
    update domains set verified = ${verified}, pending_since = ${pendingSince}, last_check = ${lastCheck},
      last_check_result = ${lastCheckResult}, missed = ${missed}, due = ${due}
    where team_id = ${teamId} and id = ${id}`.execute(trx)
}

/** Returns whether the team requires its identity provider, and no active one would have a domain without this one. */
export async function isNeededByPolicy(trx: Trx, { teamId, id }: TeamDomain): Promise<boolean> {
  const { rows } = await sql`
    select from domains d join identity_providers i on i.id = d.provider_id join teams t on t.id = d.team_id
    where d.team_id = ${teamId} and d.id = ${id} and i.status = 'active' and t.sign_in_policy <> 'optional' and not exists (
      select from domains o join identity_providers p on p.id = o.provider_id
      where o.team_id = d.team_id and o.id <> d.id and p.status = 'active')`.execute(trx)
  return rows.length > 0
}

export async function deleteDomain(trx: Trx, { teamId, id }: TeamDomain): Promise<void> {
  await sql`delete from domains where team_id = ${teamId} and id = ${id}`.execute(trx)
}

/**
 * Locks the domain name until the end of the transaction: two teams that verify it at the same moment would otherwise not
 * see each other.
 */
export async function lockName(trx: Trx, domain: TeamDomainName): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`domain ${domain}`}, 0))`.execute(trx)
}

/** Returns whether another team is verified for the domain, without naming it. */
export async function isClaimedElsewhere(trx: Trx, teamId: number, domain: TeamDomainName): Promise<boolean> {
  const { rows } = await sql<{ claimed: boolean }>`
    select domain_is_claimed(${teamId}::integer, ${domain}) as claimed`.execute(trx)
  return rows[0]!.claimed
}

export type DueDomain = Pick<TeamDomain, 'id' | 'teamId' | 'domain'>

/** Lease in seconds, longer than a check; if a process dies, its domain is checked again afterwards. */
const leaseSeconds = 30
/** Concurrent checks for one team, in all processes: its slow name servers must not delay the checks of other teams. */
const teamParallel = 4

/** Claims the domain that has been due for longest, of a team below its limit: one at a time, so that each claim counts. */
export function claimDueDomain(db: Db, now: Date): Promise<DueDomain[]> {
  return claimRows<DueDomain>(db, 'domains', {
    due: sql`
      select r.id from domains r
      where r.due <= ${now} and (r.leased_until is null or r.leased_until <= ${now}) and (
        select count(*) from domains b where b.team_id = r.team_id and b.leased_until > ${now}) < ${teamParallel}
      order by r.due, r.id limit 1`,
    lease: sql`leased_until = ${now}::timestamptz + make_interval(secs => ${leaseSeconds})`,
    returning: sql`r.id, r.team_id as "teamId", r.domain`,
  })
}

export async function releaseDomain(db: Db, { id }: DueDomain): Promise<void> {
  await sql`update domains set leased_until = null where id = ${id}`.execute(db)
}

/** Returns the recipients of notices about a team's domains: its name, and the confirmed addresses of its admins. */
export async function findAdmins(
  trx: Trx,
  teamId: number,
): Promise<{ readonly team: string; readonly emails: readonly string[] }> {
  const { rows } = await sql<{ team: string; emails: string[] }>`
    select t.name as team, array(
      select u.email from memberships m join users u on u.id = m.user_id
      where m.team_id = t.id and m.is_admin and u.email_confirmed is not null order by u.id) as emails
    from teams t where t.id = ${teamId}`.execute(trx)
  return rows[0]!
}
