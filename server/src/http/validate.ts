// Turns schemas into checks of bodies: no coercion, every error with its place. Queries and paths, whose values arrive
// as text, are read in query.ts and checked here afterwards.
import type { ProblemError } from '@pharos/contract/problem'
import {
  describeHiddenCharacter,
  findHiddenCharacter,
  textFormats,
  type TextFormat,
} from '@pharos/contract/text'
import { Compile } from 'typebox/compile'
import { Format } from 'typebox/format'
import type { TSchema } from 'typebox'
import { Failure } from '../runtime/error.ts'
import '../text/text-format.ts'
import { parseTime } from '../text/time.ts'

// The validator's own wants an offset; a time without one is read as UTC here, in bodies as in queries.
Format.Set('date-time', (text) => parseTime(text) !== undefined)

export type Check = (value: unknown) => void

type SchemaError = {
  keyword: string
  schemaPath: string
  instancePath: string
  message: string
  params: object
}

/** A check for one part of the request; throws a 422 that lists everything that is wrong with it. */
export function createCheck(part: 'body' | 'query' | 'path', schema: TSchema): Check {
  if (isChoice(schema)) return createChoice(part, schema.anyOf)
  const validator = Compile(schema)
  return (value) => {
    if (validator.Check(value)) return
    throw invalidPart(part, problemErrors(part, validator.Errors(value) as SchemaError[], schema, value))
  }
}

type Choice = TSchema & { readonly anyOf: readonly TSchema[] }

const isChoice = (schema: TSchema): schema is Choice => 'anyOf' in schema

/** A body that may have one of several forms is checked as the one of which it has the most fields: its errors count. */
function createChoice(part: 'body' | 'query' | 'path', alternatives: readonly TSchema[]): Check {
  const forms = alternatives.map((schema) => ({ fields: fieldsOf(schema), check: createCheck(part, schema) }))
  return (value) => {
    const given = typeof value === 'object' && value !== null ? Object.keys(value) : []
    const known = forms.map(({ fields }) => given.filter((field) => fields.has(field)).length)
    forms[known.indexOf(Math.max(...known))]!.check(value)
  }
}

function fieldsOf(schema: TSchema): ReadonlySet<string> {
  return new Set('properties' in schema ? Object.keys(schema.properties as object) : [])
}

/** A 422 with its list; the detail names the first, so that a log line alone is of use. */
export function invalidPart(part: string, errors: readonly ProblemError[]): Failure {
  const first = errors[0]
  const where = first ? `${first.loc.slice(1).join('.') || part}: ${first.msg}` : part
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Failure('invalid', `The ${part} is not valid: ${where}${more}.`, { errors })
}

const errorsMax = 100

function problemErrors(part: string, errors: SchemaError[], schema: TSchema, value: unknown): ProblemError[] {
  const known = errors.flatMap((error) => problemErrorsOf(part, error, schema, value))
  const listed = known.length > 0 ? known : [{ loc: [part], msg: 'is not valid', type: 'invalid' }]
  return withoutRepeats(listed).slice(0, errorsMax)
}

function problemErrorsOf(part: string, error: SchemaError, schema: TSchema, value: unknown): ProblemError[] {
  const loc = [part, ...pointer(error.instancePath)]
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'boolean': // "schema is false": said again, with the names, by additionalProperties
    case 'anyOf': // each alternative says what it misses
      return []
    case 'required':
      return (params.requiredProperties as string[]).map((name) => ({
        loc: [...loc, name],
        msg: 'is required',
        type: 'required',
      }))
    case 'additionalProperties':
      return (params.additionalProperties as string[]).map((name) => unknownField([...loc, name], schema))
    case 'enum':
      return [
        {
          loc,
          msg: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
          type: 'enum',
          ctx: { allowed: params.allowedValues },
        },
      ]
    case 'type':
      return [
        {
          loc,
          msg: `must be ${[params.type].flat().join(' or ')}`,
          type: 'type',
          ctx: { expected: params.type },
        },
      ]
    case 'format':
      return [hiddenCharacter(loc, params.format as string, value) ?? schemaError(loc, error)]
    default:
      return [schemaError(loc, error)]
  }
}

const schemaError = (loc: ProblemError['loc'], { message, keyword, params }: SchemaError): ProblemError => ({
  loc,
  msg: message,
  type: keyword,
  ctx: params as Record<string, unknown>,
})

/** Says which character text may not hold; undefined for another format. */
function hiddenCharacter(loc: ProblemError['loc'], format: string, value: unknown): ProblemError | undefined {
  if (!isTextFormat(format)) return undefined
  const text = loc.slice(1).reduce((inner: unknown, key) => (inner as Record<string, unknown>)[key], value)
  const found = findHiddenCharacter(format, String(text))
  if (!found) return undefined
  const ctx = { code_point: found.codePoint, position: found.position }
  return { loc, msg: describeHiddenCharacter(found), type: 'hidden_character', ctx }
}

const isTextFormat = (format: string): format is TextFormat =>
  (textFormats as readonly string[]).includes(format)

function unknownField(loc: ProblemError['loc'], schema: TSchema): ProblemError {
  const properties =
    loc.length === 2 && 'properties' in schema ? Object.keys(schema.properties as object) : []
  return properties.length > 0
    ? {
        loc,
        msg: `is not a known field; known are ${properties.join(', ')}`,
        type: 'unknown',
        ctx: { known: properties },
      }
    : { loc, msg: 'is not a known field', type: 'unknown' }
}

/** Two alternatives that fail at one place would each complain; the same complaint is listed once. */
function withoutRepeats(errors: ProblemError[]): ProblemError[] {
  const seen = new Set<string>()
  return errors.filter((error) => {
    const key = JSON.stringify([error.loc, error.type, error.msg])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** RFC 6901 pointer to the parts of a `loc`; array indexes become numbers. */
function pointer(path: string): (string | number)[] {
  if (path === '') return []
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^(0|[1-9][0-9]*)$/.test(part) ? Number(part) : part))
}
