// Users: people who sign in. Their memberships are in membership.ts.
import { roles } from '@pharos/contract/role'
import { staffRoles, type StaffRole } from '@pharos/contract/staff-role'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { publishedPassword } from '../../session/demo.ts'
import { objectionToPassword } from '../../session/password-policy.ts'
import { hashPassword, isPassword } from '../../session/password.ts'
import { revokeAllHoldings } from '../../team/holdings.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import type { Secret } from '../engine/kind.ts'
import {
  Country,
  FilePath,
  Flag,
  Name,
  Optional,
  Pattern,
  SecretText,
  Strict,
  TeamSlug,
  Text,
} from '../engine/schema.ts'
import { deleteRow, insertRows, updateRow } from '../engine/table.store.ts'

const Email = Pattern('^[^\\s@<>,;"\']{1,64}@[A-Za-z0-9.-]{1,189}$', { expects: 'an e-mail address' })
const Roles = Type.Array(Type.Enum([...roles], { expects: `one of ${roles.join(', ')}` }), {
  minItems: 1,
  maxItems: roles.length,
  uniqueItems: true,
  expects: `a list of roles: ${roles.join(', ')}`,
})
/** `true` is all rights, `[admin]`. */
const Staff = Type.Union(
  [
    Type.Boolean(),
    Type.Array(Type.Enum([...staffRoles]), { minItems: 1, maxItems: staffRoles.length, uniqueItems: true }),
  ],
  { expects: `true, false or a list of staff roles: ${staffRoles.join(', ')}` },
)
const PasswordHash = Pattern(
  '^\\$argon2id\\$v=19\\$[a-z0-9=,]{5,60}\\$[A-Za-z0-9+/]{11,200}\\$[A-Za-z0-9+/]{11,200}$',
  { expects: 'an argon2id hash such as $argon2id$v=19$m=19456,t=2,p=1$...' },
)

export const UserElement = Strict({
  email: Email,
  username: Optional(Name),
  first_name: Optional(Text),
  last_name: Optional(Text),
  display_name: Optional(Text),
  avatar_url: Optional(Text),
  country: Optional(Country),
  password: Optional(SecretText),
  password_hash: Optional(PasswordHash),
  password_file: Optional(FilePath),
  teams: Optional(
    Type.Array(Strict({ team: TeamSlug, admin: Optional(Flag), roles: Optional(Roles) }), {
      expects: 'a list of {team, roles}',
    }),
  ),
  staff: Optional(Staff),
  demo: Optional(Flag),
  confirmed: Optional(Flag),
})

const noStaff: readonly StaffRole[] = []

/** In the order of the table, so that the order in the file is no change. */
const staffRolesIn = (staff: boolean | readonly StaffRole[]): readonly StaffRole[] => {
  if (typeof staff === 'boolean') return staff ? ['admin'] : []
  return staffRoles.filter((role) => staff.includes(role))
}

const password: Secret = {
  name: 'password',
  alternatives: ['password_hash'],
  objectionTo(text, { email, demo }) {
    if (text === publishedPassword)
      return demo === true ? undefined : 'this password is published; choose another one, or set demo: true'
    const subject = { email: String(email), names: ['pharos'] }
    const objection = objectionToPassword(text, subject)
    return objection && `the password ${objection.msg}`
  },
  async store(text, stored) {
    return stored !== undefined && (await isPassword(stored, text)) ? stored : hashPassword(text)
  },
}

export const userKind = defineKind({
  name: 'user',
  plural: 'users',
  section: 'users',
  element: UserElement,
  table: {
    name: 'users',
    id: 'id',
    key: sql<string>`lower(r.email)`,
    select: { managed_by: sql.ref('t.managed_by') },
  },
  identity: ['email'],
  keyOf: ({ email }) => email.toLowerCase(),
  fields: {
    email: column('users', 'email'),
    username: column('users', 'username', { isShared: true }),
    first_name: column('users', 'first_name', { initial: '', isShared: true }),
    last_name: column('users', 'last_name', { initial: '', isShared: true }),
    display_name: column('users', 'display_name', { isShared: true }),
    avatar_url: column('users', 'avatar_url', { initial: '', isShared: true }),
    country: column('users', 'country', { initial: '', isShared: true }),
    staff: mapped('users', ['is_staff', 'staff_roles'], {
      read: ({ is_staff, staff_roles }): readonly StaffRole[] =>
        is_staff ? ((staff_roles as StaffRole[] | null) ?? ['admin']) : [],
      write: (held) => ({ is_staff: held.length > 0, staff_roles: held.length > 0 ? held : null }),
      initial: noStaff,
      isShown: true,
    }),
    demo: mapped('users', ['is_demo'], {
      read: ({ is_demo }) => is_demo,
      write: (demo) => ({ is_demo: demo }),
      initial: false,
      isShown: true,
    }),
    /** Whether the user is known to read the address. */
    confirmed: mapped('users', ['email_confirmed'], {
      read: ({ email_confirmed }): boolean => email_confirmed !== null,
      write: (confirmed, now) => ({ email_confirmed: confirmed ? now : null }),
      initial: true,
      isShared: true,
    }),
    password_hash: mapped('users', ['password_hash', 'password_chosen'], {
      read: ({ password_hash }) => password_hash,
      write: (password_hash) => ({ password_hash, password_chosen: null }),
      secret: password,
    }),
  },
  initialOf({ email = '', first_name = '', last_name = '' }) {
    const username = email.slice(0, email.indexOf('@'))
    return { username, display_name: [first_name, last_name].filter(Boolean).join(' ') || username }
  },
  stateOf: ({ managed_by, email_confirmed, password_chosen }) => ({
    isPrunable: managed_by === 'operator',
    setByOwner: [
      ...(email_confirmed === null ? [] : ['confirmed']),
      ...(password_chosen === null ? [] : ['password_hash']),
    ],
  }),
  outsideOfPortal: 'accounts are made by invitations, and staff by the operator',
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { teams: _, password: _text, password_file: _file, staff, ...fields } = element
      context.add(userKind, path, {
        ...fields,
        ...(staff === undefined ? {} : { staff: staffRolesIn(staff) }),
      })
      context.addSecret(userKind, 'password_hash', { path, element })
    }
  },
  async create(trx, created, now): Promise<void> {
    await insertRows(trx, userKind, created, now, { more: () => ({ managed_by: 'operator' }) })
  },
  async update(trx, change, now): Promise<void> {
    await updateRow(trx, userKind, change, now)
    if (change.fields.password_hash === undefined) return
    // Sessions that the old password has opened end.
    await sql`
      with signed_out as (
        update users set session_version = session_version + 1 where id = ${change.row.id} returning id)
      update sessions set revoked = now(), revoked_reason = 'the operator set another password'
      where user_id in (select id from signed_out) and revoked is null`.execute(trx)
  },
  async delete(trx, row): Promise<void> {
    // First: API tokens and invitations remain, without a reference to the user.
    await revokeAllHoldings(trx, row.id as number)
    await deleteRow(trx, userKind, row)
  },
})
