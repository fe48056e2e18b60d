// The customers of the provider in the view of staff: the objects of each, and its open decisions.
import type { Customer, listCustomersRoute } from '@pharos/contract/operator/team'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { findCustomer, listCustomerRows, type CustomerRow, type OpenRequests } from './customer.store.ts'

export type CustomerDeps = {
  readonly db: Db
  /** Counts the entries of the inbox of staff by team. */
  readonly countOpenRequests: () => Promise<OpenRequests>
}

/** Returns a page of all teams. */
export async function listCustomers(
  { db, countOpenRequests }: CustomerDeps,
  _operation: unknown,
  query: QueryOf<typeof listCustomersRoute>,
): Promise<{ results: Customer[]; count: number }> {
  const { page, count } = await listCustomerRows(db, await countOpenRequests(), query)
  return { results: page.map(present), count }
}

/** Returns any team; throws `not_found` if it does not exist. */
export async function getCustomer(
  { db, countOpenRequests }: CustomerDeps,
  _operation: unknown,
  teamId: number,
): Promise<Customer> {
  const row = await findCustomer(db, await countOpenRequests(), teamId)
  if (!row) throw notFound('team')
  return present(row)
}

const present = ({ created, ...row }: CustomerRow): Customer => ({
  ...row,
  created: created.toISOString(),
})
