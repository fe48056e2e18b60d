// Parses path parameters, query strings and the text fields of forms by their schemas. Text is converted only if it is
// exactly one value of the type: no coercion, no dropped unknown parameters, no defaults for empty text.
import type { ProblemError } from '@pharos/contract/problem'
import { commaListMax, type CommaList } from '@pharos/contract/scalar'
import type { TObject, TSchema } from 'typebox'
import { errorAt, fail, notFound, failWith } from '../runtime/error.ts'
import { nearestName } from '../text/did-you-mean.ts'
import { integerHint, oneOf, timeExpected, unknownName } from '../text/schema-error.ts'
import { parseTime } from '../text/time.ts'
import { createCheck } from './validate.ts'

type Property = TSchema & {
  type?: string
  format?: string
  pattern?: string
  default?: unknown
  expects?: string
  minimum?: number
  maximum?: number
  items?: Property
  anyOf?: Property[]
  enum?: unknown[]
  'x-empty-is-absent'?: boolean
  'x-comma-list'?: CommaList
}
type Values = Record<string, unknown>

/** Returns a parser for the query strings of one route; its result has defaults filled in. */
export function createQueryReader(schema: TObject): (search: string) => Values {
  const read = createTextReader('query', schema)
  return (search) => read(groupPairs(search))
}

/**
 * Returns a parser of named texts; `found` are errors that the caller has found already, which are reported together
 * with its own.
 */
export function createTextReader(
  part: 'query' | 'body',
  schema: TObject,
): (texts: ReadonlyMap<string, string[]>, found?: readonly ProblemError[]) => Values {
  const properties = schema.properties as Record<string, Property>
  const check = createCheck(part, schema)
  const defaults = Object.entries(properties).filter(([, property]) => 'default' in property)
  return (groups, found = []) => {
    const errors: ProblemError[] = [...found]
    const values: Values = {}
    for (const [name, texts] of groups) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (property) readParameter(property, [part, name], texts, values, errors)
      else errors.push(unknownParameter([part, name], Object.keys(properties)))
    }
    if (errors.length > 0) throw failWith('invalid', errors)
    for (const [name, property] of defaults) values[name] ??= property.default
    check(values)
    return values
  }
}

type Place = readonly [part: 'query' | 'body', name: string]

/** Returns a parser for the path parameters of one route. An invalid id is a 404: no such object exists. */
export function createPathReader(schema: TObject): (params: Record<string, string>) => Values {
  const properties = Object.entries(schema.properties as Record<string, Property>)
  const readers = properties.map(([name, property]) => [name, pathTextReader(property)] as const)
  const check = createCheck('path', schema)
  return (params) => {
    const values: Values = {}
    for (const [name, read] of readers) values[name] = read(params[name] ?? '')
    check(values)
    return values
  }
}

function pathTextReader({ type, pattern }: Property): (text: string) => string | number {
  if (type === 'integer') return parseId
  if (pattern === undefined) return refuseNul
  const form = new RegExp(pattern)
  return (text) => {
    if (form.test(text)) return text
    throw noSuchObject()
  }
}

function parseId(text: string): number {
  const [, asn] = /^AS([1-9][0-9]{0,9})$/i.exec(text) ?? []
  if (asn !== undefined) throw fail('not_found', 'asnText', { asn })
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw fail('not_found', 'id')
  return Number(text)
}

function refuseNul(text: string): string {
  if (text.includes('\0')) throw noSuchObject()
  return text
}

const noSuchObject = () => notFound('object')

const nouns = { query: 'parameter', body: 'field' }

/** Returns the error for a parameter or field that the operation does not have. */
export function unknownParameter(loc: Place, known: readonly string[]): ProblemError {
  const { message, type, ctx } = unknownName(loc[1], nouns[loc[0]], known)
  return { loc, msg: message, type, ctx }
}

function readParameter(
  property: Property,
  loc: Place,
  texts: string[],
  values: Values,
  errors: ProblemError[],
): void {
  const kept = property['x-empty-is-absent'] ? texts.filter((text) => text !== '') : texts
  if (kept.length === 0) return
  const list = property['x-comma-list']
  // Some clients repeat the parameter for an array, others send a comma list.
  if (list) return readCommaList(list, loc, kept.join(','), values, errors)
  const repeatable = withoutNull(property).items
  const results = kept.map((text) => readScalar(repeatable ?? withoutNull(property), text))
  const failed = results
    .map((result, at) => (repeatable ? withRepeatHint(result, loc[1], kept[at]!) : result))
    .filter((result) => 'msg' in result)
  if (!repeatable && kept.length > 1) failed.push(errorAt(loc, 'repeated'))
  errors.push(...failed.map((failure) => ({ ...failure, loc })))
  if (failed.length > 0) return
  const read = results.map((result) => ('value' in result ? result.value : undefined))
  values[loc[1]] = repeatable ? read : read[0]
}

/** Adds how to send several values to the error of a text that is a comma list. */
function withRepeatHint(result: Scalar, name: string, text: string): Scalar {
  if (!('msg' in result) || !text.includes(',')) return result
  const repeated = text
    .split(',')
    .slice(0, 2)
    .map((one) => `${name}=${one.trim().slice(0, 50)}`)
  return { ...result, msg: `${result.msg}; for several values repeat the parameter: ${repeated.join('&')}` }
}

function readCommaList(
  { values: { enum: allowed }, noun }: CommaList,
  loc: Place,
  text: string,
  values: Values,
  errors: ProblemError[],
): void {
  const given = text.split(',').map((one) => one.trim())
  const unknown = given.find((one) => !allowed.includes(one))
  if (unknown !== undefined) errors.push({ loc, ...unknownInList(noun, unknown, allowed) })
  else if (given.length > commaListMax)
    errors.push({
      loc,
      msg: `must have at most ${commaListMax} elements; this has ${given.length}`,
      type: 'maxItems',
      ctx: { limit: commaListMax },
    })
  else values[loc[1]] = given.join(',')
}

/** Returns X for `X or null`: in a query, null is expressed only by omitting the parameter. */
function withoutNull(property: Property): Property {
  return property.anyOf?.find((alternative) => alternative.type !== 'null') ?? property
}

type Scalar = { value: unknown } | { msg: string; type: string; ctx?: Record<string, unknown> }

function readScalar(property: Property, text: string): Scalar {
  if (text.includes('\0')) return errorAt([], 'nul')
  if (property.format === 'date-time') return readTime(text)
  if (property.enum) return readEnum(property.enum, text)
  if (property.type === 'integer') return readInteger(property, text)
  if (property.type === 'boolean') return readBoolean(text)
  return { value: text }
}

function readInteger(property: Property, text: string): Scalar {
  if (/^(0|-?[1-9][0-9]{0,14})$/.test(text)) return { value: Number(text) }
  const { expects, minimum, maximum } = property
  const range = minimum === undefined || maximum === undefined ? '' : `, from ${minimum} to ${maximum}`
  const expected = expects ?? `a whole number in decimal digits${range}`
  return { msg: `must be ${expected}${integerHint(text)}`, type: 'integer' }
}

function readBoolean(text: string): Scalar {
  if (text === 'true' || text === 'false') return { value: text === 'true' }
  return { msg: 'must be true or false', type: 'boolean', ctx: { allowed: [true, false] } }
}

function readEnum(allowed: unknown[], text: string): Scalar {
  if (allowed.includes(text)) return { value: text }
  return { msg: oneOf(allowed, text), type: 'enum', ctx: { allowed } }
}

function readTime(text: string): Scalar {
  const time = parseTime(text)
  if (time) return { value: time.toISOString() }
  const hint = / \d\d:?\d\d$/.test(text) ? '; encode + as %2B in a query string' : ''
  return { msg: `must be ${timeExpected}${hint}`, type: 'date-time' }
}

function unknownInList(noun: CommaList['noun'], unknown: string, allowed: readonly string[]) {
  const isOrdering = noun === 'key'
  const names = isOrdering ? allowed.filter((one) => !one.startsWith('-')) : allowed
  const suggestion = nearestName(unknown, allowed)
  const meant = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
  const order = isOrdering ? ', with - before a key for descending order' : ''
  return {
    msg: `has the unknown ${noun} ${JSON.stringify(unknown)}${meant}; use ${names.join(', ')}${order}`,
    type: isOrdering ? 'ordering' : 'enum',
    ctx: { allowed: names, ...(suggestion === undefined ? {} : { suggestion }) },
  }
}

/**
 * The pairs of a query string in order, grouped by name. Invalid percent-encoding is a 400, never a replacement
 * character.
 */
function groupPairs(search: string): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  if (search === '') return groups
  for (const pair of search.split('&')) {
    if (pair === '') continue
    const [name, text] = splitPair(pair)
    const texts = groups.get(name)
    if (texts) texts.push(text)
    else groups.set(name, [text])
  }
  return groups
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=')
  return at < 0 ? [unescape(pair), ''] : [unescape(pair.slice(0, at)), unescape(pair.slice(at + 1))]
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw fail('malformed', 'queryEncoding')
  }
}
