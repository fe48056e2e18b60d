// What the operator may write about a detector: its kind, and the settings that its kind takes. What they mean is said
// where they are used, in analysis; here the same reader is asked whether it takes them.
import { sourceOfKind, sources } from '../analysis/sources/index.ts'
import { NormaliseError } from '../analysis/sources/source.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import type { Path } from './problem.ts'

export type SourceProblem = { readonly path: Path; readonly message: string }

/** What is wrong with the kind or the settings of a source: the first thing that its deliveries would fail for. */
export function checkSource(
  kind: string,
  settings: Readonly<Record<string, unknown>>,
): readonly SourceProblem[] {
  const source = sourceOfKind(kind)
  if (!source) {
    const names = Object.keys(sources)
    const message = `there is no kind ${kind}${didYouMean(kind, names) || `; there are ${names.join(', ')}`}`
    return [{ path: ['kind'], message }]
  }
  try {
    source.createNormaliser(settings)
    return []
  } catch (error) {
    if (!(error instanceof NormaliseError)) throw error
    return [{ path: error.place.split('.'), message: wordsOf(error) }]
  }
}

/** `settings.country: two capital letters ...` as `country: two capital letters ...`. */
function wordsOf({ message }: NormaliseError): string {
  return message.replace(/^settings\./, '')
}
