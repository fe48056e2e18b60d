// The serializers of answers, from their schemas.
import { textFormats } from '@pharos/contract/text'
import build from 'fast-json-stringify'

type Serialize = (answer: unknown) => string

// Answers are not checked against the formats of texts; without their names a warning is printed.
const options = { ajv: { formats: Object.fromEntries(textFormats.map((name) => [name, true as const])) } }

const compiled = new WeakMap<object, Serialize>()

/**
 * Returns the serializer of a schema, which is compiled at its first use and kept for the process: together they take a second
 * of processor time, which neither a start nor another server on the same contract pays.
 */
export function serializerOf(schema: object): Serialize {
  let serialize: Serialize | undefined
  return (answer) => (serialize ??= compile(schema))(answer)
}

function compile(schema: object): Serialize {
  const found = compiled.get(schema) ?? build(withoutValidators(schema) ?? schema, options)
  compiled.set(schema, found)
  return found
}

/**
 * Returns the schema with `nullable` instead of each choice between a type and null: for a choice, the serializer compiles a validator
 * of each alternative, which takes most of the time, and validates each value. Undefined if other choices are left: their validators
 * do not know `nullable` as the serializer does.
 */
export function withoutValidators(schema: object): object | undefined {
  const found = withNullable(schema) as object
  return JSON.stringify(found).includes('"anyOf":') ? undefined : found
}

function withNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withNullable(value)]),
  )
  if (!Array.isArray(anyOf)) return rest
  const types = anyOf.filter(({ type }) => type !== 'null')
  return types.length === 1 && anyOf.length === 2
    ? { ...types[0], ...rest, nullable: true }
    : { ...rest, anyOf }
}
