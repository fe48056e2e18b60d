// What is wrong with the operator's file, and where: everything at once, so that one run is enough to repair it.

/** One mistake; `line` and `column` count from 1. */
export type PlatformProblem = { readonly line: number; readonly column: number; readonly message: string }

/** The way to a value in the file: `['regions', 2, 'location']`. */
export type Path = readonly (string | number)[]

/** All mistakes of one file. The message is what the operator reads: `file:line:column: what`, one a line. */
export class PlatformError extends Error {
  readonly problems: readonly PlatformProblem[]

  constructor(file: string, problems: readonly PlatformProblem[]) {
    const sorted = problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
    super(sorted.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`).join('\n'))
    this.name = 'PlatformError'
    this.problems = sorted
  }
}
