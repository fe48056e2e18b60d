// The roles of memberships and invitations in SQL.
import type { Role } from '@pharos/contract/role'
import { sql, type RawBuilder } from 'kysely'

/**
 * The roles of a row `alias`; null without a row, as of a left join. The release before wrote `is_admin` only: the fallback is needed
 * until migration 104 has run.
 */
export const rolesIn = (alias: string): RawBuilder<Role[]> => {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql<Role[]>`coalesce(${column('roles')},
    case ${column('is_admin')} when true then '{admin}' when false then '{editor}' end::text[])`
}
