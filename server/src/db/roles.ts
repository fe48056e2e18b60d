// The roles of memberships `m` and invitations `i` in SQL. The release before wrote `is_admin` only: the fallback is needed until migration
// 104 has run.
import type { Role } from '@pharos/contract/role'
import { sql } from 'kysely'

/** Null without a row, as of a left join. */
export const rolesOfMember = sql<Role[]>`coalesce(m.roles,
  case when m.is_admin then '{admin}' when not m.is_admin then '{editor}' end::text[])`

export const rolesOfInvitation = sql<Role[]>`coalesce(i.roles,
  case when i.is_admin then '{admin}' else '{editor}' end::text[])`
