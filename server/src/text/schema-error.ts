// Checks values by a schema, and explains every error as a place and a message: the problem, then the remedy. The only
// translator of schema errors: requests, the platform file, the configuration and driver settings use it. A message
// contains no regular expression, and no value of a secret field.
import { counted } from '@pharos/contract/counted'
import {
  describeHiddenCharacter,
  findHiddenCharacter,
  textFormats,
  type TextFormat,
} from '@pharos/contract/text'
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Format } from 'typebox/format'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { didYouMean } from './did-you-mean.ts'
import { parseTime } from './time.ts'

for (const format of textFormats)
  Format.Set(format, (text) => findHiddenCharacter(format, text) === undefined)

// The validator's own format requires an offset; a time without an offset is read as UTC here, in bodies as in queries.
Format.Set('date-time', (text) => parseTime(text) !== undefined)

export const timeExpected = 'an ISO 8601 date-time such as 2026-01-31T12:00:00Z'

// The validator stops after 8 errors by default; a bulk request gets every wrong element.
Settings.Set({ maxErrors: 1000 })
const problemsMax = 100

export type SchemaPath = readonly (string | number)[]

export type SchemaProblem = {
  readonly path: SchemaPath
  /** A predicate that follows the name of the field, such as `must be at most 100 characters; this has 120`. */
  readonly message: string
  /** The public `type` of the error: the schema's keyword, or `unknown`, `hidden_character`. */
  readonly type: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

export type CheckOptions = {
  /** Whether a message ends in the wrong value (`, not "ab"`): for files, whose author gets no other details. */
  readonly showValues?: boolean
  /**
   * Returns the remedy for an unknown field that is known elsewhere, such as in the answer; the message then contains
   * it.
   */
  readonly explainUnknown?: (name: string) => string | undefined
}

/** The part of a JSON schema that messages are made from. `expects` is a noun phrase that follows `must be`. */
type SchemaPart = {
  readonly type?: string | readonly string[]
  readonly expects?: string
  /** The predicate for a text that is too short or too long, with `{length}` for its length. */
  readonly lengthText?: string
  readonly description?: string
  readonly secret?: boolean
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: SchemaPart
  readonly anyOf?: readonly SchemaPart[]
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly minLength?: number
  readonly pattern?: string
}

const compiled = new WeakMap<TSchema, Validator>()

/** Compiles at the first use, and once for the process: all schemas of the API together take half a second of processor time. */
function validatorOf(schema: TSchema): Validator {
  const validator = compiled.get(schema) ?? Compile(schema)
  compiled.set(schema, validator)
  return validator
}

/** Returns a function that lists the problems of a value, at most 100; an empty list means that the value is valid. */
export function createSchemaCheck(
  schema: TSchema,
  options: CheckOptions = {},
): (value: unknown) => readonly SchemaProblem[] {
  let validator: Validator | undefined
  return (value) => {
    if ((validator ??= validatorOf(schema)).Check(value)) return []
    const unknown = manyUnknownFields(schema as SchemaPart, value, options)
    if (unknown) return unknown
    const problems = withoutRepeats(problemsOf(schema as SchemaPart, value, [], options))
    return problems.length > 0 ? problems.slice(0, problemsMax) : [expectation([], schema as SchemaPart)]
  }
}

/**
 * If an object has more unknown fields than the limit of problems, only these are listed: the validator would describe
 * each of them first.
 */
function manyUnknownFields(
  schema: SchemaPart,
  value: unknown,
  options: CheckOptions,
): readonly SchemaProblem[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const forms = schema.anyOf ?? [schema]
  if (forms.some(({ type, additionalProperties }) => type === 'object' && additionalProperties !== false))
    return undefined
  const known = forms.flatMap(({ properties = {} }) => Object.keys(properties))
  const names = Object.keys(value)
  if (names.length <= known.length + problemsMax) return undefined
  return names
    .filter((name) => !known.includes(name))
    .slice(0, problemsMax)
    .map((name) => ({ path: [name], ...unknownField(name, known, [name], options) }))
}

/** Returns the accepted values of a schema as a noun phrase: `a whole number from 1 to 1000`, `one of a, b`. */
export function describeExpected(schema: TSchema): string {
  return expectedBy(schema as SchemaPart)
}

/** Returns a problem as a sentence without a full stop, beginning with the field: `region must be one of ams, fra`. */
export function describeProblem({ path, message }: SchemaProblem, whole: string): string {
  return `${path.findLast((step) => typeof step === 'string') ?? whole} ${message}`
}

function problemsOf(
  schema: SchemaPart,
  value: unknown,
  base: SchemaPath,
  options: CheckOptions,
): SchemaProblem[] {
  if (schema.anyOf) return problemsOfChoice(schema, value, base, options)
  const choices = new Set<string>()
  return (Value.Errors(schema as TSchema, value) as TLocalizedValidationError[]).flatMap((error) => {
    const choice = outermostChoice(error)
    if (!choice) return explain(schema, error, value, base, options)
    if (choices.has(choice.instancePath)) return []
    choices.add(choice.instancePath)
    const path = pathOf(choice.instancePath)
    return problemsOfChoice(
      partAt(schema, choice.schemaPath),
      valueAt(value, path),
      [...base, ...path],
      options,
    )
  })
}

/** Of several alternatives, only the errors of the one closest to the value are reported. */
function problemsOfChoice(
  schema: SchemaPart,
  value: unknown,
  base: SchemaPath,
  options: CheckOptions,
): SchemaProblem[] {
  const alternatives = schema.anyOf!.filter((one) => !isNull(one) && hasTypeOf(one, value))
  if (alternatives.length > 0) {
    const problems = problemsOf(closestTo(alternatives, value), value, base, options)
    const forms = formsOf(alternatives)
    return forms === undefined
      ? problems
      : problems.map((one) => withForms(one, base, forms, alternatives, options))
  }
  const types = [...new Set(schema.anyOf!.flatMap((one) => one.type ?? []))]
  const ctx = { expected: types.length === 1 ? types[0] : types }
  return [withValue({ ...expectation(base, schema), type: 'type', ctx }, schema, value, options)]
}

/** Returns the required fields of each alternative, if there are several objects: `a and b, or c`. */
function formsOf(alternatives: readonly SchemaPart[]): string | undefined {
  if (alternatives.length < 2 || alternatives.some(({ type }) => type !== 'object')) return undefined
  const names = alternatives.flatMap(({ required = [] }) => required)
  // A common field already distinguishes the alternatives.
  if (new Set(names).size < names.length) return undefined
  return alternatives.map(({ required = [] }) => required.join(' and ')).join(', or ')
}

/** Adds all forms to a missing field, and the fields of all forms to an unknown one. */
function withForms(
  problem: SchemaProblem,
  base: SchemaPath,
  forms: string,
  alternatives: readonly SchemaPart[],
  options: CheckOptions,
): SchemaProblem {
  if (problem.path.length !== base.length + 1) return problem
  if (problem.type === 'required') return { ...problem, message: `${problem.message}; send ${forms}` }
  if (problem.type !== 'unknown') return problem
  const known = alternatives.flatMap(({ properties = {} }) => Object.keys(properties))
  return {
    ...problem,
    ...unknownField(String(problem.path.at(-1)), [...new Set(known)], problem.path, options),
  }
}

/** Returns the alternative whose kind the value has, or with the most fields of the value; the first one otherwise. */
function closestTo(alternatives: readonly SchemaPart[], value: unknown): SchemaPart {
  const given = isRecord(value) ? Object.entries(value) : []
  const known = alternatives.map(({ properties = {} }) => {
    const fields = given.filter(([name]) => Object.hasOwn(properties, name))
    const isOfKind = fields.some(([name, one]) => {
      const values = properties[name]!.enum
      return values?.length === 1 && values[0] === one
    })
    return fields.length + (isOfKind ? given.length : 0)
  })
  return alternatives[known.indexOf(Math.max(...known))]!
}

/** Finds the place of the outermost choice that an error is about or inside of, in the schema and in the value. */
function outermostChoice(
  error: TLocalizedValidationError,
): { readonly schemaPath: string; readonly instancePath: string } | undefined {
  const { keyword, schemaPath, instancePath } = error
  const steps = schemaPath.split('/').slice(1)
  let depth = 0
  for (let at = 0; at < steps.length; at++) {
    if (steps[at] === 'anyOf') {
      return {
        schemaPath: ['#', ...steps.slice(0, at)].join('/'),
        instancePath: instancePath.split('/', depth + 1).join('/'),
      }
    }
    if (['items', 'additionalProperties', 'properties', 'patternProperties'].includes(steps[at]!)) depth++
    if (['properties', 'patternProperties'].includes(steps[at]!)) at++ // the next step is a name
  }
  return keyword === 'anyOf' ? { schemaPath, instancePath } : undefined
}

function explain(
  root: SchemaPart,
  error: TLocalizedValidationError,
  whole: unknown,
  base: SchemaPath,
  options: CheckOptions,
): SchemaProblem[] {
  const inner = pathOf(error.instancePath)
  const path = [...base, ...inner]
  const schema = partAt(root, error.schemaPath)
  const value = valueAt(whole, inner)
  switch (error.keyword) {
    case 'boolean': // An unknown field; reported with its name as additionalProperties.
      return []
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        path: [...path, name],
        message: 'is required',
        type: 'required',
      }))
    case 'additionalProperties':
      return error.params.additionalProperties.slice(0, problemsMax).map((name) => ({
        path: [...path, name],
        ...unknownField(name, Object.keys(schema.properties ?? {}), [...path, name], options),
      }))
    case 'format': {
      const hidden = hiddenCharacter(path, error.params.format, value)
      if (hidden) return [hidden]
      break
    }
    case 'pattern': // An empty text is reported once.
      if (value === '' && (schema.minLength ?? 0) > 0) return []
      break
    case 'maxLength': // The pattern is more specific than the length.
      if (
        value !== '' &&
        schema.pattern !== undefined &&
        !new RegExp(schema.pattern, 'u').test(String(value))
      )
        return []
  }
  const ctx = contextOf(error)
  const hint = schema.type === 'integer' && !options.showValues ? integerHint(value) : ''
  const problem: SchemaProblem = {
    path,
    message: `${messageOf(error, schema, value)}${hint}`,
    type: error.keyword,
    ...(ctx ? { ctx } : {}),
  }
  return [limits.has(error.keyword) ? problem : withValue(problem, schema, value, options)]
}

const limits: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems'])

/** A pattern is not part of the answer: it is for programs that read the schema, not for people. */
function contextOf({ keyword, params }: TLocalizedValidationError): Record<string, unknown> | undefined {
  if (keyword === 'pattern') return undefined
  if (keyword === 'type') return { expected: params.type }
  return keyword === 'enum' ? { allowed: params.allowedValues } : { ...params }
}

function messageOf(error: TLocalizedValidationError, schema: SchemaPart, value: unknown): string {
  switch (error.keyword) {
    case 'enum':
      return oneOf(error.params.allowedValues, value)
    case 'minLength':
      if (error.params.limit === 1) return 'must not be empty'
      if (schema.lengthText) return schema.lengthText.replace('{length}', String(lengthOf(value)))
      return `must be at least ${error.params.limit} characters; this has ${lengthOf(value)}`
    case 'maxLength':
      if (schema.lengthText) return schema.lengthText.replace('{length}', String(lengthOf(value)))
      return `must be at most ${counted(error.params.limit, 'character')}; this has ${lengthOf(value)}`
    case 'minItems':
      if (error.params.limit === 1) return 'must not be empty'
      return `must have at least ${error.params.limit} elements; this has ${lengthOf(value)}`
    case 'maxItems':
      return `must have at most ${counted(error.params.limit, 'element')}; this has ${lengthOf(value)}`
    case 'uniqueItems':
      return `must not repeat a value: ${repeatedValues(value, error.params.duplicateItems)}`
    case 'minimum':
    case 'maximum':
      if (schema.expects || (schema.minimum !== undefined && schema.maximum !== undefined)) break
      return `must be at ${error.keyword === 'minimum' ? 'least' : 'most'} ${error.params.limit}`
    case 'pattern':
      return `must be ${schema.expects ?? schema.description ?? 'in the documented form'}`
  }
  return `must be ${expectedBy(schema)}`
}

/** Returns the correct form for a text that contains a number: `AS64496` or `"64496"`. */
export function integerHint(value: unknown): string {
  if (typeof value !== 'string') return ''
  const [, prefix, digits] = /^(AS ?)?(\d{1,15})$/i.exec(value) ?? []
  if (digits === undefined) return ''
  return prefix === undefined ? `; send ${digits}, without quotes` : `; send ${digits}, without AS`
}

/** A field of the record itself, or of a record in a list, may be known elsewhere. */
function unknownField(
  name: string,
  known: readonly string[],
  path: SchemaPath,
  { explainUnknown }: CheckOptions,
): ReturnType<typeof unknownName> {
  const isOfRecord = path.length === 1 || (path.length === 3 && typeof path[1] === 'number')
  const message = isOfRecord ? explainUnknown?.(name) : undefined
  return { ...unknownName(name, 'field', known), ...(message === undefined ? {} : { message }) }
}

/** Returns the problem of a name that does not exist, with the most similar name. `noun` is `field` or the like. */
export function unknownName(
  name: string,
  noun: string,
  known: readonly string[],
): Required<Omit<SchemaProblem, 'path'>> {
  const list =
    known.length > 0 ? `known ${noun}s are ${known.join(', ')}` : `remove it: no ${noun}s are known here`
  return {
    message: `is not a known ${noun}${didYouMean(name, known)}; ${list}`,
    type: 'unknown',
    ctx: { known },
  }
}

/** Returns the predicate for a value that is not allowed: `must be one of ams, fra (did you mean ams?)`. */
export function oneOf(allowed: readonly unknown[], value: unknown): string {
  const hint = typeof value === 'string' ? didYouMean(value, allowed.map(String)) : ''
  return allowed.length === 1
    ? `must be ${String(allowed[0])}`
    : `must be one of ${allowed.join(', ')}${hint}`
}

function expectedBy(schema: SchemaPart): string {
  if (schema.expects) return schema.expects
  if (schema.anyOf) return [...new Set(schema.anyOf.map(expectedBy))].join(' or ')
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.format === 'date-time') return timeExpected
  const { minimum, maximum } = schema
  const range = minimum !== undefined && maximum !== undefined ? ` from ${minimum} to ${maximum}` : ''
  switch (schema.type) {
    case 'integer':
      return `a whole number${range}`
    case 'number':
      return `a number${range}`
    case 'boolean':
      return 'true or false'
    case 'array':
      if (schema.items?.enum) return `an array of ${schema.items.enum.join(', ')}`
      return schema.items?.type === 'string' ? 'an array of strings, such as ["a", "b"]' : 'an array'
    case 'object':
      return 'an object'
    case 'null':
      return 'null'
    default:
      return 'a string'
  }
}

const expectation = (path: SchemaPath, schema: SchemaPart): SchemaProblem => ({
  path,
  message: `must be ${expectedBy(schema)}`,
  type: 'invalid',
})

function withValue(
  problem: SchemaProblem,
  schema: SchemaPart,
  value: unknown,
  { showValues }: CheckOptions,
): SchemaProblem {
  if (!showValues || schema.secret || problem.path.some((step) => isSecretName(String(step)))) return problem
  return { ...problem, message: `${problem.message}, not ${shown(value)}` }
}

/** Whether a field with this name contains a secret: its value is not repeated in a message. */
export const isSecretName = (name: string): boolean => /password|secret|token|otp/i.test(name)

/** The value as JSON, at most 60 characters. */
function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value))
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

function hiddenCharacter(path: SchemaPath, format: string, value: unknown): SchemaProblem | undefined {
  if (!(textFormats as readonly string[]).includes(format)) return undefined
  const found = findHiddenCharacter(format as TextFormat, String(value))
  if (!found) return undefined
  const ctx = { code_point: found.codePoint, position: found.position }
  return { path, message: describeHiddenCharacter(found), type: 'hidden_character', ctx }
}

/** Characters as JSON schema counts them (code points), or elements. */
const lengthOf = (value: unknown): number => Array.from(value as string | unknown[]).length

function repeatedValues(value: unknown, indexes: readonly number[]): string {
  const repeated = indexes.map((index) => (value as unknown[])[index])
  return `remove ${repeated.every((one) => typeof one === 'object') ? 'the copies' : [...new Set(repeated)].join(', ')}`
}

const isNull = ({ type }: SchemaPart): boolean => type === 'null'

function hasTypeOf({ type, enum: allowed }: SchemaPart, value: unknown): boolean {
  const types = type === undefined ? (allowed ?? []).map((one) => typeof one) : [type].flat()
  return types.some((one) => {
    if (one === 'integer' || one === 'number') return typeof value === 'number'
    if (one === 'array') return Array.isArray(value)
    return one === 'object' ? isRecord(value) : typeof value === one
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The part of a schema at a pointer such as `#/properties/teams/items`; of an unknown field, its object. */
function partAt(root: SchemaPart, pointer: string): SchemaPart {
  let part: unknown = root
  for (const step of pathOf(pointer)) {
    const next = (part as Record<string | number, unknown>)[step]
    if (typeof next !== 'object' || next === null) break
    part = next
  }
  return part as SchemaPart
}

/** The steps of a JSON pointer (RFC 6901); indexes of arrays become numbers. */
function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^(0|[1-9][0-9]*)$/.test(step) ? Number(step) : step))
}

function valueAt(value: unknown, path: SchemaPath): unknown {
  return path.reduce<unknown>(
    (inner, step) => (inner as Record<string | number, unknown> | null | undefined)?.[step],
    value,
  )
}

/** The same message at one place is listed once. */
function withoutRepeats(problems: readonly SchemaProblem[]): SchemaProblem[] {
  return [
    ...new Map(problems.map((one) => [JSON.stringify([one.path, one.type, one.message]), one])).values(),
  ]
}
