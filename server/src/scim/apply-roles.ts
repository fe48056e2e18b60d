// For a change of the provider by an admin of the team: other roles apply to the members whom SCIM has made.
import type { Trx } from '../db/postgres.ts'
import { fail } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { ScimError } from './error.ts'
import { provision, type Author } from './provision.ts'
import type { ScimProvider } from './scim.store.ts'

/** The returned function throws `quota_exceeded` if the team has no room. */
export const createApplyRoles =
  (ring: KeyRing, membersPerTeam: number) =>
  async (trx: Trx, provider: ScimProvider, author: Author): Promise<void> => {
    try {
      await provision(trx, { ring, membersPerTeam }, provider, author, null)
    } catch (error) {
      if (error instanceof ScimError && error.condition === 'full')
        throw fail('quota_exceeded', 'members', { limit: membersPerTeam })
      throw error
    }
  }
