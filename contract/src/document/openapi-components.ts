// The components of the OpenAPI document: schemas with a title get a name and are referred to.
import { deprecationKeywords, type Deprecation } from '../deprecation.ts'

type Json = Record<string, unknown>

/**
 * Replaces schemas that have a title by references to components of that name. Throws if two schemas with one title differ
 * in more than their description.
 */
export function createComponents(): { refer: <T>(value: T) => T; schemas: () => Record<string, Json> } {
  const schemas: Record<string, Json> = {}
  function refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(refer)
    if (typeof value !== 'object' || value === null) return value
    // `expects` and `lengthText` are for error messages, see text/schema-error.ts; they are no keywords of JSON Schema.
    const { title, expects: _, lengthText: __, deprecated, ...given } = mapValues(value as Json, refer)
    const schema = typed(given)
    if (typeof title !== 'string' || !isSchema(schema))
      return withDeprecation(
        title === undefined ? withIntegerFormat(nullable(schema)) : { title, ...schema },
        deprecated,
      )
    const known = (schemas[title] ??= schema)
    if (JSON.stringify({ ...known, description: '' }) !== JSON.stringify({ ...schema, description: '' }))
      throw new Error(`two schemas have the title ${title}`)
    const reference = { $ref: `#/components/schemas/${title}` }
    if (deprecated) return withDeprecation({ ...reference, description: schema['description'] }, deprecated)
    return known['description'] === schema['description']
      ? reference
      : { ...reference, description: schema['description'] }
  }
  return {
    refer: refer as <T>(value: T) => T,
    schemas: () => Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** An operation, a parameter and a converted schema have only the mark. */
const withDeprecation = (schema: Json, deprecated: unknown): Json =>
  typeof deprecated === 'object'
    ? { ...schema, ...deprecationKeywords({ ...schema, deprecated: deprecated as Deprecation }) }
    : { ...schema, ...(deprecated ? { deprecated } : {}) }

const isSchema = (value: Json): boolean => 'type' in value || 'anyOf' in value || 'enum' in value
const mapValues = (record: Json, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, verbatim.has(key) ? value : map(value)]),
  )

/** Keys whose values are data, not schemas. */
const verbatim: ReadonlySet<string> = new Set([
  'example',
  'examples',
  'default',
  'enum',
  'required',
  'deprecated',
])

/** A closed list of texts: generators need the type as well. */
const typed = (schema: Json): Json =>
  Array.isArray(schema['enum']) &&
  !('type' in schema) &&
  schema['enum'].every((one) => typeof one === 'string')
    ? { type: 'string', ...schema }
    : schema

/** A value that may be null: `type` lists both types; the description of the value moves to the outer schema. */
function nullable(schema: Json): Json {
  const { anyOf, ...rest } = schema
  const [value, none, ...others] = (anyOf ?? []) as Json[]
  if (!value || none?.['type'] !== 'null' || others.length > 0) return schema
  if (typeof value['type'] === 'string' && !('enum' in value))
    return { ...value, type: [value['type'], 'null'], ...rest }
  const { description, ...one } = value
  return { ...(description === undefined ? {} : { description }), ...rest, anyOf: [one, none] }
}

const int32Max = 2_147_483_647

/** Typed languages need the width of an integer. */
function withIntegerFormat(schema: Json): Json {
  if (schema['type'] !== 'integer' && String(schema['type']) !== 'integer,null') return schema
  const maximum = schema['maximum']
  return { ...schema, format: typeof maximum === 'number' && maximum <= int32Max ? 'int32' : 'int64' }
}
