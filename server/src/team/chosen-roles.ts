// The roles in a request: a list, or `is_admin` of programs that know no other roles.
import { orderedRoles, type Role } from '@pharos/contract/role'
import type { Trx } from '../db/postgres.ts'
import { invalid } from '../runtime/error.ts'
import { readDefaultRoles } from './team-lock.store.ts'

export type ChosenRoles = {
  readonly roles?: readonly Role[] | undefined
  readonly is_admin?: boolean | undefined
}

/** Throws `invalid` if the request has both. */
export function refuseBothForms({ roles, is_admin: isAdmin }: ChosenRoles): void {
  if (roles !== undefined && isAdmin !== undefined) throw invalid(['body', 'is_admin'], 'rolesAndAdmin')
}

/** Returns the roles; without a choice and for `is_admin: false` the default roles of the team. */
export async function chosenRoles(trx: Trx, teamId: number, chosen: ChosenRoles): Promise<readonly Role[]> {
  if (chosen.roles) return orderedRoles(chosen.roles)
  return chosen.is_admin ? ['admin'] : orderedRoles(await readDefaultRoles(trx, teamId))
}
