// The surface of the API as text, from its OpenAPI document: one line for each operation, parameter, answer and field. It is the golden file of the
// contract (`contract/surface.txt`): a review reads a change of a field in one line. Texts for readers (descriptions, examples) are left out, but
// the codes of errors are not.
type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
type JsonObject = { readonly [key: string]: JsonValue }

/** Keywords for readers. */
const readersOnly = new Set(['description', 'summary', 'example', 'examples', 'title', 'externalDocs'])
/** Keywords of a schema that the type of a line shows. */
const shownByType = new Set(['$ref', 'type', 'enum', 'const', 'anyOf', 'items', 'properties', 'required'])

/** Returns the lines, each with a final line feed, in the order of the document. */
export function surfaceOf(document: JsonObject): string {
  const { paths, webhooks, components, info: _info, tags: _tags, servers: _servers, ...rest } = document
  const { schemas, responses, examples: _examples, ...others } = objectOf(components)
  const lines = [
    ...attributeLines('document', rest),
    ...entriesOf(paths).flatMap(([path, methods]) =>
      entriesOf(methods).flatMap(([method, one]) => operationLines(`${method.toUpperCase()} ${path}`, one)),
    ),
    ...entriesOf(webhooks).flatMap(([type, methods]) =>
      entriesOf(methods).flatMap(([method, one]) =>
        operationLines(`webhook ${method.toUpperCase()} ${type}`, one),
      ),
    ),
    ...entriesOf(others).flatMap(([kind, named]) =>
      entriesOf(named).map(([name, one]) => `${kind} ${name}: ${attributesOf(one, new Set())}`),
    ),
    ...entriesOf(responses).flatMap(([name, one]) => answerLines(`answer ${name}`, one)),
    ...entriesOf(schemas).flatMap(([name, one]) => schemaLines(name, one)),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function operationLines(subject: string, operation: JsonObject): string[] {
  const { parameters, requestBody, responses, tags: _tags, ...rest } = operation
  const bodies = entriesOf(objectOf(requestBody)['content'])
  const isOptional = objectOf(requestBody)['required'] === false ? '?' : ''
  return [
    `${subject}: ${attributesOf(rest, new Set())}`,
    ...arrayOf(parameters).flatMap((parameter) => {
      const { name, in: place, required, schema, ...others } = objectOf(parameter)
      const mark = required === true ? '' : '?'
      return schemaLines(`${subject} ${String(place)}.${String(name)}${mark}`, objectOf(schema), others)
    }),
    ...bodies.flatMap(([mediaType, media]) => mediaLines(`${subject} body${isOptional}`, mediaType, media)),
    ...entriesOf(responses).flatMap(([status, one]) => answerLines(`${subject} ${status}`, one)),
  ]
}

/** The codes of an error are in its description. */
function answerLines(subject: string, answer: JsonObject): string[] {
  const { $ref, description, headers, content, ...rest } = answer
  if (typeof $ref === 'string') return [`${subject}: ${nameOf($ref)}`]
  const codes = [...String(description).matchAll(/`(\w+)`: /g)].map(([, code]) => code)
  const named = entriesOf(headers).map(([name, one]) =>
    one['$ref'] === `#/components/headers/${name}` ? name : `${name} (${attributesOf(one, new Set())})`,
  )
  const parts = [
    codes.length > 0 ? `codes ${codes.join(', ')}` : '',
    named.length > 0 ? `headers ${named.join(', ')}` : '',
    attributesOf(rest, new Set()),
  ].filter(Boolean)
  return [
    `${subject}: ${parts.join('; ') || 'no content'}`,
    ...entriesOf(content).flatMap(([mediaType, media]) => mediaLines(subject, mediaType, media)),
  ]
}

function mediaLines(subject: string, mediaType: string, { schema, ...rest }: JsonObject): string[] {
  return schemaLines(`${subject} ${mediaType}`, objectOf(schema), rest)
}

/** `others` are attributes beside the schema. */
function schemaLines(subject: string, schema: JsonObject, others: JsonObject = {}): string[] {
  const parts = [typeOf(schema), attributesOf(schema, shownByType), attributesOf(others, new Set())]
  return [`${subject}: ${parts.filter(Boolean).join(', ')}`, ...nestedLines(subject, schema)]
}

/** The fields of an inline object, of the items of an array and of each alternative. */
function nestedLines(subject: string, schema: JsonObject): string[] {
  const required = new Set(arrayOf(schema['required']))
  const fields = entriesOf(schema['properties']).flatMap(([name, one]) =>
    schemaLines(`${subject}.${name}${required.has(name) ? '' : '?'}`, one),
  )
  const items = isJsonObject(schema['items']) && isInline(schema['items'])
  const alternatives = arrayOf(schema['anyOf']).map(objectOf)
  return [
    ...fields,
    ...(items ? schemaLines(`${subject}[]`, objectOf(schema['items'])) : []),
    ...alternatives.flatMap((one, at) => (isInline(one) ? schemaLines(`${subject}|${at}`, one) : [])),
  ]
}

/** Whether a schema has keywords besides its type. */
const isInline = (schema: JsonObject): boolean =>
  Object.keys(schema).some((key) => !readersOnly.has(key) && !['$ref', 'type', 'enum', 'const'].includes(key))

function typeOf(schema: JsonObject): string {
  const { $ref, type, enum: values, const: value, anyOf, items } = schema
  const parts = [
    typeof $ref === 'string' ? nameOf($ref) : '',
    anyOf === undefined
      ? ''
      : arrayOf(anyOf)
          .map((one) => typeOf(objectOf(one)))
          .join(' | '),
    values === undefined
      ? ''
      : arrayOf(values)
          .map((one) => JSON.stringify(one))
          .join(' | '),
    value === undefined ? '' : JSON.stringify(value),
    items === undefined ? '' : `of ${typeOf(objectOf(items))}`,
  ].filter(Boolean)
  const named = Array.isArray(type) ? type.join(' or ') : String(type ?? '')
  return [named, ...parts].filter(Boolean).join(' ')
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** Prints the remaining keywords. */
function attributesOf(object: JsonObject, left: ReadonlySet<string>): string {
  return Object.entries(object)
    .filter(([key]) => !left.has(key) && !readersOnly.has(key))
    .map(([key, value]) => `${key} ${JSON.stringify(withoutTexts(value))}`)
    .join(', ')
}

const attributeLines = (subject: string, object: JsonObject): string[] =>
  Object.keys(object).length > 0 ? [`${subject}: ${attributesOf(object, new Set())}`] : []

/** Names of fields are no keywords: a field may be called `description`. */
function withoutTexts(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((one) => withoutTexts(one)!)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !readersOnly.has(key))
      .map(([key, one]) => [key, withoutTexts(one)!]),
  )
}

const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
const arrayOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])
const entriesOf = (value: JsonValue | undefined): [string, JsonObject][] =>
  Object.entries(objectOf(value)).map(([key, one]) => [key, objectOf(one)])
