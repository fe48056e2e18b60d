// The fields of a list's filters: one of a few words, several of them, or yes and no; empty means any.
import { MultiSelect, Select } from '@mantine/core'

type Option = string | { readonly value: string; readonly label: string }

type FilterProps = {
  readonly label: string
  /** What stands there while nothing is chosen. */
  readonly none: string
  readonly width: number
  /** Of the address, in whatever form it was written there. */
  readonly value: unknown
}

const listOf = (value: unknown): string[] => [value ?? []].flat().map(String)

export function OneOf({
  label,
  none,
  width,
  options,
  value,
  onChange,
}: FilterProps & {
  readonly options: readonly Option[]
  readonly onChange: (value: string | undefined) => void
}) {
  return (
    <Select
      size="xs"
      w={width}
      aria-label={label}
      placeholder={none}
      clearable
      data={options}
      value={value === undefined ? null : String(value)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  )
}

export function YesOrNo({
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
    <OneOf
      {...rest}
      options={[
        { value: 'true', label: yes },
        { value: 'false', label: no },
      ]}
      onChange={(chosen) => onChange(chosen === undefined ? undefined : chosen === 'true')}
    />
  )
}

export function SeveralOf({
  label,
  none,
  width,
  options,
  value,
  onChange,
}: FilterProps & {
  readonly options: readonly Option[]
  readonly onChange: (value: string[]) => void
}) {
  const chosen = listOf(value)
  return (
    <MultiSelect
      size="xs"
      w={width}
      aria-label={label}
      placeholder={chosen.length > 0 ? '' : none}
      clearable
      data={options}
      value={chosen}
      onChange={onChange}
    />
  )
}
