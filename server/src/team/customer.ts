// The customers of the provider in the view of staff: the objects of each, and its open decisions.
import type { Customer, listCustomersRoute } from '@pharos/contract/operator/team'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { findCustomer, listCustomerRows, type CustomerRow } from './customer.store.ts'

export type CustomerDeps = { readonly db: Db }

/** Returns a page of all teams. */
export async function listCustomers(
  { db }: CustomerDeps,
  _operation: unknown,
  query: QueryOf<typeof listCustomersRoute>,
): Promise<{ results: Customer[]; count: number }> {
  const { page, count } = await listCustomerRows(db, query)
  return { results: page.map(present), count }
}

/** Returns any team; throws `not_found` if it does not exist. */
export async function getCustomer(
  { db }: CustomerDeps,
  _operation: unknown,
  teamId: number,
): Promise<Customer> {
  const row = await findCustomer(db, teamId)
  if (!row) throw notFound('team')
  return present(row)
}

const present = ({ created, ...row }: CustomerRow): Customer => ({
  ...row,
  created: created.toISOString(),
  open_requests: row.pending_letters + row.held_routes,
})
