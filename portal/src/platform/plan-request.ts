// Requests the plan of changes, and applies exactly these changes. An error belongs to the field of the element that it names.
import { ProblemError } from '@pharos/contract/client'
import {
  changePlatformRoute,
  listPlatformElementsRoute,
  type PlatformPlan,
} from '@pharos/contract/operator/platform'
import { listCustomersRoute } from '@pharos/contract/operator/team'
import type { BodyOf } from '@pharos/contract/route'
import { call, resultOf } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'

export type Changes = BodyOf<typeof changePlatformRoute>['changes']

export async function planChanges(changes: Changes): Promise<PlatformPlan> {
  try {
    const { body } = await call(changePlatformRoute, {
      body: { changes },
      query: { dry_run: true } as object,
    })
    return resultOf<PlatformPlan>(body)
  } catch (error) {
    throw error instanceof ProblemError ? atFields(error) : error
  }
}

/** `plan`: the plan that was shown; its deletions are the ones that are approved. */
export async function applyChanges(changes: Changes, { held, evidence }: PlatformPlan): Promise<void> {
  const deletions = held.reduce((sum, one) => sum + one.deletions, 0)
  await call(changePlatformRoute, {
    body: { changes },
    query: evidence === null ? {} : { deletions, evidence },
  })
  await invalidate(listPlatformElementsRoute, listCustomersRoute)
}

/** The depth of a field in `body.changes.0.values.settings.port`. */
const fieldDepth = 5

/** A place inside of a field is a part of the text: `interfaces.0.name is required`. */
function atFields({ problem, retryAfterSeconds }: ProblemError): ProblemError {
  const errors = problem.errors?.map((one) => {
    const inside = one.loc.slice(fieldDepth).join('.')
    return {
      ...one,
      loc: one.loc.slice(0, fieldDepth),
      msg: inside === '' ? one.msg : `${inside}: ${one.msg}`,
    }
  })
  return new ProblemError({ ...problem, ...(errors ? { errors } : {}) }, retryAfterSeconds)
}
