// The OpenAPI 3.1 document as OpenAPI 3.0, for generators without support for 3.1. Pure. The conversions are a closed list: whatever
// has none throws, so that no keyword is lost unnoticed (decision 111).

type Json = Record<string, unknown>
/** Converts the value of a keyword of a schema; returns the keywords that replace it. */
type Keyword = (value: unknown, schema: Json) => Json
type Convert = (value: unknown) => unknown

/** Returns the document in OpenAPI 3.0.3. Throws an error with the key that has no conversion. */
export function openapi30({ openapi, info, webhooks, ...document }: Json): Json {
  if (openapi !== '3.1.0') throw new Error(`openapi ${String(openapi)} has no conversion`)
  for (const key of Object.keys(document)) if (!rootKeys.has(key)) throw new Error(`${key} has no conversion`)
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Json>> }
  const convert = createConversion(schemas)
  return {
    openapi: '3.0.3',
    info: infoOf(info as Json),
    ...(convert(document) as Json),
    // 3.0 has no webhooks. Tools for documentation read this extension.
    ...(webhooks ? { 'x-webhooks': convert(webhooks) } : {}),
  }
}

const rootKeys: ReadonlySet<string> = new Set([
  'externalDocs',
  'servers',
  'security',
  'tags',
  'paths',
  'components',
])

/** OpenAPI 3.0 has no license identifier: returns the URL of the license at SPDX instead. */
function infoOf({ license, ...info }: Json): Json {
  const { identifier, ...rest } = license as { identifier?: string }
  return {
    ...info,
    license: { ...rest, ...(identifier ? { url: `https://spdx.org/licenses/${identifier}.html` } : {}) },
  }
}

/** Returns the conversion of everything outside of schemas, such as paths, parameters and answers. */
function createConversion(components: Readonly<Record<string, Json>>): Convert {
  const schemaOf = createSchemaConversion(components)
  const conversions: Readonly<Record<string, Convert>> = {
    schema: schemaOf,
    schemas: (value) => mapValues(value, schemaOf),
    example: asItIs,
    examples: asItIs,
    // Only OAuth schemes have scopes in 3.0; `x-required-scope` has the scopes of API tokens.
    security: (value) => (value as unknown[]).map((one) => mapValues(one, () => [])),
  }
  return function convert(value): unknown {
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, (conversions[key] ?? convert)(one)]),
    )
  }
}

function createSchemaConversion(components: Readonly<Record<string, Json>>): (schema: unknown) => Json {
  function schemaOf(schema: unknown): Json {
    const converted = Object.entries(schema as Json).map(([name, value]) => {
      const keyword = keywords[name]
      if (!keyword) throw new Error(`the keyword ${name} has no conversion`)
      return keyword(value, schema as Json)
    })
    return Object.assign({}, ...converted) as Json
  }

  /** Null as an alternative becomes `nullable`. Beside a reference it needs the type of the component. */
  function anyOf(value: unknown): Json {
    const alternatives = value as readonly Json[]
    const [one, ...others] = alternatives.filter(({ type }) => type !== 'null')
    const nullable = others.length + 1 < alternatives.length
    if (one && others.length > 0 && !nullable) return { anyOf: [one, ...others].map(schemaOf) }
    const reference = one?.['$ref']
    if (typeof reference !== 'string' || others.length > 0)
      throw new Error(`anyOf ${JSON.stringify(value)} has no conversion`)
    const type = components[reference.split('/').at(-1)!]?.['type']
    if (typeof type !== 'string') throw new Error(`null or ${reference} has no conversion`)
    return { type, nullable: true, allOf: [{ $ref: reference }] }
  }

  const keywords: Readonly<Record<string, Keyword>> = {
    ...Object.fromEntries(unchanged.map((name) => [name, (value: unknown) => ({ [name]: value })])),
    type: typeOf,
    anyOf,
    const: (value) => ({ enum: [value] }),
    examples: (value) => ({ example: (value as unknown[])[0] }),
    items: (value) => ({ items: schemaOf(value) }),
    properties: (value) => ({ properties: mapValues(value, schemaOf) }),
    additionalProperties: (value) => ({
      additionalProperties: typeof value === 'boolean' ? value : schemaOf(value),
    }),
    patternProperties: (value, schema) => ({ additionalProperties: schemaOf(anyPattern(value, schema)) }),
    // Keywords beside `$ref` are ignored in 3.0.
    $ref: (value, schema) =>
      Object.keys(schema).length === 1 ? { $ref: value } : { allOf: [{ $ref: value }] },
  }
  return schemaOf
}

const unchanged = [
  'format',
  'description',
  'default',
  'enum',
  'pattern',
  'deprecated',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'x-max-bytes',
  'x-empty-is-absent',
]

function typeOf(type: unknown): Json {
  // Only null, such as the result of a dry run of a deletion.
  if (type === 'null') return { type: 'object', nullable: true, enum: [null] }
  if (typeof type === 'string') return { type }
  const [value, none, ...others] = type as readonly string[]
  if (value === undefined || value === 'null' || none !== 'null' || others.length > 0)
    throw new Error(`type ${JSON.stringify(type)} has no conversion`)
  return { type: value, nullable: true }
}

/** Returns the schema of a pattern that every name matches. */
function anyPattern(value: unknown, { additionalProperties }: Json): unknown {
  const [[pattern, schema] = [], ...others] = Object.entries(value as Json)
  if (pattern !== '^.*$' || others.length > 0 || additionalProperties !== undefined)
    throw new Error(`patternProperties ${JSON.stringify(value)} has no conversion`)
  return schema
}

const asItIs: Convert = (value) => value

const mapValues = (record: unknown, map: Convert): Json =>
  Object.fromEntries(Object.entries(record as Json).map(([key, value]) => [key, map(value)]))
