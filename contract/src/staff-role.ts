// The roles of the provider's staff and their grants, in one table: the permissions of /v3/admin, what staff may do in the team of a
// customer, the pages of the portal and the documentation are derived from it.
import { Type, type Static } from 'typebox'
import { choices, hasGrant, isForReading, type Grant, type Role } from './role.ts'
import { Component, Enumeration, Id, Nullable, NullableTime, Time } from './scalar.ts'

export const staffRoles = ['reader', 'billing', 'noc', 'admin'] as const
export type StaffRole = (typeof staffRoles)[number]

export const StaffRoleName = Enumeration('StaffRole', staffRoles)

export const staffRoleLabels: Readonly<Record<StaffRole, string>> = {
  reader: 'Reader',
  billing: 'Billing',
  noc: 'NOC',
  admin: 'Admin',
}

type StaffGrantEntry = {
  /** Completes "An employee …", in the third person. */
  readonly phrase: string
  /** The roles with the grant besides admin, which has all. */
  readonly roles: readonly Exclude<StaffRole, 'admin'>[]
}

const entries = {
  'customers.see': {
    phrase: 'sees customers, their cross connects and bills',
    roles: ['reader', 'billing', 'noc'],
  },
  'operator.see': {
    phrase:
      'sees the inbox, the state of the installation, regions, devices, attacks, approvals, letters, ASNs, detectors, registries, restores, users, mails and the audit log of all customers',
    roles: ['reader', 'noc'],
  },
  'requests.decide': {
    phrase: 'decides about approvals, letters and ASNs, and suspends announcements',
    roles: ['noc'],
  },
  'network.operate': {
    phrase: 'drains routers, and operates devices, their attachments and cross connects',
    roles: ['noc'],
  },
  'platform.manage': {
    phrase:
      'applies the platform file, changes elements of the platform, invites the first admin of a customer and decides about restores',
    roles: [],
  },
  'staff.see': {
    phrase: 'sees who of the staff entered which customer, and why, and who has which rights',
    roles: [],
  },
} as const satisfies Readonly<Record<string, StaffGrantEntry>>

export type StaffGrant = keyof typeof entries
export const staffGrants = Object.keys(entries) as readonly StaffGrant[]

export const isStaffGrant = (grant: string): grant is StaffGrant => Object.hasOwn(entries, grant)

export const phraseOfStaffGrant = (grant: StaffGrant): string => entries[grant].phrase

/** Returns the staff roles with the grant, in the order of `staffRoles`. */
export const staffRolesWith = (grant: StaffGrant): readonly StaffRole[] => [...entries[grant].roles, 'admin']

export const hasStaffGrant = (held: readonly StaffRole[], grant: StaffGrant): boolean =>
  staffRolesWith(grant).some((role) => held.includes(role))

/** Returns the staff roles that would do, such as `the staff role NOC or Admin`. */
export const neededStaffRole = (grant: StaffGrant): string =>
  `the staff role ${choices(staffRolesWith(grant).map((role) => staffRoleLabels[role]))}`

/** What an employee may do in the team of a customer: the grants of these roles of the team. */
const teamRolesOf: Readonly<Record<StaffRole, 'every *.see' | readonly Role[]>> = {
  reader: 'every *.see',
  billing: ['billing'],
  noc: ['network', 'dns'],
  admin: ['admin'],
}

/** Returns whether staff with these roles have the grant in the team of a customer that they have entered. */
export const staffHasGrant = (held: readonly StaffRole[], grant: Grant): boolean =>
  held.some((role) => {
    const roles = teamRolesOf[role]
    return roles === 'every *.see' ? isForReading(grant) : hasGrant(roles, grant)
  })

/** Returns the staff roles that have the grant in the team of a customer, such as `the staff role NOC or Admin`. */
export const neededStaffRoleInTeam = (grant: Grant): string =>
  `the staff role ${choices(staffRoles.filter((role) => staffHasGrant([role], grant)).map((role) => staffRoleLabels[role]))}`

/** Limits of a staff access. */
export const staffAccessLimits = { reasonMin: 10, reasonMax: 500, hoursMax: 8 } as const

export const StaffAccess = Component('StaffAccess', {
  id: {
    ...Id,
    description: 'id of the staff access: the credential `staff_access:<id>` of its audit entries',
  },
  team_id: { ...Id, description: 'id of the team' },
  reason: Type.String({ description: 'why the team was entered; the team reads it' }),
  ticket: Nullable(Type.String({ description: 'number of a ticket' })),
  change: Type.Boolean({ description: 'whether operations that change something are allowed' }),
  opened: { ...Time, description: 'when it was opened' },
  expires: { ...Time, description: 'when it ends by itself' },
  ended: {
    ...NullableTime,
    description: 'when it ended: closed, replaced, or expired; null while it is open',
  },
})
export type StaffAccess = Static<typeof StaffAccess>
