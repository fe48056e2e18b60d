// The building blocks of every schema: what an id, a time, a prefix, a page looks like on the wire.
// Shapes only; whether a prefix really is one is the server's to say.
import { Type, type TProperties, type TSchema, type TUnsafe } from 'typebox'

/** An object that refuses fields it does not name. */
export const Strict = <T extends TProperties>(properties: T, options: { description?: string } = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A field that may be left out. */
export const Optional = Type.Optional

/** The id of one of our rows, positive, at most 15 digits so that every JSON reader keeps it exact. */
export const Id = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 })

/** Date-time, ISO 8601. Answers are UTC with `Z`; an offset is accepted, a naive time is read as UTC. */
export const Time = Type.String({
  format: 'date-time',
  description: 'ISO 8601; UTC unless it says an offset',
})

export const NullableTime = Nullable(Time)

/** One of a closed list of words. */
export const OneOf = <const V extends readonly string[]>(...values: V) => Type.Enum<[...V]>([...values])

/** A query parameter that may be given several times and then means OR. */
export const Repeatable = <T extends TSchema>(schema: T) => Type.Array(schema, { minItems: 1, maxItems: 100 })

/** A parameter that the specification calls nullable: empty means absent. Goes inside `Optional`. */
export const EmptyIsAbsent = <T extends TSchema>(schema: T): T => ({ ...schema, 'x-empty-is-absent': true })

export const Limit = Type.Integer({ minimum: 1, maximum: 1000, default: 100 })
export const Offset = Type.Integer({ minimum: 0, maximum: 999_999_999_999_999, default: 0 })

/** The text of an ordering parameter. Its type carries the keys, so that the SQL of a list names a column for each. */
export type OrderingText<Key extends string = string> = string & { readonly orderingKeys?: Key }

/** A comma list of keys, `-` before a key for descending. The keys are checked here; the server adds the id. */
export const Ordering = <const Key extends string>(keys: readonly Key[], byDefault: string) =>
  Type.String({
    default: byDefault,
    minLength: 1,
    maxLength: 500,
    description: `Comma list of ${keys.join(', ')}; \`-\` before a key means descending.`,
    'x-ordering-keys': keys,
  }) as TSchema as TUnsafe<OrderingText<Key>>

/** A list: exactly `results` and `count`, from one snapshot. */
export const Page = <T extends TSchema>(element: T) =>
  Strict({
    results: Type.Array(element),
    count: Type.Integer({ minimum: 0, description: 'exact, of all pages' }),
  })

/** Returns whether the schema was made by `Page`. */
export const isPage = (schema: TSchema | null): boolean =>
  Object.keys((schema as { properties?: object } | null)?.properties ?? {}).join() === 'results,count'

/** What a changing call with `dry_run=true` answers: what would change, and the record as it would be. */
export const DryRun = <T extends TSchema>(record: T) =>
  Strict({
    dry_run: Type.Literal(true),
    changes: Type.Array(Strict({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
    result: record,
  })
