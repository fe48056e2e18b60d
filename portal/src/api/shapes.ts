// Replaces `typebox` in the browser build: builds the same JSON Schema without typebox's type engine, which would be a
// third of the scripts before the first view.

type Schema = Readonly<Record<string, unknown>>
type Options = Readonly<Record<string, unknown>>

/** Marks an optional property; not part of the schema. */
const optional = Symbol('optional')

const ofType = (type: string) => (options?: Options) => ({ type, ...options })

export const Type = {
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  Enum: (values: readonly unknown[]) => ({ enum: values }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, optional, { value: true }),
  Object(properties: Readonly<Record<string, Schema>>, options?: Options) {
    const required = Object.keys(properties).filter((name) => !(optional in properties[name]!))
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options }
  },
  Record: (_key: Schema, value: Schema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
}
