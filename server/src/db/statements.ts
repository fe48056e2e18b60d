// Finds the SQL statements in the sources and resolves the fragments in them, for check-statements.ts. It reads text,
// and skips fragments that it cannot resolve (an argument of the function).
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Statement = {
  readonly file: string
  readonly line: number
  /** The parts of its template, between the interpolated expressions. */
  readonly parts: readonly string[]
  /** With `$1`, `$2`, ... for values: a text for each way to resolve its fragments. Empty if a fragment is only known at run time. */
  readonly texts: readonly string[]
  /** The text between the angle brackets of `sql<...>`; undefined without them. */
  readonly rowType: string | undefined
}

type Template = {
  readonly start: number
  readonly end: number
  readonly rowType: string | undefined
  readonly texts: readonly string[]
  readonly values: readonly string[]
}

/** A fragment that is only known at run time. */
class Unresolved extends Error {}

/** The statements of one source file. */
export function statementsIn(file: string): Statement[] {
  sources.clear()
  const source = read(file)
  const templates = templatesIn(source).filter(({ texts }) =>
    /^\s*(with|select|insert|update|delete)\b/i.test(texts[0]!),
  )
  return templates.map((template) => ({
    file,
    line: source.slice(0, template.start).split('\n').length,
    parts: template.texts.map((text) => text.replaceAll('\\\\', '\\')),
    texts: textsOf(template, file),
    rowType: template.rowType,
  }))
}

function textsOf(template: Template, file: string): string[] {
  try {
    const before = template.start
    const texts = ([0, -1] as const).map((choice) =>
      render(template, { file, before, choice, parameters: { count: 0 } }),
    )
    return [...new Set(texts)]
  } catch (error) {
    if (error instanceof Unresolved) return []
    throw error
  }
}

/** The files that the statements of one file need. */
const sources = new Map<string, string>()

/** Comments are blanked, since they may contain backquotes. */
function read(file: string): string {
  const known = sources.get(file)
  if (known !== undefined) return known
  const source = readFileSync(file, 'utf8').replaceAll(/^[ \t]*(\/\/|\/\*\*|\*).*$/gm, (line) =>
    ' '.repeat(line.length),
  )
  sources.set(file, source)
  return source
}

/** The templates with the tag `sql`, outermost only. */
function templatesIn(source: string): Template[] {
  const found: Template[] = []
  const tag = /\bsql(?=[<`])/g
  for (let match = tag.exec(source); match; match = tag.exec(source)) {
    const open = source[tag.lastIndex] === '<' ? skip(source, tag.lastIndex, '<', '>') : tag.lastIndex
    const at = open + /^\s*/.exec(source.slice(open))![0].length
    if (source[at] !== '`') continue
    const rowType = open === tag.lastIndex ? undefined : source.slice(tag.lastIndex + 1, open - 1)
    const template = readTemplate(source, match.index, at, rowType)
    found.push(template)
    tag.lastIndex = template.end
  }
  return found
}

function readTemplate(
  source: string,
  start: number,
  backquote: number,
  rowType: string | undefined,
): Template {
  const [texts, values]: [string[], string[]] = [[], []]
  let from = backquote + 1
  for (let at = from; at < source.length; at++) {
    if (source[at] === '`') {
      texts.push(source.slice(from, at))
      return { start, end: at + 1, rowType, texts, values }
    }
    if (source.startsWith('${', at)) {
      texts.push(source.slice(from, at))
      const end = skip(source, at + 1, '{', '}')
      values.push(source.slice(at + 2, end - 1).trim())
      from = end
      at = end - 1
    }
  }
  throw new Unresolved('a template is not closed')
}

/** The index of the closing quote of the quote at `at`. */
function past(source: string, quote: string, at: number): number {
  const end = source.indexOf(quote, at + 1)
  if (end < 0) throw new Unresolved('a string is not closed')
  return end
}

/** The index after the closing bracket of the bracket at `at`; strings and templates in between are skipped. */
function skip(source: string, at: number, open: string, close: string): number {
  let depth = 0
  for (let i = at; i < source.length; i++) {
    const one = source[i]!
    if (one === "'" || one === '"') i = past(source, one, i)
    else if (one === '`') i = readTemplate(source, i, i, undefined).end - 1
    else if (one === open) depth++
    else if (one === close && source[i - 1] !== '=' && --depth === 0) return i + 1
  }
  throw new Unresolved(`${open} is not closed`)
}

type Scope = {
  readonly file: string
  /** The place in the file; local fragments are defined before it. */
  readonly before: number
  /**
   * Choice of fragments that are chosen at run time: the first (0) or the last (-1); each is in a statement that can
   * run.
   */
  readonly choice: 0 | -1
  /** Parameters so far. */
  readonly parameters: { count: number }
}

function render({ texts, values }: Template, scope: Scope): string {
  return texts.map((text, at) => text + (at < values.length ? resolve(values[at]!, scope) : '')).join('')
}

/** The SQL of an interpolated expression: that of a fragment, else a parameter. */
function resolve(expression: string, scope: Scope): string {
  if (expression.startsWith('sql.lit(')) return '1'
  if (/^\w*[oO]rder\w*\(/.test(expression)) return 'null::text'
  if (expression.startsWith('sql.')) throw new Unresolved(expression)
  const [, called] = /^(\w+)\(/.exec(expression) ?? []
  if (called === 'jsonOf') return 'null::json'
  if (called === 'columns') return selectList(expression, scope)
  if (called === 'withExpressions') return extendedList(expression, scope)
  const nested = templatesIn(expression)
  if (called === 'andAll') return nested.map((one) => `and ${render(one, scope)}`).join(' ')
  const [, name, isCall] = /^(\w+)(\()?/.exec(expression) ?? []
  const definition = name === undefined ? undefined : findDefinition(name, scope)
  if (definition && (isCall || expression === name)) {
    const { text, ...place } = definition
    const there = { ...scope, ...place }
    if (/^(columns|withExpressions|jsonOf|sql\b)/.test(text)) return resolve(text, there)
    const body = templatesIn(text).at(scope.choice)
    if (body) return render(body, there)
  }
  const chosen = nested.at(scope.choice)
  if (chosen) return render(chosen, scope)
  return `$${++scope.parameters.count}`
}

function selectList(call: string, scope: Scope): string {
  const [, alias, names, expressions] = argumentsOf(call)
  if (!names!.startsWith('[')) throw new Unresolved(names)
  const prefix = alias!.replaceAll("'", '')
  const columns = [...names!.matchAll(/'(\w+)'/g)].map(([, name]) => `${prefix}.${name} as ${name}`)
  return [...columns, ...expressionsOf(expressions, scope)].join(', ')
}

function extendedList(call: string, scope: Scope): string {
  const [list, expressions] = argumentsOf(call)
  return [resolve(list!, scope), ...expressionsOf(expressions, scope)].join(', ')
}

function expressionsOf(object: string | undefined, scope: Scope): string[] {
  if (object === undefined) return []
  return split(object.slice(1, -1)).map((entry) => {
    const [, name, value = name] = /^(\w+)(?::\s*([^]*))?$/.exec(entry.trim()) ?? []
    if (name === undefined) throw new Unresolved(entry)
    return `${resolve(value!, scope)} as "${name}"`
  })
}

const argumentsOf = (call: string): string[] => {
  const open = call.indexOf('(')
  return split(call.slice(open + 1, skip(call, open, '(', ')') - 1))
}

/** The parts between commas that are in no bracket, string or template. */
function split(text: string): string[] {
  const parts: string[] = []
  let [from, depth] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const one = text[at]!
    if (one === "'" || one === '"') at = past(text, one, at)
    else if (one === '`') at = readTemplate(text, at, at, undefined).end - 1
    else if (one === '<' && text.slice(0, at).endsWith('sql')) at = skip(text, at, '<', '>') - 1
    else if ('([{'.includes(one)) depth++
    else if (')]}'.includes(one)) depth--
    else if (one === ',' && depth === 0) {
      parts.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  return [...parts, text.slice(from).trim()].filter((part) => part !== '')
}

type Definition = Pick<Scope, 'file' | 'before'> & { readonly text: string }

/** Finds the definition of a name, from its initialiser or function to the next one, in the file that has it. */
function findDefinition(
  name: string,
  { file, before }: Pick<Scope, 'file' | 'before'>,
): Definition | undefined {
  const source = read(file)
  const local = findLocal(name, source, before)
  if (local) return { ...local, file }
  const defined = new RegExp(
    `^(?:export )?(?:const ${name}\\b[^=]*?= |(?:async )?function ${name}\\()`,
    'm',
  ).exec(source)
  if (defined) {
    const rest = source.slice(defined.index + defined[0].length)
    const call = /^(?:columns|withExpressions)\(/.exec(rest)
    const end = call
      ? skip(rest, call[0].length - 1, '(', ')')
      : /\n(?:export |const |function |async |type |\/\*\*|})/.exec(rest)?.index
    return { text: rest.slice(0, end), file, before: defined.index }
  }
  const imported = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)'`).exec(source)
  return imported ? findDefinition(name, { file: join(dirname(file), imported[1]!), before: 0 }) : undefined
}

/** Finds a fragment that is defined earlier in the same function, from its initialiser to the next statement. */
function findLocal(name: string, source: string, before: number): Omit<Definition, 'file'> | undefined {
  const inFunction = source.slice(0, before).lastIndexOf('\n}') + 1
  const found = [...source.slice(inFunction, before).matchAll(new RegExp(`^ +const ${name} =\\s+`, 'gm'))].at(
    -1,
  )
  if (!found) return undefined
  const from = inFunction + found.index + found[0].length
  const rest = source.slice(from)
  const text = rest.slice(0, /\n +(?:const|let|return|await|for|if) |\n}/.exec(rest)?.index)
  return templatesIn(text).length > 0 ? { text, before: inFunction + found.index } : undefined
}
