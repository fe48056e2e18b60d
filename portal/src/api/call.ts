// Calls the API with the tab's access token, renewed when needed.
import { createClient, ProblemError, type Answer, type CallInput } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { ensureAccess, renewAccess } from './session.ts'

let bearer: string | undefined
const send = createClient({ baseUrl: '', credential: () => (bearer === undefined ? undefined : { bearer }) })

/** Calls an operation as the signed-in user. A 401 is tried once more with a new token. Throws ProblemError. */
export async function call<R extends Route>(route: R, input: CallInput<R>): Promise<Answer<R>> {
  const token = await ensureAccess()
  try {
    return await sendAs(token, route, input)
  } catch (error) {
    if (token === undefined || !(error instanceof ProblemError) || error.problem.status !== 401) throw error
    return sendAs(await renewAccess(token), route, input)
  }
}

/** The credential is read by the client when the call starts, before anything is awaited. */
function sendAs<R extends Route>(
  token: string | undefined,
  route: R,
  input: CallInput<R>,
): Promise<Answer<R>> {
  bearer = token
  return send(route, input)
}

/** Without a credential, such as a reset of the password. */
export function callAsGuest<R extends Route>(route: R, input: CallInput<R>): Promise<Answer<R>> {
  return sendAs(undefined, route, input)
}

/** Returns the result of an answer to a dry run. */
export const resultOf = <Result>(body: unknown): Result => (body as { readonly result: Result }).result
