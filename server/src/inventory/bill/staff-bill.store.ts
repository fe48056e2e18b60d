// The SQL of the closed bills of all teams, for staff.
import type { exportStaffBillsRoute, listStaffBillsRoute, StaffBill } from '@pharos/contract/operator/bill'
import type { BillingPeriod } from '@pharos/contract/inventory/bill'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db } from '../../db/postgres.ts'
import { closedBillJson, needsDecision, presentBill } from './bill.store.ts'

const staffBillColumns = columns('billing_periods', 'b', ['team_id', 'service_id', 'billing_ref'], {
  team: sql<string | null>`b.team`,
  service: sql<string>`b.service_name`,
  bill: sql<BillingPeriod>`${closedBillJson}`,
})

type Query = QueryOf<typeof listStaffBillsRoute>

export async function listStaffBillRows(
  db: Db,
  { period, team_id: teams, service_id: services, current, needs_decision, ordering, ...slice }: Query,
): Promise<Page<StaffBill>> {
  const corrected = sql`exists (select from billing_periods c where c.corrects = b.id)`
  const { page, count } = await listAll<RowOf<typeof staffBillColumns>>(db, {
    matching: sql`
      select b.id, b.team_id, b.service_id, b.service_name, b.billing_ref, b.month, b.closed, b.bill, b.corrects, b.reason, t.slug as team
      from billing_periods b left join teams t on t.id = b.team_id where true ${andAll(
        period !== undefined && sql`b.month = ${period}`,
        teams && sql`b.team_id = any(${teams}::bigint[])`,
        services && sql`b.service_id = any(${services}::bigint[])`,
        current !== undefined && (current ? sql`not ${corrected}` : corrected),
        needs_decision !== undefined && sql`(${needsDecision}) = ${needs_decision}`,
      )}`,
    columns: staffBillColumns,
    order: orderBy(
      ordering,
      {
        period: sql`b.month`,
        team: sql`b.team`,
        service: sql`lower(b.service_name)`,
        closed: sql`b.closed`,
      },
      sql`b.id`,
    ),
    slice,
  })
  return { page: page.map(({ bill, ...row }) => ({ ...row, ...presentBill({ bill }) })), count }
}

/** More than any provider has in a month. */
const billsMax = 1_000_000

/** All bills of a month that match, by team and service. */
export const listBillsOfMonth = async (
  db: Db,
  query: QueryOf<typeof exportStaffBillsRoute>,
): Promise<StaffBill[]> => {
  const slice = { limit: billsMax, offset: 0 }
  return (await listStaffBillRows(db, { ...query, ...slice, ordering: 'team,service' })).page
}
