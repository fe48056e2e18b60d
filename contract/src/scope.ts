// The closed lists of scopes; the type of a route admits no other.
import { Enumeration } from './scalar.ts'

/** Scopes of the API tokens of a team. */
export const scopes = [
  'ipam:read',
  'ipam:write',
  'dns:read',
  'dns:write',
  'inventory:read',
  'lighthouse:read',
  'lighthouse:write',
  'shield:read',
  'shield:write',
  'alerts:read',
  'alerts:write',
  'team:read',
  'team:write',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
] as const

/** Scopes of staff tokens, the credentials of the provider's own programs. They open operations of staff only. */
export const staffScopes = ['admin:read', 'admin:write'] as const
export type StaffScope = (typeof staffScopes)[number]

export const ScopeName = Enumeration('Scope', scopes)
export type Scope = (typeof scopes)[number]

/** How many of the operations of a scope need a token with `is_admin` too. */
export type AdminNeed = 'all' | 'some' | 'none'

/** By scope, as the permissions of the routes are; `scope.test.ts` compares them. Texts about scopes are made with it. */
export const adminNeeds: Readonly<Record<Scope, AdminNeed>> = {
  'ipam:read': 'none',
  'ipam:write': 'some',
  'dns:read': 'none',
  'dns:write': 'some',
  'inventory:read': 'none',
  'lighthouse:read': 'none',
  'lighthouse:write': 'none',
  'shield:read': 'none',
  'shield:write': 'all',
  'alerts:read': 'none',
  'alerts:write': 'none',
  'team:read': 'none',
  'team:write': 'some',
  'webhooks:read': 'none',
  'webhooks:write': 'all',
  'audit:read': 'all',
}
