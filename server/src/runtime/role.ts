// The roles of a process. One process may have several, and several processes the same one.
export const allRoles = ['api', 'reconciler', 'collector', 'nameserver'] as const
export type Role = (typeof allRoles)[number]
