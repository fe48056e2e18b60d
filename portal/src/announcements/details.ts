// The details that a team sets of an announcement, as the values of a form. Pure.
import type { AnnouncementDetails, OwnDetailName } from '@pharos/contract/byoip/announcement-checks'

/** Without a value. */
export const emptyDetails = {
  description: '',
  as_set: '',
  loa_signatory: '',
  delegate_loa: false,
} satisfies Record<OwnDetailName, string | boolean>

type Widened<Value> = Value extends boolean ? boolean : string
export type DetailValues = { readonly [Name in OwnDetailName]: Widened<(typeof emptyDetails)[Name]> }

export const detailNames = Object.keys(emptyDetails) as OwnDetailName[]

const valuesOf = (valueOf: (name: OwnDetailName) => string | boolean): DetailValues =>
  Object.fromEntries(detailNames.map((name) => [name, valueOf(name)])) as DetailValues

export const detailsOf = (details: AnnouncementDetails | undefined): DetailValues =>
  valuesOf((name) => details?.[name] ?? emptyDetails[name])

/** Returns the values that are not empty, without white space around them. */
export const givenDetails = (values: DetailValues): Partial<DetailValues> =>
  differentDetails(emptyDetails, values)

/** Returns the values that differ, without white space around them. */
export function differentDetails(before: DetailValues, after: DetailValues): Partial<DetailValues> {
  const names = detailNames.filter((name) => trim(after[name]) !== trim(before[name]))
  return Object.fromEntries(names.map((name) => [name, trim(after[name])]))
}

const trim = (value: string | boolean) => (typeof value === 'string' ? value.trim() : value)

/** Returns the values that an address contains; values of another type are dropped. */
export const readDetails = (search: { readonly [Name in OwnDetailName]?: unknown }): DetailValues =>
  valuesOf((name) =>
    typeof emptyDetails[name] === 'boolean' ? String(search[name]) === 'true' : textOf(search[name]),
  )

export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
