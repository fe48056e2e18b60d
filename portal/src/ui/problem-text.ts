// The text of an error for a person: a problem by its code, or that the server is unreachable.
import { ProblemError } from '@pharos/contract/client'
import { isConnectionError } from '../api/connection.ts'
import { wordsOfProblem, type ProblemText } from './person-text.ts'
import { words } from './words.ts'

/** A refusal of the browser or a device, with its text for the user. */
export class DeviceError extends Error {
  readonly text: ProblemText
  constructor(text: ProblemText, cause: unknown) {
    super(text.title, { cause })
    this.text = text
  }
}

/** Returns the title and the detail of an error; for an error without an answer of the API, that the server is unreachable. */
export function problemText(error: unknown): ProblemText {
  if (error instanceof DeviceError) return error.text
  if (error instanceof ProblemError) return wordsOfProblem(error.problem)
  return isConnectionError(error) ? words.unreachable : words.unknownProblem
}
