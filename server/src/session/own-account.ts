// Whose account an operation is about that is about the caller's own.
import { fail } from '../runtime/error.ts'
import type { Operation, UserActor } from '../operation/operation.ts'

/** These operations take the web application's bearer only. */
export function personOf({ actor }: Operation): UserActor {
  if (actor.kind === 'user') return actor
  throw fail('unauthenticated', 'personal')
}

export const userIdOf = (operation: Operation): number => personOf(operation).userId
