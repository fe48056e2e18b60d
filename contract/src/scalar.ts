// The building blocks of every schema: ids, times, pages. Shapes only; the server validates values such as prefixes.
import { Type, type TProperties, type TSchema, type TUnsafe } from 'typebox'

/** An object that rejects unknown fields. */
export const Strict = <T extends TProperties>(properties: T, options: ObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false })

type ObjectOptions = { readonly title?: string; readonly description?: string }

/**
 * A strict object that is a component of the OpenAPI document: code generators give the type this name. It is a noun in
 * PascalCase, unique in the contract.
 */
export const Component = <T extends TProperties>(title: string, properties: T, options: ObjectOptions = {}) =>
  Strict(properties, { ...options, title })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An optional field. */
export const Optional = Type.Optional

/** The fields of an object, all optional. */
export const optionalFields = <T extends Record<string, Parameters<typeof Optional>[0]>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Optional(schema)])) as {
    [N in keyof T]: ReturnType<typeof Optional<T[N]>>
  }

/** A positive integer id of at most 15 digits, which every JSON parser represents exactly. */
export const Id = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 })

/** An autonomous system number, without `AS` before it. */
export const AsnNumber = Type.Integer({
  minimum: 1,
  maximum: 4_294_967_295,
  expects: 'an AS number from 1 to 4294967295, such as 64496',
})

/** Date-time, ISO 8601. Answers are UTC with `Z`; an offset is accepted, a naive time is read as UTC. */
export const Time = Type.String({
  format: 'date-time',
  description: 'ISO 8601; UTC if it has no offset',
})

export const NullableTime = Nullable(Time)

/** A country code, or an empty text. */
export const CountryOrEmpty = Type.String({
  maxLength: 2,
  pattern: '^([A-Z]{2})?$',
  description: 'ISO 3166-1 alpha-2, or empty',
  expects: 'a country code of two capital letters, such as NL, or empty',
})

/** An e-mail address. The server checks its form. */
export const EmailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  lengthText: 'must be an e-mail address such as ann@example.net',
})

/** A closed list of values, a component of the OpenAPI document. */
export const Enumeration = <const V extends readonly string[]>(title: string, values: V) =>
  Type.Enum<[...V]>([...values], { title })

/** A query parameter that may be repeated; values are combined with OR. */
export const Repeatable = <T extends TSchema>(schema: T) =>
  Type.Array(schema, {
    minItems: 1,
    maxItems: 100,
    ...('description' in schema ? { description: `${String(schema.description)}; may be repeated` } : {}),
  })

/** A parameter that the specification calls nullable: empty means absent. Goes inside `Optional`. */
export const EmptyIsAbsent = <T extends TSchema>(schema: T): T => ({ ...schema, 'x-empty-is-absent': true })

export const Limit = Type.Integer({
  minimum: 1,
  maximum: 1000,
  default: 100,
  description: 'number of results on a page',
})
export const Offset = Type.Integer({
  minimum: 0,
  maximum: 999_999_999_999_999,
  default: 0,
  description: 'number of results before the page',
})

/** The text of an ordering parameter. Its type carries the keys, so that the SQL of a list names a column for each. */
export type OrderingText<Key extends string = string> = string & { readonly orderingKeys?: Key }

/**
 * A parameter whose text is a comma list. Its values are an array in the OpenAPI document, with `explode: false`: generated
 * clients get a closed list, and send the same text.
 */
export type CommaList = {
  /** A schema of one value. */
  readonly values: TSchema & { readonly enum: readonly string[] }
  /** The name of a value in errors. */
  readonly noun: 'key' | 'part'
}

export const commaListMax = 20

/** Returns the list of a parameter; undefined for other parameters. */
export const commaListOf = (schema: TSchema): CommaList | undefined =>
  (schema as { 'x-comma-list'?: CommaList })['x-comma-list']

/** A comma list of the names of optional parts of an answer. */
export const Include = (title: string, names: readonly string[]) =>
  Type.String({
    description: `Comma list of ${names.join(', ')}.`,
    'x-comma-list': { values: Enumeration(title, names), noun: 'part' } satisfies CommaList,
  })

/** A comma list of keys, `-` before a key for descending. The keys are checked here; the server adds the id. */
export const Ordering = <const Key extends string>(keys: readonly Key[], byDefault: string) =>
  Type.String({
    default: byDefault,
    description: `Comma list of ${keys.join(', ')}; \`-\` before a key means descending.`,
    'x-comma-list': {
      values: Type.Enum(keys.flatMap((key) => [key, `-${key}`])),
      noun: 'key',
    } satisfies CommaList,
  }) as TSchema as TUnsafe<OrderingText<Key>>

/** A list: exactly `results` and `count`, from one snapshot. */
export const Page = <T extends TSchema>(element: T) =>
  Strict(
    {
      results: Type.Array(element, { description: 'the results of this page' }),
      count: Type.Integer({ minimum: 0, description: 'number of results on all pages, exact' }),
    },
    titled(element, 'Page'),
  )

/** Returns whether the schema was created by `Page`. */
export const isPage = (schema: TSchema | null): boolean =>
  Object.keys((schema as { properties?: object } | null)?.properties ?? {}).join() === 'results,count'

/**
 * The answer of a changing call with `dry_run=true`: the changes and the resulting record. `null`: the operation returns no
 * record.
 */
export const DryRun = (record: TSchema | null): TSchema =>
  record
    ? Strict({ ...dryRunFields, result: record }, titled(record, 'DryRun'))
    : Component('DryRun', { ...dryRunFields, result: Type.Null() })

export const FieldChange = Component('FieldChange', {
  field: Type.String({ description: 'name of the field' }),
  before: Type.Unknown({ description: 'value before the change; null if there is none' }),
  after: Type.Unknown({ description: 'value after the change' }),
})

const dryRunFields = {
  dry_run: Type.Literal(true),
  changes: Type.Array(FieldChange, {
    description:
      'the fields that would change. Ignore those that the server sets, such as `id` and times: for a record that does not exist ' +
      'yet they are placeholders, in `result` too, and the created record has others',
  }),
}

/** The title of a schema with a suffix; empty if the schema has no title. */
const titled = (schema: TSchema, suffix: string): { title?: string } =>
  'title' in schema ? { title: `${String(schema.title)}${suffix}` } : {}

/** Returns a code such as `scope_missing` or `event.started` in PascalCase. */
export const pascalCase = (code: string): string =>
  code.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The author of a change: one form in all answers and in the audit log. */
export const Actor = Type.String({
  title: 'Actor',
  description:
    '`user:<id>`, `token:<id>` (an API token), `staff_token:<id>`, `staff` (an employee of the provider, in answers to a ' +
    'team), `operator` (the platform file or a command) or `pharos` (a loop)',
})

/** A reference to a team, in answers for staff and in webhook messages. */
export const TeamReference = Component('TeamReference', {
  id: Id,
  name: Type.String({ description: 'name of the team' }),
})

/** A reference to a place of the provider. */
export const LocationReference = Component('LocationReference', {
  key: Type.String({ description: 'key of the location' }),
  name: Type.String({ description: 'name of the location' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
})
