// Values of a form for an element, from its kind: what the fields start with, and what they become in a request. Pure.
import type { PlatformElement, PlatformField, PlatformKind } from '@pharos/contract/operator/platform'
import { partsIn, trimmed } from './element-parts.ts'

/** Values of the widgets: texts, numbers, lists and switches; an empty text is no value. */
export type ElementFields = Record<string, unknown>

/** A boolean that is neither true nor false by default has a third state, so that it is a choice. */
export const isSwitch = ({ type, initial }: PlatformField): boolean =>
  type === 'boolean' && typeof initial === 'boolean'

export function fieldsOf({ fields }: PlatformKind, element?: Pick<PlatformElement, 'values'>): ElementFields {
  return Object.fromEntries(
    fields.map((field) => [field.name, shownValue(field, element?.values[field.name] ?? field.initial)]),
  )
}

function shownValue(field: PlatformField, value: unknown): unknown {
  if (field.type === 'secret' || field.type === 'image') return ''
  if (field.type === 'object') return partsIn(value)
  if (field.type === 'objects') return Array.isArray(value) ? value : []
  if (field.type === 'json') return isEmpty(value) ? '' : JSON.stringify(value, null, 2)
  if (field.type === 'texts' || field.type === 'choices') return Array.isArray(value) ? value : []
  if (field.type === 'boolean' && !isSwitch(field)) return typeof value === 'boolean' ? String(value) : ''
  return value ?? (isSwitch(field) ? false : '')
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && Object.keys(value).length === 0)

/** Parses JSON; a text that is none is itself, as `all` is. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return /^[a-z]+$/.test(text.trim()) ? text.trim() : undefined
  }
}

/**
 * The element of the request. A field without a value is left out, and gets its default; one that ends by null, such as the service of
 * a port, is null if the element had a value.
 */
export function valuesOf(
  { fields }: PlatformKind,
  values: ElementFields,
  element?: Pick<PlatformElement, 'values'>,
): Record<string, unknown> {
  const ended = fields.filter(
    ({ name, nullable }) => nullable && isEmpty(values[name]) && element?.values[name] !== undefined,
  )
  const endsTeam = ended.length > 0
  return Object.fromEntries([
    ...fields.flatMap((field): [string, unknown][] => {
      const value = sentValue(field, values[field.name])
      return isEmpty(value) || (endsTeam && field.name === 'team') ? [] : [[field.name, value]]
    }),
    ...ended.map(({ name }) => [name, null] as const),
  ])
}

function sentValue(field: PlatformField, value: unknown): unknown {
  if (isEmpty(value)) return undefined
  if (field.type === 'object' || field.type === 'objects') return trimmed(value)
  if (field.type === 'json') return parseJson(String(value))
  if (field.type === 'boolean' && !isSwitch(field)) return value === 'true'
  return typeof value === 'string' && field.type !== 'secret' && field.type !== 'image' ? value.trim() : value
}
