// The choice filters of a list: one value, several, or yes and no. Empty means any.
import { MultiSelect, Select } from '@mantine/core'
import { textsOf } from './use-page-search.ts'

export type Option<Value extends string> = { readonly value: Value; readonly label: string }

type FilterProps = {
  readonly label: string
  /** Shown while nothing is chosen. */
  readonly placeholder: string
  readonly width: number | string
  /** As in the address. */
  readonly value: unknown
  readonly error?: string | undefined
}

export function SelectFilter<Value extends string>({
  label,
  placeholder,
  width,
  options,
  value,
  onChange,
}: FilterProps & {
  readonly options: readonly Option<Value>[]
  readonly onChange: (value: Value | undefined) => void
}) {
  return (
    <Select
      size="xs"
      w={width}
      aria-label={label}
      placeholder={placeholder}
      clearable
      data={options}
      value={value === undefined ? null : String(value)}
      onChange={(chosen) => onChange(options.find((one) => one.value === chosen)?.value)}
    />
  )
}

export function YesNoFilter({
  yes,
  no,
  onChange,
  ...rest
}: FilterProps & {
  readonly yes: string
  readonly no: string
  readonly onChange: (value: boolean | undefined) => void
}) {
  return (
    <SelectFilter
      {...rest}
      options={[
        { value: 'true', label: yes },
        { value: 'false', label: no },
      ]}
      onChange={(chosen) => onChange(chosen === undefined ? undefined : chosen === 'true')}
    />
  )
}

export function MultiSelectFilter<Value extends string>({
  label,
  placeholder,
  width,
  options,
  value,
  error,
  onChange,
}: FilterProps & {
  readonly options: readonly Option<Value>[]
  readonly onChange: (value: Value[]) => void
}) {
  const chosen = textsOf(value)
  return (
    <MultiSelect
      size="xs"
      w={width}
      aria-label={label}
      placeholder={chosen.length > 0 ? '' : placeholder}
      clearable
      data={options}
      value={chosen}
      error={error}
      onChange={(values) => onChange(options.map((one) => one.value).filter((one) => values.includes(one)))}
    />
  )
}

/** Returns options whose labels are the values, as words. */
export const optionsOf = <Value extends string>(values: readonly Value[]): Option<Value>[] =>
  values.map((value) => {
    const text = value.replaceAll('_', ' ')
    return { value, label: text.charAt(0).toUpperCase() + text.slice(1) }
  })
