// Finds the SQL statements in the sources and resolves the fragments in them, for check-statements.ts. It reads text, and
// skips what it cannot resolve (a fragment that is chosen at run time in another function).
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Statement = {
  readonly file: string
  readonly line: number
  /** With `$1`, `$2`, ... for values. */
  readonly text: string
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

/** The statements of one source file, and how many templates were skipped. */
export function statementsIn(file: string): { statements: Statement[]; skipped: number } {
  const source = read(file)
  const statements: Statement[] = []
  let skipped = 0
  for (const template of templatesIn(source)) {
    if (!/^\s*(with|select|insert|update|delete)\b/i.test(template.texts[0]!)) continue
    const line = source.slice(0, template.start).split('\n').length
    try {
      const text = render(template, file, { count: 0 })
      statements.push({ file, line, text, rowType: template.rowType })
    } catch (error) {
      if (!(error instanceof Unresolved)) throw error
      skipped++
    }
  }
  return { statements, skipped }
}

/** Comments are blanked, since they may contain backquotes. */
const read = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(/^[ \t]*(\/\/|\/\*\*|\*).*$/gm, (line) => ' '.repeat(line.length))

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

/** The index of the quote that closes the one at `at`. */
function past(source: string, quote: string, at: number): number {
  const end = source.indexOf(quote, at + 1)
  if (end < 0) throw new Unresolved('a string is not closed')
  return end
}

/** The index after the bracket that closes the one at `at`; strings and templates in between are skipped. */
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

type Counter = { count: number }

function render({ texts, values }: Template, file: string, counter: Counter): string {
  return texts
    .map((text, at) => text + (at < values.length ? resolve(values[at]!, file, counter) : ''))
    .join('')
}

/** The SQL of an interpolated expression: that of a fragment, else a parameter. */
function resolve(expression: string, file: string, counter: Counter): string {
  if (expression.startsWith('sql.lit(')) return '1'
  if (/^(sql\.|\w*[oO]rder\w*\()/.test(expression)) throw new Unresolved(expression)
  const [, called] = /^(\w+)\(/.exec(expression) ?? []
  if (called === 'jsonOf') return 'null::json'
  if (called === 'columns' || called === 'camelColumns') return selectList(expression, file, counter)
  if (called === 'withExpressions') return extendedList(expression, file, counter)
  const nested = templatesIn(expression)
  if (called === 'andAll') return nested.map((one) => `and ${render(one, file, counter)}`).join(' ')
  const [, name, isCall] = /^(\w+)(\()?/.exec(expression) ?? []
  const definition = name === undefined ? undefined : findDefinition(name, file)
  if (definition && (isCall || expression === name)) {
    const { text, file: home } = definition
    if (/^(columns|camelColumns|withExpressions|sql\b)/.test(text)) return resolve(text, home, counter)
    const [body] = templatesIn(text)
    if (body) return render(body, home, counter)
  }
  // Of several, the first: it is one of the statements that can run.
  if (nested[0]) return render(nested[0], file, counter)
  return `$${++counter.count}`
}

function selectList(call: string, file: string, counter: Counter): string {
  const [, alias, names, expressions] = argumentsOf(call)
  if (!names!.startsWith('[')) throw new Unresolved(names)
  const prefix = alias!.replaceAll("'", '')
  const columns = [...names!.matchAll(/'(\w+)'/g)].map(
    ([, name]) => `${prefix}.${name} as ${nameOf(call, name!)}`,
  )
  return [...columns, ...expressionsOf(expressions, file, counter)].join(', ')
}

const nameOf = (call: string, name: string): string =>
  call.startsWith('camel')
    ? `"${name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}"`
    : name

function extendedList(call: string, file: string, counter: Counter): string {
  const [list, expressions] = argumentsOf(call)
  return [resolve(list!, file, counter), ...expressionsOf(expressions, file, counter)].join(', ')
}

function expressionsOf(object: string | undefined, file: string, counter: Counter): string[] {
  if (object === undefined) return []
  return split(object.slice(1, -1)).map((entry) => {
    const [, name, value = name] = /^(\w+)(?::\s*([^]*))?$/.exec(entry.trim()) ?? []
    if (name === undefined) throw new Unresolved(entry)
    return `${resolve(value!, file, counter)} as "${name}"`
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
    else if ('([{'.includes(one)) depth++
    else if (')]}'.includes(one)) depth--
    else if (one === ',' && depth === 0) {
      parts.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  return [...parts, text.slice(from).trim()].filter((part) => part !== '')
}

/** Finds the definition of a name, from its initialiser or function to the next one, in the file that has it. */
function findDefinition(name: string, file: string): { text: string; file: string } | undefined {
  const source = read(file)
  const defined = new RegExp(
    `^(?:export )?(?:const ${name}\\b[^=]*?= |(?:async )?function ${name}\\()`,
    'm',
  ).exec(source)
  if (defined) {
    const rest = source.slice(defined.index + defined[0].length)
    return {
      text: rest.slice(0, /\n(?:export |const |function |async |type |\/\*\*|})/.exec(rest)?.index),
      file,
    }
  }
  const imported = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)'`).exec(source)
  return imported ? findDefinition(name, join(dirname(file), imported[1]!)) : undefined
}
