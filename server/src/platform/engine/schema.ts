// Schemas of values that several kinds of the platform file have. `expects` completes the error "x must be ...".
import { Line, Paragraphs } from '@pharos/contract/text'
import { Type, type TProperties, type TSchema } from 'typebox'

type Expects = { readonly expects: string }

/** An object without further fields. */
export const Strict = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })
export const Optional = Type.Optional
export const Pattern = (pattern: string, expects: Expects) => Type.String({ pattern, ...expects })

export const Text = Paragraphs({ maxLength: 500, expects: 'a text of at most 500 characters' })
export const Name = Line({ minLength: 1, maxLength: 200, expects: 'a name, 1 to 200 characters' })
export const Flag = Type.Boolean({ expects: 'true or false' })
export const Country = Pattern('^[A-Z]{2}$', { expects: 'a country of two capital letters, such as NL' })
export const ShortSlug = Pattern('^[a-z0-9][a-z0-9-]{0,31}$', {
  expects: 'lower-case letters, digits and hyphens, at most 32',
})
export const TeamSlug = Pattern('^[a-z0-9][a-z0-9-]{0,62}$', {
  expects: 'lower-case letters, digits and hyphens, at most 63',
})
export const PrefixText = Type.String({
  minLength: 1,
  maxLength: 100,
  expects: 'a prefix such as 192.0.2.0/24',
})
export const AsnNumber = Type.Integer({
  minimum: 1,
  maximum: 4_294_967_295,
  expects: 'an AS number as a whole number, such as 64496',
})
export const SecretText = Type.String({ minLength: 1, maxLength: 1000, expects: 'a text in quotes' })
export const FilePath = Type.String({ minLength: 1, maxLength: 4096, expects: 'the path of a file' })
/** True: passed; the existing time of the pass stays, else now. A string is that time. */
export const Passed = Type.Union([Type.Boolean(), Type.String({ minLength: 1, maxLength: 40 })], {
  expects: 'true, false, or a time such as 2026-01-31T12:00:00Z',
})
/**
 * Settings whose form depends on a kind: that of the field `by` of the element, or their own `kind`. The driver checks them; the schemas
 * are for forms.
 */
export const SettingsOf = (variants: Readonly<Record<string, TSchema>>, by: string) =>
  Type.Record(Type.String(), Type.Unknown(), { expects: 'a map of name: value', variants, by })
export const SettingsMap = Type.Record(Type.String(), Type.Unknown(), { expects: 'a map of name: value' })
