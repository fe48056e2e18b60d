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
  const found = compiled.get(schema) ?? build(schema, options)
  compiled.set(schema, found)
  return found
}
