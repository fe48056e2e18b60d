// Teams: the team itself and its members. Its domains are in domain.ts.
import { Type } from 'typebox'
import type { Route } from './route.ts'

/** A team in a path: its id, or `current` for the one that the credential works in. */
export const TeamInPath = Type.String({
  pattern: '^(current|[1-9][0-9]{0,14})$',
  maxLength: 15,
  description: 'id of a team, or `current`',
})

export const teamRoutes: readonly Route[] = []
