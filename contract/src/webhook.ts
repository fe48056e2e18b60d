// Webhooks: what happens is told to an address of the team, by the Standard Webhooks specification.
import type { Route } from './route.ts'

export const webhookRoutes: readonly Route[] = []
