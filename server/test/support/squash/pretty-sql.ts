// Writes the expressions that PostgreSQL prints as a person would: lower case, without redundant casts and parentheses. Pure. The dump of
// the schema shows whether the result means the same.

type Group = { readonly open: '(' | '['; readonly nodes: Node[] }
type Node = string | Group

const tokenPattern =
  /'(?:[^']|'')*'|"[^"]*"|[A-Za-z_][\w$.]*|\d+(?:\.\d+)?|::|[-+*/<>=~!@#%^&|`?]+|[()[\],;.:]|\s+/g

/** `precedence` of what stands around an expression: 0 nothing, 1 or, 2 and, 3 not, 4 comparison, 5 other operators, 9 an atom. */
export function prettySql(text: string): string {
  const { nodes } = parse(normalise(text))
  const simple = simplify(nodes)
  return print(rangeOf(simple) ?? simple)
}

/** The columns of an index: an expression keeps its parentheses. */
export const prettyIndex = (columns: string): string => print(simplify(parse(normalise(columns)).nodes, true))

/** Replaces what has a shorter form; texts in quotes keep theirs. */
function normalise(text: string): string[] {
  const tokens = text.match(tokenPattern) ?? []
  if (tokens.join('') !== text) throw new Error(`not read: ${text}`)
  const words = tokens
    .filter((token) => token.trim() !== '')
    .map((token) => (/^['"]/.test(token) ? token : token.toLowerCase().replace(/^public\./, '')))
  return castless(words).map((word) => operators[word] ?? word)
}

const operators: Readonly<Record<string, string>> = { '~~': 'like', '!~~': 'not like', '~~*': 'ilike' }

const shortTypes: readonly (readonly [long: readonly string[], short: string])[] = [
  [['timestamp', 'with', 'time', 'zone'], 'timestamptz'],
  [['timestamp', 'without', 'time', 'zone'], 'timestamp'],
]

/** `'a'::text` is `'a'`, and `'-1'::integer` is -1. */
function castless(words: readonly string[]): string[] {
  const out: string[] = []
  for (let at = 0; at < words.length; at++) {
    const short = shortTypes.find(([long]) => long.every((word, index) => words[at + index] === word))
    const [word, type] = [words[at]!, words[at + 2] ?? '']
    const isCast = words[at + 1] === '::'
    const isDouble = words.slice(at, at + 6).join(' ') === `( ${words[at + 1]} ) :: double precision`
    if (isDouble && /^\d+$/.test(words[at + 1]!)) {
      out.push(words[at + 1]!)
      at += 5
      continue
    }
    if (short) {
      out.push(short[1])
      at += short[0].length - 1
    } else if (isCast && word.startsWith("'") && /^(text|bytea|character|jsonb|json|name)$/.test(type)) {
      out.push(word)
      at += 2
      if (words[at + 1] === '[' && words[at + 2] === ']') at += 2
    } else if (isCast && /^'-?\d+'$/.test(word) && /^(integer|bigint|smallint)$/.test(type)) {
      out.push(word.slice(1, -1))
      at += 2
    } else out.push(word)
  }
  return out
}

function parse(words: readonly string[]): Group {
  const stack: Group[] = [{ open: '(', nodes: [] }]
  for (const word of words)
    if (word === '(' || word === '[') stack.push({ open: word, nodes: [] })
    else if (word === ')' || word === ']') {
      const group = stack.pop()!
      stack.at(-1)!.nodes.push(group)
    } else stack.at(-1)!.nodes.push(word)
  return stack[0]!
}

const words0 = [
  'from',
  'join',
  'when',
  'then',
  'else',
  'end',
  'where',
  'using',
  'check',
  'case',
  ',',
  'select',
  'on',
  'default',
]
const comparisons = new Set([
  '=',
  '<>',
  '<',
  '>',
  '<=',
  '>=',
  'is',
  'in',
  'like',
  'not like',
  '~',
  '!~',
  '<@',
  '@>',
  '&&',
  '<<',
  'between',
  '<<=',
  '>>=',
])

const precedenceOf = (word: string): number => {
  if (words0.includes(word)) return 0
  if (word === 'or') return 1
  if (word === 'and') return 2
  if (word === 'not') return 3
  if (comparisons.has(word)) return 4
  return 5
}

const around = (node: Node | undefined): number =>
  node === undefined ? 0 : typeof node === 'string' ? (isOperator(node) ? precedenceOf(node) : 9) : 9

const isOperator = (word: string): boolean =>
  words0.includes(word) ||
  ['or', 'and', 'not', 'is', 'in', 'like', 'not like', 'between'].includes(word) ||
  /^[-+*/<>=~!@#%^&|:]+$/.test(word)

/** The loosest operator of an expression outside of parentheses and of case ... end; null if parentheses must stay. */
function loosest(nodes: readonly Node[]): number | null {
  let depth = 0
  let least = 9
  for (const [at, node] of nodes.entries()) {
    if (typeof node !== 'string') continue
    if (node === ',' || node === 'select' || node === 'values') return null
    if (node === 'case') depth++
    if (node === 'end') depth--
    if (depth > 0 || node === 'end') continue
    if (node === 'distinct' || node === 'null' || node === 'from') continue
    if (isOperator(node)) least = Math.min(least, node === '::' ? 8 : precedenceOf(node))
    else if (at > 0 && typeof nodes[at - 1] === 'string' && !isOperator(nodes[at - 1] as string))
      least = Math.min(least, 4)
  }
  return least
}

function simplify(nodes: readonly Node[], areColumns = false): Node[] {
  const inner = nodes.map((node) =>
    typeof node === 'string' ? node : { open: node.open, nodes: simplify(node.nodes) },
  )
  const out: Node[] = []
  for (const [at, node] of inner.entries()) {
    const [before, after] = [inner[at - 1], inner[at + 1]]
    if (typeof node === 'string' || node.open === '[' || isCall(before)) {
      out.push(node)
      continue
    }
    const range = rangeOf(node.nodes)
    if (range !== undefined && around(before) < 4 && around(after) < 4) {
      out.push(...range)
      continue
    }
    if (areColumns) {
      out.push(node)
      continue
    }
    const only = node.nodes.length === 1 ? node.nodes[0]! : undefined
    const isWrapped = only !== undefined && typeof only !== 'string' && only.open === '('
    const inside = isWrapped ? only.nodes : node.nodes
    const level = loosest(inside)
    const needed = Math.max(around(before), around(after))
    // `a or (b and c)` keeps its parentheses: it is easier to read.
    const isMixed = level === 2 && needed === 1
    if (level !== null && !isMixed && (level > needed || needed === 0)) out.push(...inside)
    else if (inside.length === 1 && typeof inside[0] !== 'string' && level !== null) out.push(...inside)
    else out.push({ open: '(', nodes: [...inside] })
  }
  return listed(out)
}

/** `x >= 1 and x <= 5` is `x between 1 and 5`, with which it was written if it is an expression of its own. */
function rangeOf(nodes: readonly Node[]): Node[] | undefined {
  const and = nodes.indexOf('and')
  const [low, high] = [nodes.indexOf('>='), nodes.indexOf('<=')]
  if (!(low > 0 && low < and && and < high) || nodes.lastIndexOf('and') !== and || nodes.includes('or'))
    return undefined
  const [left, right] = [nodes.slice(0, low), nodes.slice(and + 1, high)]
  if (print(left) !== print(right) || loosest(left)! <= 4) return undefined
  return [...left, 'between', ...nodes.slice(low + 1, and), 'and', ...nodes.slice(high + 1)]
}

/** `x = any (array['a', 'b'])` is `x in ('a', 'b')`. */
function listed(nodes: readonly Node[]): Node[] {
  const out: Node[] = []
  for (let at = 0; at < nodes.length; at++) {
    const list = nodes[at + 2]
    const isAny = nodes[at] === '=' && nodes[at + 1] === 'any'
    const isNone = nodes[at] === '<>' && nodes[at + 1] === 'all'
    const found =
      (isAny || isNone) && list !== undefined && typeof list !== 'string' ? itemsOf(list) : undefined
    if (found === undefined) out.push(nodes[at]!)
    else {
      out.push(...(isNone ? ['not'] : []), 'in', { open: '(', nodes: found })
      at += 2
    }
  }
  return out
}

function itemsOf({ nodes }: Group): Node[] | undefined {
  const [word, list] = nodes
  if (nodes.length !== 2 || word !== 'array' || list === undefined || typeof list === 'string')
    return undefined
  return list.nodes
}

const isCall = (before: Node | undefined): boolean =>
  typeof before === 'string' &&
  !isOperator(before) &&
  !before.startsWith("'") &&
  !/^\d/.test(before) &&
  before !== 'by'

/** A call has no space before its parenthesis, a list of `in` has one. */
function print(nodes: readonly Node[]): string {
  let text = ''
  for (const [at, node] of nodes.entries()) {
    const before = nodes[at - 1]
    const isTight =
      at === 0 ||
      node === ',' ||
      node === '::' ||
      node === ';' ||
      before === '::' ||
      node === '.' ||
      (typeof before === 'string' && before.endsWith('.')) ||
      (typeof node !== 'string' && (node.open === '[' || (isCall(before) && !spaced.has(before as string))))
    text += (isTight ? '' : ' ') + (typeof node === 'string' ? node : printGroup(node))
  }
  return text
}

const spaced = new Set([
  'distinct',
  'by',
  'any',
  'all',
  'exists',
  'with',
  'include',
  'key',
  'references',
  'unique',
  'gist',
  'btree',
  'gin',
  'update',
  'as',
])

const printGroup = ({ open, nodes }: Group): string =>
  open === '(' ? `(${print(nodes)})` : `[${print(nodes)}]`

/** Breaks a line at spaces outside of quotes, and indents what follows. */
export function wrap(text: string, indent = '  ', width = 150): string {
  if (text.length <= width) return text
  if (/\bcase\b.* when /.test(text)) {
    const parts = text.split(/ (?=(?:when|else) (?:[^']|'[^']*')*$)/)
    return parts
      .map((part, at) => wrap(at === 0 ? part : `${indent}${indent}${part}`, `${indent}${indent}  `, width))
      .join('\n')
  }
  const parts = text.match(/(?:'(?:[^']|'')*'|[^' ])+/g) ?? []
  const lines: string[] = []
  let line = /^ */.exec(text)![0].slice(1)
  for (const part of parts) {
    const next = line === '' ? part : `${line} ${part}`
    if (next.length > width && line.trim() !== '') {
      lines.push(line)
      line = indent + part
    } else line = next
  }
  return [...lines, line].join('\n')
}
