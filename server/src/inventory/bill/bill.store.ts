// The SQL of bills: the rules of a service, the ports that were assigned to it, their samples, and closed months. As the team.
import type { BillablePort, listBillingPeriodsRoute } from '@pharos/contract/bill'
import type { BillingDirection, BillingMethod, BillingScope } from '@pharos/contract/billing-rules'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import type { Period } from '../usage/billing-month.ts'
import { readCounted, type Counted } from '../usage/counted.store.ts'

export type BilledService = {
  readonly id: number
  readonly teamId: number
  readonly name: string
  readonly billingRef: string
  readonly commitBps: number | null
  readonly method: BillingMethod
  readonly direction: BillingDirection
  readonly scope: BillingScope
  readonly timezone: string
}

const billedService = sql`
  s.id, s.team_id as "teamId", s.name, s.billing_ref as "billingRef", s.commit_bps as "commitBps", s.billing_method as method,
  s.billing_direction as direction, s.billing_scope as scope, s.billing_timezone as timezone`

export async function findBilledService(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<BilledService | undefined> {
  const query = sql<BilledService>`
    select ${billedService} from services s where s.team_id = ${teamId} and s.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

export type Assignment = {
  readonly portId: number
  readonly name: string
  readonly circuitId: string
  readonly speedBps: number | null
  readonly startMs: number
  /** Of the period that was asked for, if the assignment lasts longer. */
  readonly endMs: number
  readonly interfaceId: number | null
  /** Since when the port has the interface; null: always. */
  readonly linkedMs: number | null
  readonly lagInterfaceId: number | null
  readonly isLag: boolean
  readonly oper: string
  readonly bits: number | null
  /** The first sample of the port, of any customer; null if it has none. */
  readonly measuredMs: number | null
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
      select port_id as "portId", name, circuit_id as "circuitId", speed_bps as "speedBps", interface_id as "interfaceId",
        lag_interface_id as "lagInterfaceId", is_lag as "isLag", oper, bits,
        (extract(epoch from linked_at) * 1000)::bigint as "linkedMs",
        (extract(epoch from measured) * 1000)::bigint as "measuredMs",
        (extract(epoch from lower(valid)) * 1000)::bigint as "startMs", (extract(epoch from upper(valid)) * 1000)::bigint as "endMs"
      from billed_assignments(${serviceId}::integer, ${new Date(startMs)}::timestamptz, ${new Date(endMs)}::timestamptz)`,
  )
}

export type StateChange = {
  readonly interfaceId: number
  readonly atMs: number
  readonly before: string
  readonly after: string
}

/** In the order of time, with the last one before the period and the first one after it. */
export function listStateChanges(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  { startMs, endMs }: Period,
): Promise<StateChange[]> {
  return postgres.readInTeam(
    teamId,
    sql<StateChange>`
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

/** Those of a day before the period too: a row at midnight of UTC says that flows were received on that day. */
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

export type ClosedBill = Omit<BillablePort, 'closed'> & { readonly period: string; readonly closedAt: Date }

/** The closed bills of a month, in their order; none if it is not closed. */
export async function listClosedBills(
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  month: string,
): Promise<ClosedBill[]> {
  const query = sql<{ bill: BillablePort; closed: Date }>`
    select bill, closed from billing_periods
    where team_id = ${teamId} and service_id = ${serviceId}::bigint and month = ${month} order by place`
  const rows = await postgres.readInTeam(teamId, query)
  return rows.map(({ bill, closed }) => ({ ...bill, period: month, closedAt: closed }))
}

export type PeriodRow = { readonly month: string; readonly bill: BillablePort; readonly closed: Date }

/** Of a service that is gone too, if the team had bills of it; else `not_found`. */
export const listPeriodRows = (
  postgres: Postgres,
  teamId: number,
  serviceId: number,
  { ordering, ...slice }: QueryOf<typeof listBillingPeriodsRoute>,
): Promise<Page<PeriodRow>> =>
  listInTeam(postgres, teamId, {
    parent: {
      name: 'service',
      statement: sql`select from (select 1) one where exists (
          select from services s where s.team_id = ${teamId} and s.id = ${serviceId}::bigint)
        or exists (select from billing_periods b where b.team_id = ${teamId} and b.service_id = ${serviceId}::bigint)`,
    },
    matching: sql`
      select b.id, b.month, b.bill, b.closed from billing_periods b
      where b.team_id = ${teamId} and b.service_id = ${serviceId}::bigint`,
    order: orderBy(ordering, { period: sql`m.month`, name: sql`m.bill ->> 'name'` }, sql`m.id`),
    slice,
  })

/** Services with ports, for the loop that closes their months. */
export async function listServicesWithPorts(db: Db): Promise<
  (BilledService & {
    /** Start of the first assignment, and when its port became known; ms since 1970. */
    readonly firstMs: number
    readonly knownMs: number
    readonly closed: readonly string[]
  })[]
> {
  const { rows } = await sql<
    BilledService & { readonly firstMs: number; readonly knownMs: number; readonly closed: readonly string[] }
  >`
    select ${billedService}, (extract(epoch from f.first) * 1000)::bigint as "firstMs",
      (extract(epoch from f.known) * 1000)::bigint as "knownMs",
      array(select distinct b.month from billing_periods b where b.service_id = s.id) as closed
    from services s cross join lateral (
      select min(lower(a.valid)) as first, min(p.created) as known
      from port_assignments a join ports p on p.id = a.port_id where a.service_id = s.id) f
    where f.first is not null order by s.id`.execute(db)
  return rows
}

/** Adds the bills of a month; false if another process has closed it. */
export async function insertBills(
  trx: Trx,
  { id, teamId, name, billingRef, timezone }: BilledService,
  month: string,
  bills: readonly BillablePort[],
): Promise<boolean> {
  const rows = JSON.stringify(bills.map((bill, place) => ({ place, bill })))
  const { rows: added } = await sql`
    insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, place, bill)
    select ${teamId}, ${id}, ${name}, ${billingRef}, ${month}, ${timezone}, n.place, n.bill
    from jsonb_to_recordset(${rows}::jsonb) as n (place integer, bill jsonb)
    on conflict (service_id, month, place) do nothing returning id`.execute(trx)
  return added.length > 0
}
