// The access review of the installation: as a list and as a file.
import { csvFile } from '@pharos/contract/csv'
import {
  reviewFileColumns,
  type exportAccessRoute,
  type listAccessRoute,
  type ReviewedAccount,
} from '@pharos/contract/operator/access-review'
import { orderedRoles } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { listAllReviewed, listReviewed, type ReviewRow } from './access-review.store.ts'

type Deps = { readonly db: Db }

export async function listAccessOfAll(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listAccessRoute>,
): Promise<{ results: ReviewedAccount[]; count: number }> {
  const { page, count } = await listReviewed(db, query)
  return { results: page.map(present), count }
}

export async function exportAccess(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof exportAccessRoute>,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  return {
    bytes: Buffer.from(await accessReviewFile(db, query)),
    mediaType: 'text/csv',
    filename: 'access-review.csv',
  }
}

/** Returns all that matches as CSV. */
export async function accessReviewFile(db: Db, filters: QueryOf<typeof exportAccessRoute>): Promise<string> {
  const rows = (await listAllReviewed(db, filters)).map(present)
  return csvFile(
    reviewFileColumns,
    rows.map(({ teams, ...row }) => ({
      ...row,
      teams: teams.map(({ slug, roles }) => `${slug}:${roles.join('+')}`),
    })),
  )
}

const present = ({
  created,
  expires,
  last_sign_in,
  last_used,
  teams,
  ...row
}: ReviewRow): ReviewedAccount => ({
  ...row,
  teams: teams.map((team) => ({ ...team, roles: orderedRoles(team.roles) })),
  created: created.toISOString(),
  expires: expires?.toISOString() ?? null,
  last_sign_in: last_sign_in?.toISOString() ?? null,
  last_used: last_used?.toISOString() ?? null,
})
