// The text of a problem for a person. The API's own `help` is written for programmers and is not shown here.
import { ProblemError } from '@pharos/contract/client'
import { isConnectionError } from '../api/connection.ts'

export type ProblemText = { readonly title: string; readonly detail: string }

/** Returns the title and the detail of an error; for an error without an answer of the API, that the server is unreachable. */
export function problemText(error: unknown): ProblemText {
  if (error instanceof ProblemError) return error.problem
  if (isConnectionError(error))
    return {
      title: 'Cannot reach the server',
      detail: 'Check your connection. Data on this page may be out of date.',
    }
  return { title: 'Something went wrong', detail: 'Reload the page and try again.' }
}
