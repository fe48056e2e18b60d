// The members of a team, and those whom it has invited, as its members see them.
import type { Member } from '@pharos/contract/member'
import { notFound } from '../runtime/error.ts'
import { etagOf } from '../runtime/etag.ts'
import type { Operation } from '../runtime/operation.ts'
import { parseOrdering } from '../runtime/ordering.ts'
import {
  findMember,
  listMemberRows,
  type MemberOrderingKey,
  type MemberRow,
  type MemberStatus,
} from './member.store.ts'
import { enterTeam } from './team-access.ts'
import type { TeamDeps } from './team.ts'

export type MemberListQuery = {
  readonly email?: string
  readonly status?: MemberStatus
  readonly is_admin?: boolean
  readonly ordering: string
  readonly limit: number
  readonly offset: number
}

export async function listMembers(
  { db, postgres }: TeamDeps,
  operation: Operation,
  named: string,
  { ordering, ...query }: MemberListQuery,
): Promise<{ results: Member[]; count: number }> {
  const { teamId } = await enterTeam(db, operation, named)
  const order = parseOrdering<MemberOrderingKey>(ordering)
  const { page, count } = await listMemberRows(postgres, teamId, { ...query, order })
  return { results: page.map((row) => presentMember(row).body), count }
}

export type MemberAnswer = { readonly body: Member; readonly etag: string }

export async function getMember(
  { db, postgres }: TeamDeps,
  operation: Operation,
  named: string,
  id: number,
): Promise<MemberAnswer> {
  const { teamId } = await enterTeam(db, operation, named)
  const row = await findMember(postgres, teamId, id)
  if (!row) throw notFound('member')
  return presentMember(row)
}

/** With its tag: the version, and beside it what is the user's own and changes without the member. */
export function presentMember({ version, joined, last_seen, ...rest }: MemberRow): MemberAnswer {
  const body: Member = {
    id: rest.id,
    user_id: rest.user_id,
    email: rest.email,
    display_name: rest.display_name,
    is_admin: rest.is_admin,
    status: rest.status,
    invited_by: rest.invited_by,
    joined: joined?.toISOString() ?? null,
    last_seen: last_seen?.toISOString() ?? null,
    two_factor: rest.two_factor,
  }
  return { body, etag: etagOf(version, body) }
}
