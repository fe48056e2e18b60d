// The roles of memberships `m`, invitations `i` and staff `u` in SQL. The release before wrote `is_admin` only: the fallback is needed until migration
// 104 has run.
import type { Role } from '@pharos/contract/role'
import type { StaffRole } from '@pharos/contract/staff-role'
import { sql } from 'kysely'

/** Null without a row, as of a left join. */
export const rolesOfMember = sql<Role[]>`coalesce(m.roles,
  case when m.is_admin then '{admin}' when not m.is_admin then '{editor}' end::text[])`

export const rolesOfInvitation = sql<Role[]>`coalesce(i.roles,
  case when i.is_admin then '{admin}' else '{editor}' end::text[])`

/** Roles of the provider's staff, of users `u`. The release before wrote `is_staff` only: its staff are admins. */
export const staffRolesOf = sql<
  StaffRole[]
>`case when u.is_staff then coalesce(u.staff_roles, '{admin}') else '{}' end`
