// The closed list of scopes of API tokens; the type of a route admits no other.
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
