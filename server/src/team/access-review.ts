// The access review of a team: as a list and as a file.
import { csvFile } from '@pharos/contract/csv'
import { orderedRoles } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import {
  accessFileColumns,
  type exportTeamAccessRoute,
  type listTeamAccessRoute,
  type ReviewedAccess,
} from '@pharos/contract/team/access-review'
import type { Operation } from '../operation/operation.ts'
import { listAccess, listAllAccess, type ReviewedRow } from './access-review.store.ts'
import { getTeamAccess } from './team-access.ts'
import type { TeamDeps } from './team.ts'

export async function listTeamAccess(
  { db, postgres }: TeamDeps,
  operation: Operation,
  named: string,
  query: QueryOf<typeof listTeamAccessRoute>,
): Promise<{ results: ReviewedAccess[]; count: number }> {
  const { teamId } = await getTeamAccess(db, operation, named, 'team.manage')
  const { page, count } = await listAccess(postgres, teamId, query)
  return { results: page.map(presentAccess), count }
}

export async function exportTeamAccess(
  { db, postgres }: TeamDeps,
  operation: Operation,
  named: string,
  query: QueryOf<typeof exportTeamAccessRoute>,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  const { teamId } = await getTeamAccess(db, operation, named, 'team.manage')
  const rows = await listAllAccess(postgres, teamId, query)
  return {
    bytes: Buffer.from(csvFile(accessFileColumns, rows.map(presentAccess))),
    mediaType: 'text/csv',
    filename: 'access-review.csv',
  }
}

const presentAccess = ({ roles, created, expires, last_used, ...rest }: ReviewedRow): ReviewedAccess => ({
  ...rest,
  roles: roles && orderedRoles(roles),
  created: created.toISOString(),
  expires: expires?.toISOString() ?? null,
  last_used: last_used?.toISOString() ?? null,
})
