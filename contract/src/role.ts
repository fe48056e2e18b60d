// The roles of a team and their grants, in one table: the permissions of routes, the texts of the portal, of mails and of the
// documentation are derived from it. Texts about roles are written nowhere else.
import { Type } from 'typebox'
import { Enumeration } from './scalar.ts'

export const roles = ['reader', 'editor', 'network', 'dns', 'billing', 'admin'] as const
export type Role = (typeof roles)[number]

export const RoleName = Enumeration('Role', roles)

export const roleLabels: Readonly<Record<Role, string>> = {
  reader: 'Reader',
  editor: 'Editor',
  network: 'Network',
  dns: 'DNS',
  billing: 'Billing',
  admin: 'Admin',
}

type GrantEntry = {
  /** Completes "A member …", in the third person. */
  readonly phrase: string
  /** The roles with the grant besides admin, which has all. */
  readonly roles: readonly Exclude<Role, 'admin'>[]
}

const entries = {
  'ipam.see': {
    phrase: 'sees announcements, letters of authorization and ASNs',
    roles: ['reader', 'editor', 'network', 'dns'],
  },
  'dns.see': { phrase: 'sees DNS zones and PTR records', roles: ['reader', 'editor', 'network', 'dns'] },
  'inventory.see': {
    phrase: 'sees prefixes, devices, ports, services and bills',
    roles: ['reader', 'editor', 'network', 'dns', 'billing'],
  },
  'report.see': { phrase: 'sees monthly reports', roles: ['reader', 'editor', 'network', 'billing'] },
  'lighthouse.see': { phrase: 'sees attacks and traffic', roles: ['reader', 'editor', 'network'] },
  'shield.see': { phrase: 'sees shield rules and black holes', roles: ['reader', 'editor', 'network'] },
  'alerts.see': {
    phrase: 'sees alert rules and the values that they watch',
    roles: ['reader', 'editor', 'network'],
  },
  'team.see': {
    phrase: 'sees members and domains',
    roles: ['reader', 'editor', 'network', 'dns', 'billing'],
  },
  'webhooks.see': {
    phrase: 'sees webhooks and their deliveries',
    roles: ['reader', 'editor', 'network', 'dns', 'billing'],
  },
  'ipam.operate': { phrase: 'announces and withdraws prefixes', roles: ['editor', 'network'] },
  'dns.edit': { phrase: 'changes DNS records and PTR records', roles: ['editor', 'network', 'dns'] },
  'events.review': { phrase: 'reviews attacks', roles: ['editor', 'network'] },
  'alerts.manage': { phrase: 'creates, changes and deletes alert rules', roles: ['editor', 'network'] },
  'inventory.order': {
    phrase: 'uploads letters of authorization of cross connects',
    roles: ['editor', 'network'],
  },
  'ipam.manage': {
    phrase: 'creates and deletes announcements, and uploads their letters of authorization',
    roles: ['network'],
  },
  'shield.apply': { phrase: 'applies shield rules and black holes', roles: ['network'] },
  'dns.manage': {
    phrase: 'creates, imports and deletes DNS zones, and changes their settings and DNSSEC',
    roles: ['dns'],
  },
  'billing.manage': { phrase: 'changes the address for invoices', roles: ['billing'] },
  'team.manage': { phrase: 'manages members, domains and the settings of the team', roles: [] },
  'views.share': {
    phrase: 'shares saved views with the team',
    roles: ['editor', 'network', 'dns', 'billing'],
  },
  'webhooks.manage': { phrase: 'manages webhooks', roles: [] },
  'tokens.manage': { phrase: 'manages API tokens', roles: [] },
  'audit.see': { phrase: 'reads the audit log', roles: [] },
} as const satisfies Readonly<Record<string, GrantEntry>>

export type Grant = keyof typeof entries
export const grants = Object.keys(entries) as readonly Grant[]

export const phraseOf = (grant: Grant): string => entries[grant].phrase

/** Returns the roles with the grant, in the order of `roles`. */
export const rolesWith = (grant: Grant): readonly Role[] => [...entries[grant].roles, 'admin']

const holders = new Map(grants.map((grant) => [grant, new Set(rolesWith(grant))]))

/** Returns whether any of the roles has the grant. */
export const hasGrant = (held: readonly Role[], grant: Grant): boolean =>
  held.some((role) => holders.get(grant)!.has(role))

export const grantsOf = (held: readonly Role[]): readonly Grant[] =>
  grants.filter((grant) => hasGrant(held, grant))

/** The role that API tokens have within their scopes; tokens with `is_admin` have the role admin. */
export const tokenRole = (isAdmin: boolean): Role => (isAdmin ? 'admin' : 'editor')

/** Reports whether an API token needs `is_admin` for the grant. */
export const isForAdminTokens = (grant: Grant): boolean => !hasGrant([tokenRole(false)], grant)

/** Returns the roles without duplicates, in the order of `roles`. */
export const orderedRoles = (held: readonly Role[]): Role[] => roles.filter((role) => held.includes(role))

export const rolesText = (held: readonly Role[]): string => held.map((role) => roleLabels[role]).join(', ')

/** Returns the roles that would do, such as `the role Network or Admin`. */
export const neededRole = (grant: Grant): string =>
  `the role ${choices(rolesWith(grant).map((role) => roleLabels[role]))}`

/** Joins words with commas and `or`. */
export const choices = (words: readonly string[]): string =>
  words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`

/** Returns what a member with the roles may do, as sentences made of the phrases of the grants. */
export function describeRoles(held: readonly Role[]): string {
  const own = grantsOf(held)
  if (own.length === grants.length) {
    const exclusive = own.filter((grant) => rolesWith(grant).length === 1)
    return `Has the rights of all other roles, and ${lastWithAnd(exclusive.map(phraseOf))}.`
  }
  const changing = own.filter((grant) => !isForReading(grant)).map(phraseOf)
  const seen = own.filter(isForReading).map((grant) => phraseOf(grant).replace(/^sees /, ''))
  const changes = changing.length === 0 ? 'Changes nothing' : capital(changing.join('; '))
  return `${changes}. Sees ${seen.join('; ')}.`
}

/** Returns whether all operations of the grant only read. */
export const isForReading = (grant: Grant): boolean => grant.endsWith('.see')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const lastWithAnd = (parts: readonly string[]): string =>
  `${parts.slice(0, -1).join('; ')}; and ${parts.at(-1)!}`

/** The roles of a member if an admin has not chosen any. */
export const defaultRoles = [
  'reader',
  'editor',
  'network',
  'dns',
  'billing',
] as const satisfies readonly Exclude<Role, 'admin'>[]
export type DefaultRole = (typeof defaultRoles)[number]

/** Roles of a member in a body or an answer. */
export const RoleNames = Type.Array(RoleName, {
  minItems: 1,
  maxItems: roles.length,
  uniqueItems: true,
  description: 'roles in the team; listRoles has their grants',
})
