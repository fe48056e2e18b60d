// The closed bills of all teams for staff: as a list and as a file of a month.
import {
  billFileColumns,
  type exportStaffBillsRoute,
  type listStaffBillsRoute,
  type StaffBill,
} from '@pharos/contract/operator/bill'
import { csvLine } from '@pharos/contract/csv'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../../db/postgres.ts'
import { listBillsOfMonth, listStaffBillRows } from './staff-bill.store.ts'

export type StaffBillDeps = { readonly db: Db }

export async function listStaffBills(
  { db }: StaffBillDeps,
  _operation: unknown,
  query: QueryOf<typeof listStaffBillsRoute>,
): Promise<{ results: StaffBill[]; count: number }> {
  const { page, count } = await listStaffBillRows(db, query)
  return { results: page, count }
}

export async function exportStaffBills(
  { db }: StaffBillDeps,
  _operation: unknown,
  query: QueryOf<typeof exportStaffBillsRoute>,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  return {
    bytes: Buffer.from(billFile(await listBillsOfMonth(db, query))),
    mediaType: 'text/csv',
    filename: `bills-${query.period}.csv`,
  }
}

/** Returns the file of bills: RFC 4180 with LF. A value that is not known is empty. */
export const billFile = (bills: readonly StaffBill[]): string =>
  [billFileColumns, ...bills.map(cellsOf)].map((cells) => `${csvLine(cells)}\n`).join('')

function cellsOf(bill: StaffBill): (string | number)[] {
  const { price, credit_note: credit } = bill
  const row = {
    ...bill,
    currency: price?.currency ?? null,
    amount: price?.amount ?? null,
    credit_bps: credit?.billable_bps ?? null,
    credit_octets: credit?.billable_octets ?? null,
    credit_amount: credit?.amount ?? null,
  }
  return billFileColumns.map((name) => row[name] ?? '')
}
