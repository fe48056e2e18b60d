// The roles of members, which are the same in every team.
import { grantsOf, roles } from '@pharos/contract/role'
import type { RoleDescription } from '@pharos/contract/team/role-list'

export async function listRoles(): Promise<{ results: RoleDescription[]; count: number }> {
  return { results: roles.map((name) => ({ name, grants: [...grantsOf([name])] })), count: roles.length }
}
