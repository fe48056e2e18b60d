// The members and invitations of a team, as its members see them.
import type { listMembersRoute, Member } from '@pharos/contract/team/member'
import { orderedRoles } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import { notFound } from '../runtime/error.ts'
import { etagOf } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { findMember, listMemberRows, type MemberRow } from './member.store.ts'
import { getTeamAccess } from './team-access.ts'
import type { TeamDeps } from './team.ts'

export async function listMembers(
  { db, postgres }: TeamDeps,
  operation: Operation,
  named: string,
  query: QueryOf<typeof listMembersRoute>,
): Promise<{ results: Member[]; count: number }> {
  const { teamId } = await getTeamAccess(db, operation, named, 'team.see')
  const { page, count } = await listMemberRows(postgres, teamId, query)
  return { results: page.map((row) => presentMember(row).body), count }
}

export type MemberAnswer = { readonly body: Member; readonly etag: string }

export async function getMember(
  { db, postgres }: TeamDeps,
  operation: Operation,
  named: string,
  id: number,
): Promise<MemberAnswer> {
  const { teamId } = await getTeamAccess(db, operation, named, 'team.see')
  const row = await findMember(postgres, teamId, id)
  if (!row) throw notFound('member')
  return presentMember(row)
}

/** Returns the member with its ETag: the version, and the fields of the user's account, which have another version. */
export function presentMember({ version, joined, last_seen, roles, ...rest }: MemberRow): MemberAnswer {
  const times = { joined: joined?.toISOString() ?? null, last_seen: last_seen?.toISOString() ?? null }
  const body: Member = { ...rest, roles: orderedRoles(roles), ...times }
  return { body, etag: etagOf(version, body) }
}
