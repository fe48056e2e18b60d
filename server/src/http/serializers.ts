// The serializers of answers, from their schemas.
import { textFormats } from '@pharos/contract/text'
import build from 'fast-json-stringify'

type Serialize = (answer: unknown) => string

const serializers = new WeakMap<object, Serialize>()

// Answers are not checked against the formats of texts; without their names a warning is printed.
const options = { ajv: { formats: Object.fromEntries(textFormats.map((name) => [name, true as const])) } }

/**
 * Returns the serializer of a schema, which is compiled at its first use and kept for the process: together they take a second
 * of processor time, which neither a start nor another server on the same contract pays.
 */
export function serializerOf(schema: object): Serialize {
  return (answer) => {
    let serialize = serializers.get(schema)
    if (serialize === undefined) serializers.set(schema, (serialize = build(schema, options)))
    return serialize(answer)
  }
}
