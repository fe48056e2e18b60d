// The permissions of a new API token: scopes in two groups, presets of them, and a request that tries the token. Pure.
import { scopes, type Scope } from '@pharos/contract/scope'

export const readScopes: readonly Scope[] = scopes.filter((scope) => scope.endsWith(':read'))
export const writeScopes: readonly Scope[] = scopes.filter((scope) => scope.endsWith(':write'))

export type PresetName = 'read' | 'terraform' | 'monitoring' | 'none'

/** `isAdmin`: only admins may create the objects of Terraform. */
export const presets: Record<PresetName, { readonly scopes: readonly Scope[]; readonly isAdmin: boolean }> = {
  read: { scopes: readScopes.filter((scope) => scope !== 'audit:read'), isAdmin: false },
  terraform: {
    scopes: ['ipam:read', 'ipam:write', 'inventory:read', 'team:read', 'webhooks:read', 'webhooks:write'],
    isAdmin: true,
  },
  monitoring: { scopes: ['ipam:read', 'inventory:read', 'lighthouse:read'], isAdmin: false },
  none: { scopes: [], isAdmin: false },
}

/** A request with a small answer for each scope that reads without a role. */
const samples: Partial<Record<Scope, string>> = {
  'ipam:read': '/v3/ipam/announcements?limit=1',
  'team:read': '/v3/teams/current',
  'webhooks:read': '/v3/webhooks?limit=1',
}
/** Permitted for every token. */
const anySample = '/v3/session/token'

/** Returns a command that calls this server with the token and succeeds. */
export function curlOf(origin: string, token: string, granted: readonly Scope[]): string {
  const scope = granted.find((one) => samples[one] !== undefined)
  const path = scope === undefined ? anySample : samples[scope]!
  return `curl -H 'Authorization: Token ${token}' '${origin}${path}'`
}
