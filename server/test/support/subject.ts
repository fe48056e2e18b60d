// A subject of the test of every route: an operation, the requests it is tried with, and the expected answers.
import type { ProblemCode } from '@pharos/contract/problem'
import type { TestApi } from '../api.ts'
import type { Identity, Presented } from './callers.ts'
import type { FormPart } from './letters.ts'
import type { Holder, World } from './world.ts'

/** `only`: the operation is about no particular object. */
export type Which = 'only' | 'own' | 'foreign' | 'missing'

export type Context = {
  readonly api: TestApi
  readonly world: World
  readonly identity: Identity
  readonly presented: Presented
}

export type SubjectRequest = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** A form, in the place of a body. */
  readonly form?: readonly FormPart[]
}

export type Outcome = number | ProblemCode

export type Subject = {
  /** The operation, and where it has several forms, which one. */
  readonly route: string
  readonly form?: string
  readonly requests: Partial<Record<Which, (context: Context) => Promise<SubjectRequest>>>
  /** Status of the success or code of the problem, for a caller that the permission lets pass. */
  readonly answers: (which: Which, identity: Identity) => Outcome
  /** Callers for whom the answer covers all teams; `staff`: only staff, others get their own. */
  readonly ofAllTeams?: true | 'staff'
  /** Why there is no request of a kind, for the kinds that are left out. */
  readonly without?: Partial<Record<Which, string>>
}

export const missingId = 999_999_999

/** The modules of the caller's team. Callers without one are treated like callers of the team red. */
export function ownOf({ world, identity }: Context): Holder {
  return 'team' in identity && identity.team === 'blue' ? world.blue : world.red
}

export function foreignOf(context: Context): Holder {
  return ownOf(context) === context.world.red ? context.world.blue : context.world.red
}

export const only = (request: SubjectRequest = {}) => ({ only: async () => request })

export const absentIsNotFound = (which: Which) => (which === 'own' ? 200 : 'not_found')
