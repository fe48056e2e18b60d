// The parts of an object in an element, such as the settings of a router: which it has, and their values in a form. Pure.
import type { PlatformField, PlatformPart } from '@pharos/contract/operator/platform'

export type Parts = Readonly<Record<string, unknown>>

/** Any other value as an object without parts. */
export const partsIn = (value: unknown): Parts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Parts) : {}

/** The parts of an object whose kind is `selected`. */
export const partsFor = ({ parts }: PlatformField, selected: unknown): PlatformPart[] =>
  parts.filter(({ of }) => of === null || of === selected)

/** Returns the value at `next_hop.ipv4`. */
export const partAt = (object: Parts, name: string): unknown =>
  name.split('.').reduce<unknown>((value, step) => partsIn(value)[step], object)

/** Returns the object with another value at `next_hop.ipv4`; undefined and an empty text remove it, and an object that is then empty. */
export function withPart(object: Parts, name: string, value: unknown): Parts {
  const [step = '', ...rest] = name.split('.')
  const { [step]: inner, ...others } = object
  const next = rest.length > 0 ? withPart(partsIn(inner), rest.join('.'), value) : value
  const isNothing =
    next === undefined || next === '' || (rest.length > 0 && Object.keys(next as object).length === 0)
  return isNothing ? others : { ...others, [step]: next }
}

/** Another kind has other parts: only the common parts stay. */
export const withKind = (field: PlatformField, object: Parts, kind: unknown): Parts =>
  field.parts
    .filter(({ of, name }) => of === null && name !== 'kind')
    .reduce((kept, { name }) => withPart(kept, name, partAt(object, name)), withPart({}, 'kind', kind))

/** Texts without the spaces around them, and objects without nulls, which the server returns for parts without a value. */
export const trimmed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return value.map(trimmed)
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, part]) => (part === null ? [] : [[name, trimmed(part)]])),
      )
    : value
}
