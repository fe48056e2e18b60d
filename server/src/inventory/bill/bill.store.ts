// The SQL of bills: the rules of a service, the ports that were assigned to it, their samples, and closed months. As the team.
import type { BillablePort, BillingPeriod, listBillingPeriodsRoute } from '@pharos/contract/inventory/bill'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { isUnread } from '../assignment/device-state.store.ts'
import type { Period } from '../usage/billing-month.ts'
import { readCounted, type Counted } from '../usage/counted.store.ts'
import { periodOf, timezoneOf, type BillingTerms, type TermsHistory } from './terms.ts'

export type BilledService = {
  readonly id: number
  readonly teamId: number
  readonly teamName: string
  readonly name: string
  readonly billingRef: string
  readonly terms: TermsHistory
  /** The services whose ports it bills beside its own, each with a time of it. */
  readonly pooled: readonly PooledService[]
}
export type PooledService = Period & { readonly serviceId: number }

/** Null: without a start or an end. */
type TermsRow = BillingTerms & { readonly startMs: number | null; readonly endMs: number | null }
type PooledRow = {
  readonly serviceId: number
  readonly startMs: number | null
  readonly endMs: number | null
}
type ServiceRow = Omit<BilledService, 'terms' | 'pooled'> & {
  readonly terms: readonly TermsRow[]
  readonly pooled: readonly PooledRow[]
}

const serviceColumns = sql`
  s.id, s.team_id as "teamId", (select t.name from teams t where t.id = s.team_id) as "teamName", s.name, s.billing_ref as "billingRef", (
    select json_agg(json_build_object('method', t.method, 'direction', t.direction, 'scope', t.scope, 'commitScope', t.commit_scope,
      'timezone', t.timezone, 'day', t.day, 'commitBps', t.commit_bps, 'includedOctets', t.included_octets, 'prices', t.prices,
      'poolId', t.pool_id,
      'startMs', (extract(epoch from lower(t.valid)) * 1000)::bigint,
      'endMs', (extract(epoch from upper(t.valid)) * 1000)::bigint) order by lower(t.valid) nulls first)
    from (
      select f.commit_bps, f.included_octets, f.method, f.direction, f.scope, f.commit_scope, f.timezone, f.day, f.prices, f.pool_id,
        f.valid
      from former_service_terms f where f.service_id = s.id
      union all
      select s.commit_bps, s.billing_included_octets, s.billing_method, s.billing_direction, s.billing_scope, s.billing_commit_scope,
        s.billing_timezone, s.billing_day, s.billing_prices, s.pool_id,
        tstzrange((select max(upper(f.valid)) from former_service_terms f where f.service_id = s.id), null)) t) as terms, (
    select coalesce(json_agg(json_build_object('serviceId', m.service_id,
      'startMs', (extract(epoch from lower(m.valid)) * 1000)::bigint,
      'endMs', (extract(epoch from upper(m.valid)) * 1000)::bigint) order by m.service_id, lower(m.valid)), '[]')
    from (
      select f.service_id, f.valid from former_service_terms f where f.pool_id = s.id
      union all
      select p.id, tstzrange((select max(upper(f.valid)) from former_service_terms f where f.service_id = p.id), null)
      from services p where p.pool_id = s.id) m) as pooled`

const withBorders = <Row extends { readonly startMs: number | null; readonly endMs: number | null }>(
  row: Row,
) => ({ ...row, startMs: row.startMs ?? -Infinity, endMs: row.endMs ?? Infinity })

const billedService = <Row extends ServiceRow>({ terms, pooled, ...row }: Row) => ({
  ...row,
  terms: terms.map(withBorders),
  pooled: pooled.map(withBorders),
})

export async function findBilledService(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<BilledService | undefined> {
  const query = sql<ServiceRow>`
    select ${serviceColumns} from services s where s.team_id = ${teamId} and s.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query)).map(billedService)[0]
}

/** Keeps the billing terms of a service that are changed now, for the bills of the time before. */
export async function keepFormerTerms(trx: Trx, serviceId: number): Promise<void> {
  await sql`
    insert into former_service_terms (service_id, valid, commit_bps, included_octets, method, direction, scope, commit_scope, timezone, day,
      prices, pool_id)
    select s.id, tstzrange(f.until, now()), s.commit_bps, s.billing_included_octets, s.billing_method, s.billing_direction, s.billing_scope,
      s.billing_commit_scope, s.billing_timezone, s.billing_day, s.billing_prices, s.pool_id
    from services s cross join lateral (
      select max(upper(f.valid)) as until from former_service_terms f where f.service_id = s.id) f
    where s.id = ${serviceId} and (f.until is null or f.until < now())`.execute(trx)
}

export type Assignment = {
  readonly portId: number
  readonly name: string
  readonly circuitId: string
  readonly speedBps: number | null
  readonly startMs: number
  /** End of the requested period, if the assignment lasts longer. */
  readonly endMs: number
  readonly interfaceId: number | null
  /** When the port got the interface; null: always. */
  readonly interface_since_ms: number | null
  readonly oper: string
  /** The first sample of the port, of any customer; null without samples. */
  readonly measuredMs: number | null
  /** The last reading of its device, if it is no longer read: the state after that is unknown. */
  readonly unreadMs: number | null
}

export function listAssignments(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  { startMs, endMs }: Period,
): Promise<Assignment[]> {
  return postgres.readInTeam(
    teamId,
    sql<Assignment>`
      select a.port_id as "portId", a.name, a.circuit_id as "circuitId", a.speed_bps as "speedBps", a.interface_id as "interfaceId",
        a.oper,
        (extract(epoch from a.interface_since) * 1000)::bigint as interface_since_ms,
        (extract(epoch from a.measured) * 1000)::bigint as "measuredMs",
        (extract(epoch from lower(a.valid)) * 1000)::bigint as "startMs", (extract(epoch from upper(a.valid)) * 1000)::bigint as "endMs",
        case when ${isUnread} then (extract(epoch from coalesce(s.seen, 'epoch')) * 1000)::bigint end as "unreadMs"
      from billed_assignments(${serviceId}::integer, ${new Date(startMs)}::timestamptz, ${new Date(endMs)}::timestamptz) a
        left join ports p on p.id = a.port_id left join device_states s on s.device_id = p.device_id`,
  )
}

/** Values of a port in a part of its assignments. */
export type PortFact = Period & {
  readonly portId: number
  /** The port of the LAG that it was a member of. */
  readonly lagPortId: number | null
  readonly speedBps: number | null
  readonly bits: number | null
}

/** In the order of ports and time. */
export function listPortFacts(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  { startMs, endMs }: Period,
): Promise<PortFact[]> {
  return postgres.readInTeam(
    teamId,
    sql<PortFact>`
      select port_id as "portId", lag_port_id as "lagPortId", speed_bps as "speedBps", bits,
        (extract(epoch from lower(valid)) * 1000)::bigint as "startMs", (extract(epoch from upper(valid)) * 1000)::bigint as "endMs"
      from billed_facts(${serviceId}::integer, ${new Date(startMs)}::timestamptz, ${new Date(endMs)}::timestamptz)`,
  )
}

export type BillStateChange = {
  readonly interfaceId: number
  readonly atMs: number
  readonly before: string
  readonly after: string
}

/** In order of time, with the last change before the period and the first change after it. */
export function listStateChanges(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  { startMs, endMs }: Period,
): Promise<BillStateChange[]> {
  return postgres.readInTeam(
    teamId,
    sql<BillStateChange>`
      select distinct interface_id as "interfaceId", (extract(epoch from at) * 1000)::bigint as "atMs", before, after
      from billed_states(${serviceId}::integer, ${new Date(startMs)}::timestamptz, ${new Date(endMs)}::timestamptz)
      order by 2`,
  )
}

/** The buckets of 5 minutes of a port in which anything was measured. */
export async function readBuckets(
  postgres: Postgres,
  teamId: number,
  portId: number,
  { startMs, endMs }: Period,
): Promise<Counted> {
  const part = sql`
    select ${portId}::integer as port_id, ${new Date(startMs)}::timestamptz as since, ${new Date(endMs)}::timestamptz as until`
  return readCounted(postgres, teamId, part, ['octets_in', 'octets_out'], 300)
}

/** `startMs`: of the bucket of 5 minutes. */
export type AttackOctets = { readonly portId: number; readonly startMs: number; readonly octets: number }

/** Includes the day before the period: a row at midnight UTC means that flows were received on that day. */
export function listAttackOctets(
  postgres: Postgres,
  teamId: number,
  portIds: readonly number[],
  { startMs, endMs }: Period,
): Promise<AttackOctets[]> {
  return postgres.readInTeam(
    teamId,
    sql<AttackOctets>`
      select port_id as "portId", (extract(epoch from bucket) * 1000)::bigint as "startMs", octets from port_attack_octets
      where team_id = ${teamId} and port_id = any(${portIds}::integer[])
        and bucket >= ${new Date(startMs - 86_400_000)}::timestamptz and bucket < ${new Date(endMs)}::timestamptz`,
  )
}

/** A bill of `billing_periods b` as the API returns it. Bills of earlier versions lack newer fields. */
export const closedBillJson = sql<BillingPeriod>`
  jsonb_build_object('review', null, 'commit_scope', b.bill -> 'scope', 'included_octets', null, 'overage_octets', null, 'price', null,
    'credit_note', null, 'ranked', case when b.bill ->> 'rank' is null then null when b.bill ->> 'direction' <> 'max' then b.bill ->> 'direction'
      when (b.bill ->> 'p95_out_bps')::numeric > (b.bill ->> 'p95_in_bps')::numeric then 'out' else 'in' end)
  || b.bill || jsonb_build_object('period', b.month, 'closed', b.closed, 'bill_id', b.id,
    'corrects', b.corrects, 'correction_reason', b.reason,
    'corrected_by', (select c.id from billing_periods c where c.corrects = b.id))`

type BillRow = { readonly bill: BillingPeriod }

export const presentBill = ({ bill }: BillRow): BillingPeriod => ({
  ...bill,
  closed: new Date(bill.closed!).toISOString(),
})

/** Returns the closed bills of a month, in order, without corrected ones; an empty list if it is not closed. */
export async function listClosedBills(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  month: string,
): Promise<BillingPeriod[]> {
  const query = sql<BillRow>`
    select ${closedBillJson} as bill from billing_periods b
    where b.team_id = ${teamId} and b.service_id = ${serviceId}::bigint and b.month = ${month}
      and not exists (select from billing_periods c where c.corrects = b.id)
    order by b.place`
  return (await postgres.readInTeam(teamId, query)).map(presentBill)
}

/** One closed bill of a service, a corrected one too. */
export async function findBillOfTeam(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  id: number,
): Promise<BillingPeriod | undefined> {
  const query = sql<BillRow>`
    select ${closedBillJson} as bill from billing_periods b
    where b.team_id = ${teamId} and b.service_id = ${serviceId}::bigint and b.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query)).map(presentBill)[0]
}

/** Includes a deleted service, if the team had bills of it; else `not_found`. */
export async function listPeriodRows(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  { ordering, ...slice }: QueryOf<typeof listBillingPeriodsRoute>,
): Promise<Page<BillingPeriod>> {
  const { page, count } = await listInTeam<BillRow>(postgres, teamId, {
    parent: {
      name: 'service',
      statement: sql`select from (select 1) one where exists (
          select from services s where s.team_id = ${teamId} and s.id = ${serviceId}::bigint)
        or exists (select from billing_periods b where b.team_id = ${teamId} and b.service_id = ${serviceId}::bigint)`,
    },
    matching: sql`
      select b.id, b.month, ${closedBillJson} as bill from billing_periods b
      where b.team_id = ${teamId} and b.service_id = ${serviceId}::bigint`,
    order: orderBy(ordering, { period: sql`m.month`, name: sql`m.bill ->> 'name'` }, sql`m.id`),
    slice,
  })
  return { page: page.map(presentBill), count }
}

export type ClosedBill = BillRow & {
  readonly teamId: number
  /** Null: the team was deleted. */
  readonly teamName: string | null
  readonly serviceId: number
  readonly name: string
  readonly billingRef: string
}

/** For staff: a closed bill of any team. */
export async function findClosedBill(db: Db | Trx, id: number): Promise<ClosedBill | undefined> {
  const { rows } = await sql<ClosedBill>`
    select b.team_id as "teamId", (select t.name from teams t where t.id = b.team_id) as "teamName", b.service_id as "serviceId", b.service_name as name, b.billing_ref as "billingRef",
      ${closedBillJson} as bill
    from billing_periods b where b.id = ${id}`.execute(db)
  return rows[0] && { ...rows[0], bill: presentBill(rows[0]) }
}

/** Whether too many samples of the bill `b` are missing, and nobody has corrected or confirmed it. */
export const needsDecision = sql<boolean>`b.bill ->> 'review' is not null
  and not exists (select from billing_periods c where c.corrects = b.id)`

/** For staff: the closed bills that wait for a decision, the oldest first. */
export async function listBillReviews(
  db: Db,
): Promise<readonly (BillRow & { readonly team: string; readonly service: string })[]> {
  const { rows } = await sql<BillRow & { readonly team: string; readonly service: string }>`
    select coalesce(t.slug, b.team_id::text) as team, b.service_name as service, ${closedBillJson} as bill
    from billing_periods b left join teams t on t.id = b.team_id
    where ${needsDecision}
    order by b.month, b.id`.execute(db)
  return rows
}

/** Adds a bill that replaces another one. Undefined if that was replaced before. */
export async function insertCorrection(
  trx: Trx,
  { bill: { bill_id: corrected } }: ClosedBill,
  { bill, reason }: { readonly bill: BillablePort; readonly reason: string },
): Promise<ClosedBill | undefined> {
  const { rows } = await sql<{ id: number }>`
    insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, ends, place, bill, corrects, reason)
    select b.team_id, b.service_id, b.service_name, b.billing_ref, b.month, b.timezone, b.ends,
      (select max(o.place) + 1 from billing_periods o where o.service_id = b.service_id and o.month = b.month),
      ${JSON.stringify(bill)}::jsonb, b.id, ${reason}
    from billing_periods b where b.id = ${corrected}
    on conflict do nothing returning id`.execute(trx)
  return rows[0] && findClosedBill(trx, rows[0].id)
}

export type ClosableService = BilledService & {
  /** Start of the first assignment, and when its port became known; ms since 1970. */
  readonly firstMs: number
  readonly knownMs: number
  readonly closed: readonly string[]
}

/** Services with ports, for the loop that closes their months. */
export async function listServicesWithPorts(db: Db): Promise<ClosableService[]> {
  const { rows } = await sql<ServiceRow & Pick<ClosableService, 'firstMs' | 'knownMs' | 'closed'>>`
    select ${serviceColumns}, (extract(epoch from f.first) * 1000)::bigint as "firstMs",
      (extract(epoch from f.known) * 1000)::bigint as "knownMs",
      array(select distinct b.month from billing_periods b where b.service_id = s.id) as closed
    from services s cross join lateral (
      select min(lower(a.valid)) as first, min(p.created) as known
      from port_assignments a join ports p on p.id = a.port_id
      where a.service_id = s.id or a.service_id in (
        select m.service_id from former_service_terms m where m.pool_id = s.id
        union all select m.id from services m where m.pool_id = s.id)) f
    where f.first is not null order by s.id`.execute(db)
  return rows.map(billedService)
}

/** Adds the bills of a month, and returns their ids in order; an empty list if another process has closed it. */
export async function insertBills(
  trx: Trx,
  { id, teamId, name, billingRef, terms }: BilledService,
  month: string,
  bills: readonly BillablePort[],
): Promise<number[]> {
  const rows = JSON.stringify(bills.map((bill, place) => ({ place, bill })))
  const { rows: added } = await sql<{ id: number }>`
    insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, ends, place, bill)
    select ${teamId}, ${id}, ${name}, ${billingRef}, ${month}, ${timezoneOf(month, terms)},
      ${new Date(periodOf(month, terms).endMs)}::timestamptz, n.place, n.bill
    from jsonb_to_recordset(${rows}::jsonb) as n (place integer, bill jsonb) order by n.place
    on conflict (service_id, month, place) do nothing returning id`.execute(trx)
  return added.map((row) => row.id)
}
