// The filters of a list, as a page declares them: what a parameter of the address means, how a person reads it, and the parameters
// for the API. Pure; the fields are in filter-field.tsx.
import type { StateColor } from './status.tsx'
import { textsOf } from './use-page-search.ts'

export type Option = {
  readonly value: string
  readonly label: string
  /** Renders a state as a pill of this color. */
  readonly color?: StateColor
  /** A second line, such as the e-mail address of a person. */
  readonly note?: string
}

type Named = {
  /** Parameter of the address and of the API. */
  readonly name: string
  readonly label: string
}

/** One or several of a list, such as states, regions or people. */
export type ChoiceFilter = Named & {
  readonly kind: 'choice'
  readonly options: readonly Option[]
  readonly isSingle?: boolean
  /** The options are not all values that exist, or not loaded yet: another value is kept. */
  readonly isOpen?: boolean
}

/** A text, such as a network or the name of a member. */
export type TextFilter = Named & {
  readonly kind: 'text'
  readonly placeholder?: string
  /** The text is a list separated by spaces or commas. */
  readonly hasMany?: boolean
  /** Returns the mistake in the text and how to correct it. */
  readonly mistakeIn?: (text: string) => string | undefined
  /** Returns the text as the API accepts it. */
  readonly normalize?: (text: string) => string
  /** Set by a link only, as its texts are keys: returns what the text means. The menu does not offer the filter. */
  readonly meaning?: (text: string) => string
}

/** A number with a unit that several parameters of the API stand for, such as a minimum in bits or packets per second. */
export type UnitFilter = Named & {
  readonly kind: 'unit'
  readonly names: readonly string[]
  readonly placeholder: string
  readonly hint: string
  /** Returns the parameters of a typed text; undefined if it cannot be read. */
  readonly parse: (text: string) => Values | undefined
  readonly format: (values: Values) => string
}

export type Filter = ChoiceFilter | TextFilter | UnitFilter

/** Texts of the address by parameter. */
export type Values = Readonly<Record<string, string>>

export const namesOf = (filter: Filter): readonly string[] =>
  filter.kind === 'unit' ? filter.names : [filter.name]

/** Reports whether the filter has a value. */
export const isSet = (filter: Filter, values: Values): boolean =>
  namesOf(filter).some((name) => (values[name] ?? '') !== '')

/** Reports whether people may add the filter from the menu. */
export const isOffered = (filter: Filter): boolean => filter.kind !== 'text' || filter.meaning === undefined

/** Returns a choice between yes and no. */
export const yesNo = (name: string, label: string, yes: string, no: string): ChoiceFilter => ({
  kind: 'choice',
  name,
  label,
  isSingle: true,
  options: [
    { value: 'true', label: yes },
    { value: 'false', label: no },
  ],
})

const shownMax = 3

/** Returns the chosen values as text: `Announced, Ready`. */
export function valueText(filter: Filter, values: Values): string {
  if (filter.kind === 'unit') return filter.format(values)
  const value = values[filter.name] ?? ''
  if (filter.kind === 'text')
    return filter.meaning?.(value) ?? (filter.hasMany ? wordsOf(value).join(', ') : value)
  const labels = textsOf(value).map(
    (one) => filter.options.find((option) => option.value === one)?.label ?? one,
  )
  const more = labels.length - shownMax
  return more > 0 ? `${labels.slice(0, shownMax).join(', ')} +${more}` : labels.join(', ')
}

/** Returns the parameters of the API. */
export function queryOf(filter: Filter, values: Values): Record<string, string | readonly string[]> {
  if (!isSet(filter, values)) return {}
  if (filter.kind === 'unit')
    return Object.fromEntries(filter.names.flatMap((name) => (values[name] ? [[name, values[name]]] : [])))
  const value = values[filter.name]!
  const isList = filter.kind === 'choice' ? filter.isSingle !== true : filter.hasMany === true
  return { [filter.name]: isList ? (filter.kind === 'text' ? wordsOf(value) : textsOf(value)) : value }
}

/** Returns the values of a choice that are not among its options. */
export function unknownIn(filter: Filter, values: Values): readonly string[] {
  if (filter.kind !== 'choice' || filter.isOpen) return []
  const known = new Set(filter.options.map(({ value }) => value))
  return textsOf(values[filter.name]).filter((one) => !known.has(one))
}

export const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

/** Returns options whose labels are the values, as words. */
export const optionsOf = (values: readonly string[]): Option[] =>
  values.map((value) => {
    const text = value.replaceAll('_', ' ')
    return { value, label: text.charAt(0).toUpperCase() + text.slice(1) }
  })
