// Generates valid requests from the schemas of the published OpenAPI document. Parameters with known names get values that exist in
// the test's database.
import fc, { type Arbitrary } from 'fast-check'
import { sampleJpeg, samplePng } from '../../src/byoip/letter/testing-letters.ts'
import { formOf, formType, type FormPart } from './letters.ts'
import { isReadable } from './formats.ts'
import type { Draft } from './expected-validity.ts'
import type { Form, Operation, Schema } from './openapi-operations.ts'

/** Candidate values by the name of the parameter or field; they must match the schema. */
export type Hints = Readonly<Record<string, readonly unknown[]>>

const text = fc.string({ unit: 'grapheme', maxLength: 40 })

const times = fc.oneof(
  fc
    .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-03-01',
    '2026-03-01T10:00',
    '2026-03-01T10:00:00',
    '2026-03-01T10:00:00z',
    '2026-03-01T12:00:00.123456789+02:00',
    '2026-03-01 10:00:00-0530',
    '2024-02-29T23:59:59Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '9999-12-31T18:59:59-05:00',
  ),
)

/** Generates a value of the schema. */
export function valueOf(schema: Schema, name: string, hints: Hints): Arbitrary<unknown> {
  // A switch and a token may have the same name. Elements of a list use the name of the list.
  // What has a list of values needs no hints, which are of another field with the same name.
  const isListed = schema.enum !== undefined || schema.type === 'boolean' || schema.type === 'array'
  const known = isListed ? undefined : hints[name]
  // A team is an id in a body, and an id or `current` in a path.
  const hinted = schema.type === 'integer' ? known?.filter((one) => typeof one === 'number') : known
  const plain = plainValueOf(schema, name, hints)
  return hinted?.length ? fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...hinted) }, plain) : plain
}

function plainValueOf(schema: Schema, name: string, hints: Hints): Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valueOf(one, name, hints)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'integer':
      return integerOf(schema)
    case 'string':
      return stringOf(schema)
    case 'array':
      return fc.array(valueOf(schema.items!, name, hints), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, (schema.minItems ?? 0) + 3),
      })
    case 'object':
      return objectOf(schema, hints)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

function integerOf({ minimum = -(2 ** 50), maximum = 2 ** 50 }: Schema): Arbitrary<number> {
  const small = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 50) })
  return fc.oneof(
    small,
    fc.maxSafeInteger().map((n) => minimum + (Math.abs(n) % (maximum - minimum + 1))),
    fc.constant(maximum),
  )
}

function stringOf(schema: Schema): Arbitrary<string> {
  if (schema.format === 'date-time') return times
  if (schema.pattern !== undefined && schema.format === undefined)
    return fc.stringMatching(new RegExp(schema.pattern), { size: 'small' })
  const { minLength = 0, maxLength = 40, format, pattern } = schema
  const isText = format === 'line' || format === 'paragraphs'
  const isTaken = (one: string) =>
    (!isText || isReadable(one, format === 'paragraphs')) && (!pattern || new RegExp(pattern).test(one))
  return fc.oneof(
    { weight: 3, arbitrary: text.filter((one) => fits(one, minLength, maxLength) && isTaken(one)) },
    fc.constant('x'.repeat(maxLength)),
  )
}

const fits = (one: string, minLength: number, maxLength: number): boolean => {
  const { length } = [...one]
  return length >= minLength && length <= maxLength && !one.includes('\0')
}

function objectOf(schema: Schema, hints: Hints): Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {})
  const model = Object.fromEntries(properties.map(([name, inner]) => [name, valueOf(inner, name, hints)]))
  return fc.record(model, { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true })
}

type Pairs = readonly (readonly [string, string])[]

function pairsOf(name: string, schema: Schema, hints: Hints, explode = true): Arbitrary<Pairs> {
  const written = valueOf(schema, name, hints).map((value): Pairs =>
    (explode ? [value].flat() : [[value].flat().join(',')]).map((one) => [name, String(one)] as const),
  )
  const rare = fc.option(written, { nil: [] as Pairs, freq: 2 })
  return schema['x-empty-is-absent']
    ? fc.oneof({ weight: 5, arbitrary: rare }, fc.constant([[name, '']] as Pairs))
    : rare
}

const idempotencyKeys = fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.uuid())
const etags = fc.constantFrom('"1"', '"2"', '"3"', '*', '"x", "2"', 'W/"2"', '""', 'nonsense', '')

/** Event ids of another database, ids that do not exist yet, and invalid ids. */
const eventIds = fc.constantFrom('00c0ffee.1.0.1', '00c0ffee.99999999999.1.1800000000', 'nonsense', '')

function headersOf({ parameters, method }: Operation): Arbitrary<Record<string, string>> {
  const takes = (name: string) => parameters.some((one) => one.name === name)
  const rarely = (arbitrary: Arbitrary<string>) => ({ weight: 1, arbitrary })
  const absent = { weight: 5, arbitrary: fc.constant(undefined) }
  return fc
    .record({
      'idempotency-key': takes('Idempotency-Key')
        ? fc.oneof(absent, rarely(idempotencyKeys))
        : fc.constant(undefined),
      'if-match': takes('If-Match') ? fc.oneof(absent, rarely(etags)) : fc.constant(undefined),
      'if-none-match': method === 'GET' ? fc.oneof(absent, rarely(etags)) : fc.constant(undefined),
      'last-event-id': takes('Last-Event-ID') ? fc.oneof(absent, rarely(eventIds)) : fc.constant(undefined),
      prefer: fc.oneof(absent, rarely(fc.constantFrom('return=minimal', 'respond-async', ';;,='))),
    })
    .map(
      (headers) =>
        Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
          string,
          string
        >,
    )
}

/** Generates the parts of a valid form: its text fields and a valid file. */
function partsOf({ schema, file, mediaTypes }: Form, hints: Hints): Arbitrary<FormPart[]> {
  const texts = Object.entries(schema.properties!)
    .filter(([name]) => name !== file)
    .map(([name, inner]) => pairsOf(name, inner, hints))
  const contents = fc.constantFrom(
    { content: samplePng(), type: 'image/png' },
    { content: sampleJpeg(), type: 'image/jpeg' },
    // The declared name and type may differ from the content.
    { content: sampleJpeg(), type: mediaTypes[0]! },
    { content: samplePng(), type: 'application/octet-stream' },
  )
  const filename = fc.constantFrom('letter.png', 'a b.jpg', '../../etc/passwd', 'ü\u202egnp.exe', '')
  return fc
    .tuple(fc.tuple(...texts), contents, filename, fc.boolean())
    .map(([lists, content, filename, first]) => {
      const fields = lists.flat().map(([name, text]) => ({ name, content: text }))
      const part = { name: file, filename, ...content }
      return first ? [part, ...fields] : [...fields, part]
    })
}

/** Generates a valid request to the operation. */
export function draftOf(operation: Operation, hints: Hints): Arbitrary<Draft> {
  const inPath = operation.parameters.filter((one) => one.in === 'path')
  const inQuery = operation.parameters.filter((one) => one.in === 'query')
  const path = fc.record(
    Object.fromEntries(
      inPath.map(({ name, schema }) => [
        name,
        // A URL loses a segment that is a dot.
        valueOf({ minLength: 1, ...schema }, name, hints)
          .map(String)
          .filter((text) => text !== '.'),
      ]),
    ),
  )
  const query = fc
    .tuple(...inQuery.map(({ name, schema, explode }) => pairsOf(name, schema, hints, explode)))
    .map((lists) => lists.flat())
  if (operation.form) {
    const { form } = operation
    return fc
      .record({ path, query, headers: headersOf(operation), form: partsOf(form, hints) })
      .map((draft) => ({ ...draft, contentType: formType, body: formOf(draft.form) }))
  }
  const body = operation.body
    ? valueOf(operation.body, 'body', hints).map((value) => Buffer.from(JSON.stringify(value)))
    : fc.constant(undefined)
  const contentType = operation.body
    ? fc.constantFrom(
        'application/json',
        'application/json',
        'application/json; charset=utf-8',
        'Application/JSON',
      )
    : fc.constant(undefined)
  return fc.record({ path, query, headers: headersOf(operation), contentType, body })
}
