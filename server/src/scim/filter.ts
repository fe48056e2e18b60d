// Filters and paths of SCIM (RFC 7644, 3.4.2.2 and 3.5.2): `eq`, `and` and parentheses, which is what identity providers send. Pure, without recursion over what
// a client sent: the length and the number of conditions are limited before anything is built.
import { ScimError } from './error.ts'

export type FilterValue = string | number | boolean | null
/** `attribute` in lower case, with its sub-attribute: `emails.value`. */
export type FilterTerm = { readonly attribute: string; readonly value: FilterValue }

const lengthMax = 2_000
const termsMax = 20
const depthMax = 8

type Token =
  | { readonly kind: '(' | ')' | 'and' | 'eq' }
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'value'; readonly value: FilterValue }

/** ATTRNAME with an optional URN before it and an optional sub-attribute (RFC 7644, figure 1). */
const name = /(?:urn:[\w.:-]+:)?\$?[a-z][\w$-]*(?:\.[a-z$][\w$-]*)?/iy
const text = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy
const number = /-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?(?![\w.])/y

/** Returns the conditions, all of which must hold. Throws ScimError. */
export function parseFilter(filter: string): FilterTerm[] {
  if (filter.length > lengthMax) throw new ScimError('filterSize')
  const terms: FilterTerm[] = []
  let depth = 0
  let awaitsTerm = true
  const tokens = tokensOf(filter)
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!
    if (awaitsTerm && token.kind === '(') {
      depth += 1
      if (depth > depthMax) throw new ScimError('filterSize')
    } else if (awaitsTerm && token.kind === 'name') {
      terms.push(termOf(token.text, tokens[at + 1], tokens[at + 2]))
      if (terms.length > termsMax) throw new ScimError('filterSize')
      at += 2
      awaitsTerm = false
    } else if (!awaitsTerm && token.kind === ')' && depth > 0) depth -= 1
    else if (!awaitsTerm && token.kind === 'and') awaitsTerm = true
    else throw new ScimError('filter')
  }
  if (awaitsTerm || depth !== 0) throw new ScimError('filter')
  return terms
}

function termOf(attribute: string, operator: Token | undefined, operand: Token | undefined): FilterTerm {
  if (operator?.kind !== 'eq' || operand?.kind !== 'value') throw new ScimError('filter')
  return { attribute: withoutUrn(attribute), value: operand.value }
}

function tokensOf(filter: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < filter.length) {
    const next = filter[at]!
    if (next === ' ') {
      at += 1
      continue
    }
    const [token, length] = tokenAt(filter, at, next)
    tokens.push(token)
    at += length
  }
  return tokens
}

function tokenAt(filter: string, at: number, next: string): readonly [Token, number] {
  if (next === '(' || next === ')') return [{ kind: next }, 1]
  const quoted = next === '"' ? matchAt(text, filter, at) : undefined
  if (quoted !== undefined) return [{ kind: 'value', value: textOf(quoted) }, quoted.length]
  const digits = matchAt(number, filter, at)
  if (digits !== undefined) return [{ kind: 'value', value: Number(digits) }, digits.length]
  const word = matchAt(name, filter, at)
  if (word === undefined) throw new ScimError('filter')
  return [wordToken(word), word.length]
}

/** No stored text has control characters, and PostgreSQL refuses NUL. Throws ScimError. */
function textOf(quoted: string): string {
  const value = JSON.parse(quoted) as string
  if (/\p{Cc}/u.test(value)) throw new ScimError('filter')
  return value
}

const literals: ReadonlyMap<string, FilterValue> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Operators and literals are compared without case: Entra ID writes `eq`, others `EQ`. */
function wordToken(word: string): Token {
  const lower = word.toLowerCase()
  if (lower === 'and' || lower === 'eq') return { kind: lower }
  const literal = literals.get(lower)
  return literal === undefined ? { kind: 'name', text: word } : { kind: 'value', value: literal }
}

function matchAt(pattern: RegExp, from: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(from)?.[0]
}

const core = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/

/** Attributes of the core schemas lose their URN; those of extensions keep it, and are no attribute of ours. */
const withoutUrn = (attribute: string): string => attribute.toLowerCase().replace(core, '')

/** The path of an operation of PATCH, in lower case: `emails[type eq "work"].value`. */
export type PatchPath = {
  readonly attribute: string
  readonly filter: readonly FilterTerm[] | null
  readonly sub: string | null
}

/** Throws ScimError. */
export function parsePath(path: string): PatchPath {
  if (path.length > lengthMax) throw new ScimError('path')
  const open = path.indexOf('[')
  const [attribute = '', sub = null] = attributesOf(open < 0 ? path : path.slice(0, open))
  if (open < 0) return { attribute, filter: null, sub }
  const close = path.lastIndexOf(']')
  const rest = path.slice(close + 1)
  if (close < open || sub !== null || !/^(?:\.[a-z$][\w$-]*)?$/i.test(rest)) throw new ScimError('path')
  const filter = asPath(() => parseFilter(path.slice(open + 1, close)))
  return { attribute, filter, sub: rest === '' ? null : rest.slice(1).toLowerCase() }
}

function attributesOf(attributePath: string): string[] {
  if (matchAt(name, attributePath, 0)?.length !== attributePath.length) throw new ScimError('path')
  const known = withoutUrn(attributePath)
  return known.startsWith('urn:') ? [known] : known.split('.')
}

function asPath<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof ScimError ? new ScimError('path', { cause: error }) : error
  }
}
