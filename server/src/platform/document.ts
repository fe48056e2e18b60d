// The operator's file as YAML: its value, and where each part of it stands. It knows nothing of what the file means.
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from 'yaml'
import type { Path, PlatformProblem } from './problem.ts'

export type PlatformDocument = {
  /** The plain value; undefined where the text cannot be read. */
  readonly value: unknown
  readonly problems: readonly PlatformProblem[]
  /** A mistake at the value of this path, or at the nearest thing around it that is there. */
  problemAt(path: Path, message: string): PlatformProblem
  /** A mistake at the name of a field, not at its value. */
  problemAtKey(path: Path, message: string): PlatformProblem
}

const largestText = 32 * 1024 * 1024

/** Reads YAML 1.2 with unique keys and without aliases. Never throws. */
export function readDocument(text: string): PlatformDocument {
  const lines = new LineCounter()
  const at = (offset: number, message: string): PlatformProblem => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1), message }
  }
  if (text.length > largestText) return unreadable([at(0, 'the file is larger than 32 MiB')])
  let document: Document.Parsed
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  } catch {
    // The reader is recursive: a text of brackets alone exhausts the stack.
    return unreadable([at(0, 'the file is nested too deeply')])
  }
  const problems = document.errors.map(({ pos, message }) => at(pos[0], sentence(message)))
  if (problems.length > 0) return unreadable(problems)
  const foreign = notPlain(document, at)
  if (foreign.length > 0) return unreadable(foreign)
  return {
    value: document.toJS() as unknown,
    problems: [],
    problemAt: (path, message) => at(startOf(document, path), message),
    problemAtKey: (path, message) => at(keyOf(document, path), message),
  }
}

function unreadable(problems: readonly PlatformProblem[]): PlatformDocument {
  const first = problems[0]!
  const there = (_: Path, message: string) => ({ ...first, message })
  return { value: undefined, problems, problemAt: there, problemAtKey: there }
}

type At = (offset: number, message: string) => PlatformProblem

/** Aliases and tags: what one line says must not depend on another line, or on a type of the reader. */
function notPlain(document: Document.Parsed, at: At): PlatformProblem[] {
  const problems: PlatformProblem[] = []
  visit(document, {
    Alias: (_, node) => void problems.push(at(node.range?.[0] ?? 0, 'write the value out, without an alias')),
    Node: (_, node) => {
      if (node.tag !== undefined) problems.push(at(node.range?.[0] ?? 0, `leave out the tag ${node.tag}`))
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value === 'string') return
      const range = isNode(key) ? key.range : undefined
      problems.push(at(range?.[0] ?? 0, 'the name of a field must be a text'))
    },
  })
  return problems
}

function startOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let start = 0
  for (let depth = 0; depth <= path.length; depth++) {
    if (!isNode(node)) break
    start = node.range?.[0] ?? start
    const step = path[depth]
    node = isMap(node) || isSeq(node) ? node.get(step, true) : undefined
  }
  return start
}

function keyOf(document: Document.Parsed, path: Path): number {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
  const name = path.at(-1)
  if (!isMap(parent)) return startOf(document, path)
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === name)
  return (isNode(pair?.key) ? pair.key.range?.[0] : undefined) ?? startOf(document, path)
}

/** The reader's words as the rest of a line: `Map keys must be unique` as `map keys must be unique`. */
function sentence(message: string): string {
  const first = message.split('\n')[0]!
  return first.charAt(0).toLowerCase() + first.slice(1)
}
