// The stream. The messages of a caller depend on modules and scopes, any of which is enough: written here as a table.
import { staffHasGrant } from '@pharos/contract/staff-role'
import type { Identity } from './callers.ts'
import { only, type Outcome, type Subject } from './subject.ts'

const needs =
  (scopes: readonly string[]) =>
  (identity: Identity): Outcome => {
    if (!('team' in identity)) throw new Error(`${identity.kind} is accepted`)
    const { kind, scopes: held, isAdmin, isStaff, staffRoles } = identity
    const isOfOneType = scopes.length === 1
    // Messages about staff, for those who read the audit log, and about alert rules need no module.
    if (identity.team === 'bare') {
      const isReader = kind === 'user' ? isAdmin || isStaff : held.includes('alerts:read')
      return !isOfOneType && isReader ? 200 : 'module_disabled'
    }
    if (isStaff && isOfOneType && !staffHasGrant(staffRoles, 'lighthouse.see')) return 'forbidden'
    return kind === 'user' || scopes.some((scope) => held.includes(scope)) ? 200 : 'scope_missing'
  }

export const streamSubjects: readonly Subject[] = [
  {
    route: 'followStream',
    requests: only(),
    answers: (_which, identity) =>
      needs(['ipam:read', 'lighthouse:read', 'shield:read', 'dns:read', 'inventory:read', 'alerts:read'])(
        identity,
      ),
  },
  {
    route: 'followStream',
    form: 'of one type',
    requests: only({ query: { type: 'event.started' } }),
    answers: (_which, identity) => needs(['lighthouse:read'])(identity),
  },
  {
    route: 'followStream',
    form: 'of notifications',
    requests: only({ query: { type: 'notifications.changed' } }),
    answers: (_which, { kind }) => (kind === 'user' ? 200 : 'unauthenticated'),
  },
]
