// A subject of every-route.test.ts: an operation, the requests to send, and the expected responses.
import type { ProblemCode } from '@pharos/contract/problem'
import type { TestApi } from '../api.ts'
import type { Identity, Presented } from './callers.ts'
import type { FormPart } from './letters.ts'
import type { Holder, Fixtures } from './fixtures.ts'

/** The object of the request; `only` if the operation has no particular object. */
export type Which = 'only' | 'own' | 'foreign' | 'missing'

export type Context = {
  readonly api: TestApi
  readonly fixtures: Fixtures
  readonly identity: Identity
  readonly presented: Presented
}

export type SubjectRequest = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** A form, instead of a body. */
  readonly form?: readonly FormPart[]
}

export type Outcome = number | ProblemCode

export type Subject = {
  /** The operation, and its variant if it has several. */
  readonly route: string
  readonly form?: string
  readonly requests: Partial<Record<Which, (context: Context) => Promise<SubjectRequest>>>
  /** The status on success, or the problem code, for a caller that the permission allows. */
  readonly answers: (which: Which, identity: Identity) => Outcome
  /** Callers whose response covers all teams; `staff`: only staff, other callers get their own. */
  readonly ofAllTeams?: true | 'staff'
  /** The reason for each omitted kind of request. */
  readonly without?: Partial<Record<Which, string>>
}

export const missingId = 999_999_999

/** Returns the caller's team. Callers without a team are treated like callers of the team red. */
export function ownOf({ fixtures, identity }: Context): Holder {
  return 'team' in identity && identity.team === 'blue' ? fixtures.blue : fixtures.red
}

export function foreignOf(context: Context): Holder {
  return ownOf(context) === context.fixtures.red ? context.fixtures.blue : context.fixtures.red
}

export const only = (request: SubjectRequest = {}) => ({ only: async () => request })

export const absentIsNotFound = (which: Which) => (which === 'own' ? 200 : 'not_found')
