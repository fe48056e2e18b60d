// Texts of the server for people: the words of a problem by its code, and whether a sentence is free of names that only
// programs use. Pure.
import type { Problem } from '@pharos/contract/problem'
import { words } from './words.ts'

export type ProblemText = { readonly title: string; readonly detail: string }

/** Returns the words of a problem; its own detail only if it says more than the text here and is written for people. */
export function wordsOfProblem({ code, detail: sent }: Problem): ProblemText {
  const known = words.problems[code]
  // A newer server may have codes that this page does not know.
  if (known === undefined) return words.unknownProblem
  const { title, detail, takesDetail } = known
  return { title, detail: takesDetail && isForPeople(sent) ? sent : detail }
}

/** Reports whether a text names no path, key, field or null. */
export const isForPeople = (text: string): boolean =>
  text !== '' &&
  !/`|\/v\d\b|\/docs\b|\bnull\b|\b[a-z0-9]+_[a-z0-9_]+\b|\bIdempotency-Key\b|\bETag\b/.test(text)
