// Reads what a database does not keep from the files of migrations: comments above statements, and the texts of views. Pure.
import type { Sources } from './build.ts'

const statement = /^create (?:or replace )?(?:unique )?(function|table|view) (\w+)/

/** The last comment of each object wins, and the last text of each view. */
export function readSources(files: readonly { readonly sql: string }[]): Sources {
  const comments = new Map<string, string>()
  const views = new Map<string, string>()
  for (const { sql } of files) {
    const lines = sql.split('\n')
    for (const [at, line] of lines.entries()) {
      const [, kind, name] = statement.exec(line) ?? []
      if (kind === undefined) continue
      const comment = commentAbove(lines, at)
      if (comment !== '') comments.set(`${kind} ${name!}`, comment)
      if (kind !== 'view') continue
      const end = lines.findIndex((one, index) => index >= at && one.trimEnd().endsWith(';'))
      const text = lines.slice(at, end + 1).join('\n')
      views.set(name!, text.replace(/^create or replace /, 'create '))
    }
  }
  return { comments, views }
}

function commentAbove(lines: readonly string[], at: number): string {
  let first = at
  while (first > 0 && /^-- (?!phase: |runs with: )/.test(lines[first - 1]!)) first--
  // The first lines of a file describe the file.
  const isHead = first === 0 || /^-- (phase|runs with): /.test(lines[first - 1]!)
  return isHead ? '' : lines.slice(first, at).join('\n')
}
