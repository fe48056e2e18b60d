// The audit: who did what to what.
import type { Route } from './route.ts'

export const auditRoutes: readonly Route[] = []
