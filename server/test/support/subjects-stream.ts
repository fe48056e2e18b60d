// The stream. The messages of a caller depend on modules and scopes, any of which is enough: written here as a table.
import type { Identity } from './callers.ts'
import { only, type Outcome, type Subject } from './subject.ts'

const needs =
  (scopes: readonly string[]) =>
  (identity: Identity): Outcome => {
    if (!('team' in identity)) throw new Error(`${identity.kind} is accepted`)
    if (identity.team === 'bare') return 'module_disabled'
    const { kind, scopes: held } = identity
    return kind === 'user' || scopes.some((scope) => held.includes(scope)) ? 200 : 'scope_missing'
  }

export const streamSubjects: readonly Subject[] = [
  {
    route: 'followStream',
    requests: only(),
    answers: (_which, identity) =>
      needs(['ipam:read', 'lighthouse:read', 'shield:read', 'dns:read', 'inventory:read'])(identity),
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
