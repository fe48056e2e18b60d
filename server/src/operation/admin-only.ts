// The refusal of callers without the admin role.
import { fail, type Failure } from '../runtime/error.ts'
import type { AnyActor } from './operation.ts'

/** Returns the 403. For an API token it names the scope of the operation as well, so that one new token is enough. */
export const adminOnly = (kind: AnyActor['kind'], scope?: string): Failure =>
  kind === 'token' ? fail('forbidden', 'tokenAdminOnly', { scope }) : fail('forbidden', 'adminOnly')
