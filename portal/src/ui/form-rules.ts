// The rules of a form's fields, read from the body schema of an operation, and the errors of values that break them. The texts
// match the server's, so that a mistake reads the same before and after sending. Pure.
import type { Route } from '@pharos/contract/route'

/** The part of a field's schema that a form needs. */
export type FieldRule = {
  /** Whether an empty value is refused. */
  readonly required: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly lengthText?: string
  readonly pattern?: string
  readonly expects?: string
  readonly minimum?: number
  readonly maximum?: number
  /** Numbers with decimals are refused. */
  readonly isWhole?: true
  readonly minItems?: number
  readonly maxItems?: number
  /** The values of a closed list; for an array, of its elements. */
  readonly options?: readonly string[]
}

/** An error of a value: `type` and `ctx` as in a response of the API; `msg` follows the name of the field. */
export type FieldBreach = {
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

type Schema = Omit<FieldRule, 'required' | 'options' | 'isWhole'> & {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

const limits = [
  'minLength',
  'maxLength',
  'lengthText',
  'pattern',
  'expects',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
] as const

/**
 * Returns the rules of a body by the name of the field. A field is required if the body needs it and its schema refuses an
 * empty value; a form of a PATCH sends the fields that it shows, so that only the schema decides.
 */
export function rulesOf({ method, body }: Pick<Route, 'method' | 'body'>): Record<string, FieldRule> {
  const { properties = {}, required = [] } = (body ?? {}) as Schema
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      ruleOf(schema, method === 'PATCH' || required.includes(name)),
    ]),
  )
}

/** Returns the rule of one schema; for a nullable schema the rule of its value. */
function ruleOf(schema: unknown, isNeeded: boolean): FieldRule {
  const { anyOf, ...plain } = schema as Schema
  const value = anyOf?.find(({ type }) => type !== 'null') ?? plain
  const options = value.enum ?? value.items?.enum
  const rule = {
    ...Object.fromEntries(limits.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]]))),
    ...(options ? { options } : {}),
    ...(value.type === 'integer' ? { isWhole: true } : {}),
  } as Omit<FieldRule, 'required'>
  return { ...rule, required: isNeeded && anyOf === undefined && !acceptsEmpty(value) }
}

function acceptsEmpty({ type, enum: options, minLength = 0, minItems = 0, pattern }: Schema): boolean {
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number' || options) return false
  if (type === 'array') return minItems === 0
  return minLength === 0 && (pattern === undefined || new RegExp(pattern, 'u').test(''))
}

const isEmpty = (value: unknown): boolean =>
  value === '' ||
  value === null ||
  value === undefined ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0)

/** Returns the breach of a rule, or undefined. Conditions that only the server can check are left to it. */
export function findBreach(rule: FieldRule, value: unknown): FieldBreach | undefined {
  if (isEmpty(value)) return rule.required ? { type: 'required', msg: 'is required' } : undefined
  if (typeof value === 'string') return findTextBreach(rule, value)
  if (typeof value === 'number') return findNumberBreach(rule, value)
  const { maxItems } = rule
  if (Array.isArray(value) && maxItems !== undefined && value.length > maxItems)
    return { type: 'maxItems', msg: `must have at most ${maxItems} entries; this has ${value.length}` }
  return undefined
}

function findTextBreach(rule: FieldRule, value: string): FieldBreach | undefined {
  const { minLength = 0, maxLength = Infinity, lengthText, pattern, expects } = rule
  // Characters as JSON schema counts them: code points.
  const length = Array.from(value).length
  const counted = lengthText?.replace('{length}', String(length))
  if (pattern !== undefined && expects !== undefined && !new RegExp(pattern, 'u').test(value))
    return { type: 'pattern', msg: `must be ${expects}` }
  if (length < minLength)
    return {
      type: 'minLength',
      msg: counted ?? `must be at least ${minLength} characters; this has ${length}`,
    }
  if (length > maxLength)
    return {
      type: 'maxLength',
      msg: counted ?? `must be at most ${maxLength} characters; this has ${length}`,
    }
  return undefined
}

function findNumberBreach({ minimum, maximum, isWhole }: FieldRule, value: number): FieldBreach | undefined {
  if (isWhole && !Number.isInteger(value)) return { type: 'type', msg: 'must be a whole number' }
  const isLow = minimum !== undefined && value < minimum
  const isHigh = maximum !== undefined && value > maximum
  if (!isLow && !isHigh) return undefined
  if (minimum !== undefined && maximum !== undefined)
    return {
      type: isLow ? 'minimum' : 'maximum',
      msg: `must be ${isWhole ? 'a whole number ' : ''}from ${minimum} to ${maximum}`,
    }
  return isLow
    ? { type: 'minimum', msg: `must be at least ${minimum}` }
    : { type: 'maximum', msg: `must be at most ${maximum}` }
}
