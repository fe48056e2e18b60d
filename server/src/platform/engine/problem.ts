// Problems of a platform document, with their positions. All are reported together, so that one run is enough to
// correct the document.

/** The path to a value in the document, such as `['regions', 2, 'location']`. */
export type Path = readonly (string | number)[]

/** One problem. Documents that are parsed from text add `line` and `column`, which count from 1. */
export type Problem = {
  readonly path: Path
  readonly message: string
  /** The problem is the name of the field, not its value. */
  readonly atKey?: boolean
  readonly line?: number
  readonly column?: number
}

/** `regions[2].location`; `document` for the empty path. */
export function printPath(path: Path): string {
  const steps = path.map((step, at) =>
    typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`,
  )
  return steps.join('') || 'document'
}

/** All problems of one document. The message has one line for each: `file:line:column: message`. */
export class PlatformError extends Error {
  readonly problems: readonly Problem[]

  constructor(document: string, problems: readonly Problem[]) {
    const sorted = problems.toSorted(
      (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    )
    super(sorted.map((problem) => `${document}:${placeOf(problem)}: ${problem.message}`).join('\n'))
    this.name = 'PlatformError'
    this.problems = sorted
  }
}

function placeOf({ line, column, path }: Problem): string {
  return line === undefined ? ` ${printPath(path)}` : `${line}:${column}`
}
