// Teams: the team itself, its members and its domains.
import type { Route } from './route.ts'

export const teamRoutes: readonly Route[] = []
