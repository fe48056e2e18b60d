// The members' names by actor, such as `user:7`.
import { listMembersRoute } from '@pharos/contract/team/member'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'

/** Returns a map that is empty for a user who may not list the members. */
export function useMemberNames(): ReadonlyMap<string, string> {
  const members = useAnswer(listMembersRoute, { params: { team_id: 'current' }, query: { limit: 1000 } })
  return useMemo(
    () =>
      new Map(
        members.data?.results.map(({ user_id, display_name, email }) => [
          `user:${user_id}`,
          display_name || email,
        ]),
      ),
    [members.data],
  )
}
