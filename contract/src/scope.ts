// What an API token may be given: every scope that there is. A route cannot ask for another, by its type.
export const scopes = [
  'ipam:read',
  'ipam:write',
  'lighthouse:read',
  'team:read',
  'team:write',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
] as const
export type Scope = (typeof scopes)[number]
