// A platform document: a value, and the position of each part in the source text, if any. It must not
// interpret the document.
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from 'yaml'
import { printPath, type Path, type Problem } from './problem.ts'

export type PlatformDocument = {
  /** For messages: the path of the file. */
  readonly name: string
  /** The path of the file; null for a document without one. */
  readonly file: string | null
  /** The plain value; undefined if the text could not be parsed. */
  readonly value: unknown
  /** Problems of the text itself. */
  readonly problems: readonly Problem[]
  /** Adds line and column of the value or, if it is missing, of the nearest part around it. */
  locate(problem: Problem): Problem
  /** `on line 3`, or `at teams[2]` if there is no text. */
  describePlace(path: Path): string
}

/** A document without text, such as the body of a request. */
export function documentOf(name: string, value: unknown): PlatformDocument {
  return {
    name,
    file: null,
    value,
    problems: [],
    locate: (problem) => problem,
    describePlace: (path) => `at ${printPath(path)}`,
  }
}

const textLengthMax = 32 * 1024 * 1024

/** Parses YAML 1.2 with unique keys, without aliases and tags. Never throws. */
export function parseYaml(name: string, text: string): PlatformDocument {
  const lines = new LineCounter()
  const at = (offset: number, message: string): Problem => {
    const { line, col } = lines.linePos(offset)
    return { path: [], message, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  if (text.length > textLengthMax) return unreadable(name, [at(0, 'the file is larger than 32 MiB')])
  let document: Document.Parsed
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  } catch {
    // The parser is recursive: a text of brackets alone exhausts the stack.
    return unreadable(name, [at(0, 'the file is nested too deeply')])
  }
  const problems = document.errors.map(({ pos, message }) => at(pos[0], firstLine(message)))
  if (problems.length > 0) return unreadable(name, problems)
  const unsupported = findUnsupported(document, at)
  if (unsupported.length > 0) return unreadable(name, unsupported)
  const offsetOf = ({ path, atKey }: Pick<Problem, 'path' | 'atKey'>) =>
    atKey ? offsetOfKey(document, path) : offsetOfValue(document, path)
  return {
    name,
    file: name,
    value: document.toJS() as unknown,
    problems: [],
    locate: (problem) => ({ ...at(offsetOf(problem), problem.message), path: problem.path }),
    describePlace: (path) => `on line ${at(offsetOf({ path }), '').line}`,
  }
}

function unreadable(name: string, problems: readonly Problem[]): PlatformDocument {
  const { line, column } = problems[0]!
  const place = { line: line!, column: column! }
  return {
    name,
    file: name,
    value: undefined,
    problems,
    locate: (problem) => ({ ...problem, ...place }),
    describePlace: () => `on line ${line}`,
  }
}

type At = (offset: number, message: string) => Problem

/** Finds aliases and tags: the meaning of a line must not depend on another line or on a type of the parser. */
function findUnsupported(document: Document.Parsed, at: At): Problem[] {
  const problems: Problem[] = []
  const add = (range: readonly [number, ...unknown[]] | null | undefined, message: string) =>
    void problems.push(at(range?.[0] ?? 0, message))
  visit(document, {
    Alias: (_, { range }) => add(range, 'aliases are not supported; repeat the value'),
    Node: (_, { tag, range }) => {
      if (tag !== undefined) add(range, `tags are not supported; remove ${tag}`)
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value === 'string') return
      add(isNode(key) ? key.range : undefined, 'the name of a field must be a string')
    },
  })
  return problems
}

function offsetOfValue(document: Document.Parsed, path: Path): number {
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

function offsetOfKey(document: Document.Parsed, path: Path): number {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
  const name = path.at(-1)
  if (!isMap(parent)) return offsetOfValue(document, path)
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === name)
  return (isNode(pair?.key) ? pair.key.range?.[0] : undefined) ?? offsetOfValue(document, path)
}

/** The parser's message as the rest of a line: `Map keys must be unique` as `map keys must be unique`. */
function firstLine(message: string): string {
  const first = message.split('\n')[0]!
  return first.charAt(0).toLowerCase() + first.slice(1)
}
