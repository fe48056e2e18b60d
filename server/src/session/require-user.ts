// The user of an operation on the caller's own account.
import { fail } from '../runtime/error.ts'
import type { Operation, UserActor } from '../operation/operation.ts'

/** Returns the actor if it is a user. Throws `unauthenticated` for an API token. */
export function requireUser({ actor }: Operation): UserActor {
  if (actor.kind === 'user') return actor
  throw fail('unauthenticated', 'personal')
}

export const userIdOf = (operation: Operation): number => requireUser(operation).userId
