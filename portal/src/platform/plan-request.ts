// Requests the plan of changes, and applies exactly these changes. An error belongs to the field of the element that it names.
import { ProblemError } from '@pharos/contract/client'
import {
  changePlatformRoute,
  listPlatformElementsRoute,
  type PlatformPlan,
} from '@pharos/contract/operator/platform'
import { getSetupProgressRoute } from '@pharos/contract/operator/setup'
import { listCustomersRoute } from '@pharos/contract/operator/team'
import { call, resultOf } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { formPlace, type Changes, type FormChange } from './form-change.ts'

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

/** The plan of the changes of a form; an error is at its field. */
export async function planForm(
  form: readonly FormChange[],
): Promise<{ readonly changes: Changes; readonly plan: PlatformPlan }> {
  const changes = form.map(({ change }) => change)
  try {
    return { changes, plan: await planChanges(changes) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const errors = error.problem.errors?.map((one) => ({ ...one, loc: formPlace(form, one.loc) }))
    throw new ProblemError({ ...error.problem, ...(errors ? { errors } : {}) }, error.retryAfterSeconds)
  }
}

/** Plans and applies what creates elements only, and needs no review. */
export async function applyForm(form: readonly FormChange[]): Promise<void> {
  const { changes, plan } = await planForm(form)
  await applyChanges(changes, plan)
}

/** `plan`: the plan that was shown; its deletions are the ones that are approved. */
export async function applyChanges(changes: Changes, { held, evidence }: PlatformPlan): Promise<void> {
  const deletions = held.reduce((sum, one) => sum + one.deletions, 0)
  await call(changePlatformRoute, {
    body: { changes },
    query: evidence === null ? {} : { deletions, evidence },
  })
  await invalidate(listPlatformElementsRoute, listCustomersRoute, getSetupProgressRoute)
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
