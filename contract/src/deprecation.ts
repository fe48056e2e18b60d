// Deprecated operations and fields: declared with the days between which they still work, and documented with what replaces them. The
// server sends the headers (server/src/http/deprecation.ts).
import type { TSchema } from 'typebox'

export type Deprecation = {
  /** The day from which it should not be used, such as `2026-12-01`, in UTC. */
  readonly since: string
  /** The day from which it may be gone; at least `deprecatedMonthsMin` later. */
  readonly sunset: string
  /** Name of the operation or field to use instead. */
  readonly use: string
}

const deprecatedMonthsMin = 12

/** Returns the schema of a field as deprecated. The field keeps working until the sunset. */
export const Deprecated = <T extends TSchema>(schema: T, deprecation: Deprecation): T => ({
  ...schema,
  deprecated: checkDeprecation(deprecation),
})

/** Returns the deprecation; throws if a day is invalid or the time between the two is too short. */
export function checkDeprecation(deprecation: Deprecation): Deprecation {
  const [since, sunset] = [timeOf(deprecation.since), timeOf(deprecation.sunset)]
  const earliest = new Date(since)
  earliest.setUTCMonth(earliest.getUTCMonth() + deprecatedMonthsMin)
  if (!(sunset >= earliest.getTime()))
    throw new Error(
      `deprecated since ${deprecation.since} until ${deprecation.sunset}: ${deprecatedMonthsMin} months at least`,
    )
  return deprecation
}

/** Start of the day in milliseconds; NaN if it is no day. */
export const timeOf = (day: string): number =>
  /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN

/** Returns the keywords of a deprecated field in the document; an empty object for other fields. */
export const deprecationKeywords = ({ deprecated, description }: Described): Record<string, unknown> =>
  deprecated
    ? {
        deprecated: true,
        description: [...(description ? [description] : []), deprecationText(deprecated)].join('; '),
      }
    : {}

type Described = { readonly deprecated?: Deprecation; readonly description?: string }

export const deprecationText = ({ since, sunset, use }: Deprecation): string =>
  `deprecated since ${since}, works until ${sunset}: use \`${use}\``

type Field = {
  readonly deprecated?: Deprecation
  readonly properties?: Readonly<Record<string, Field>>
  readonly items?: Field
  readonly anyOf?: readonly Field[]
}

/** Returns the deprecations of all fields below the schema. */
export function deprecationsIn(schema: TSchema | null): Deprecation[] {
  const { deprecated, properties = {}, items, anyOf = [] } = (schema ?? {}) as Field
  const below = [...Object.values(properties), ...(items ? [items] : []), ...anyOf]
  return [...(deprecated ? [deprecated] : []), ...below.flatMap((one) => deprecationsIn(one as TSchema))]
}

/** Returns the deprecations of the fields that the value has. */
export function deprecationsUsed(schema: TSchema | null, value: unknown): Deprecation[] {
  if (value === undefined || schema === null) return []
  const { deprecated, properties = {}, items, anyOf = [] } = schema as Field
  const used = (field: Field | undefined, one: unknown) =>
    deprecationsUsed((field ?? null) as TSchema | null, one)
  const below = Array.isArray(value)
    ? value.flatMap((one) => used(items, one))
    : Object.entries(Object(value) as object).flatMap(([name, one]) => used(properties[name], one))
  return [...(deprecated ? [deprecated] : []), ...below, ...anyOf.flatMap((one) => used(one, value))]
}
