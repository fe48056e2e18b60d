// The field that edits one filter of a traffic view: key, operator, and values with suggestions.
import {
  Autocomplete,
  Button,
  Group,
  Select,
  Stack,
  TagsInput,
  Text,
  type OptionsFilter,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { getFilterKeysRoute, type FilterKey } from '@pharos/contract/events/filter-key'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState, type SyntheticEvent } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'
import { readValue, valueText } from './filter-values.ts'
import { operators, type FlowFilter, type Operator } from './traffic-view.ts'
import type { FlowKeys } from './use-flows.ts'
import { words } from './words.ts'

const { filter: texts } = words

type FilterEditorProps = {
  readonly keys: FlowKeys
  /** The filter to change; a new one if left out. */
  readonly filter?: FlowFilter
  readonly onApply: (filter: FlowFilter) => void
}

export function FilterEditor({ keys, filter, onApply }: FilterEditorProps) {
  const [key, setKey] = useState(filter?.key ?? null)
  const known = key === null ? undefined : keys.find(key)
  const allowed = operatorsOf(known)
  const [op, setOp] = useState<Operator>(filter?.op ?? 'eq')
  const [values, setValues] = useState<readonly string[]>(filter?.values ?? [])
  const [isMissing, setMissing] = useState(false)
  const shownOp = allowed.includes(op) ? op : allowed[0]!
  const hasMany = shownOp === 'in' || shownOp === 'not_in'

  function apply(event: SyntheticEvent) {
    event.preventDefault()
    event.stopPropagation()
    const given = values.map((one) => one.trim()).filter((one) => one !== '')
    if (key === null || given.length === 0) return setMissing(true)
    onApply({ key, op: shownOp, values: hasMany ? given : given.slice(0, 1) })
  }

  if (keys.error !== undefined && keys.error !== null)
    return <Problem error={keys.error} retry={() => keys.retry()} />
  return (
    <form onSubmit={apply} noValidate>
      <Stack gap="xs">
        <KeySelect
          list={keys.list}
          value={key}
          hasFocus={filter === undefined}
          onChange={(next) => {
            setKey(next)
            setValues([])
            setMissing(false)
          }}
        />
        {known && known.description !== '' && (
          <Text size="xs" c="dimmed">
            {plainText(known.description)}
          </Text>
        )}
        {key !== null && (
          <>
            <Select
              size="xs"
              label={texts.operator}
              data={allowed.map((value) => ({ value, label: texts.operators[value] }))}
              value={shownOp}
              allowDeselect={false}
              comboboxProps={{ withinPortal: false }}
              onChange={(next) => setOp((next as Operator | null) ?? 'eq')}
            />
            <ValueField
              key={key}
              filterKey={key}
              known={known}
              values={values}
              hasMany={hasMany}
              error={isMissing && values.every((one) => one.trim() === '') ? texts.noValue : undefined}
              onChange={setValues}
            />
          </>
        )}
        <Group justify="flex-end">
          <Button size="xs" type="submit" disabled={key === null}>
            {texts.apply}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type KeySelectProps = {
  readonly list: FlowKeys['list']
  readonly value: string | null
  readonly hasFocus: boolean
  readonly onChange: (key: string | null) => void
}

const KeySelect = ({ list, value, hasFocus, onChange }: KeySelectProps) => (
  <Select
    size="xs"
    label={texts.field}
    data={list.map(({ key, label }) => ({ value: key, label }))}
    value={value}
    searchable
    allowDeselect={false}
    {...(hasFocus ? { 'data-autofocus': true } : {})}
    comboboxProps={{ withinPortal: false }}
    nothingFoundMessage={words.bar.noDimension}
    onChange={onChange}
  />
)

/** Descriptions of the API are for documents, with code in backticks. */
const plainText = (description: string): string => {
  const text = description.replaceAll('`', '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const operatorsOf = (known: FilterKey | undefined): readonly Operator[] => {
  const allowed = operators.filter(
    (one) => known === undefined || (known.operators as readonly string[]).includes(one),
  )
  return allowed.length === 0 ? ['eq'] : allowed
}

type ValueFieldProps = {
  readonly filterKey: string
  readonly known: FilterKey | undefined
  readonly values: readonly string[]
  readonly hasMany: boolean
  readonly error: string | undefined
  readonly onChange: (values: readonly string[]) => void
}

const suggestionsMax = 20

/** The API has already filtered the suggestions. */
const all: OptionsFilter = ({ options }) => options

/** A suggestion appears by its name; typed text is used as the value. */
function ValueField({ filterKey, known, values, hasMany, error, onChange }: ValueFieldProps) {
  const [search, setSearch] = useState('')
  // A text that changed while it is typed could not be completed.
  const [typed, setTyped] = useState<string>()
  const [prefix] = useDebouncedValue(search, 150)
  const answer = useQuery(
    answerOverLastOf(getFilterKeysRoute, {
      query: {
        dataset: ['flows'],
        key: filterKey,
        limit: suggestionsMax,
        ...(prefix === '' ? {} : { prefix }),
      },
    }),
  )
  const offered = answer.data?.results.find((one) => one.key === filterKey)?.values ?? []
  const suggested = useRef(new Map<string, string>())
  for (const { value, label } of [...(known?.values ?? []), ...offered]) suggested.current.set(value, label)
  const shown = (value: string) => valueText(value, suggested.current)
  const data = [...new Set(offered.map(({ value }) => shown(value)))]
  const shared = {
    size: 'xs' as const,
    data,
    label: hasMany ? texts.values : texts.value,
    placeholder: values.length === 0 ? texts.placeholder : '',
    error: error ?? (answer.error ? texts.failed : undefined),
    comboboxProps: { withinPortal: false },
    filter: all,
    maxDropdownHeight: 200,
  }
  if (hasMany)
    return (
      <TagsInput
        {...shared}
        value={values.map(shown)}
        searchValue={search}
        onSearchChange={setSearch}
        splitChars={[',', ' ', ';']}
        acceptValueOnBlur
        onChange={(next) => {
          setTyped(undefined)
          onChange(next.map((text) => readValue(text, suggested.current).value))
        }}
      />
    )
  return (
    <Autocomplete
      {...shared}
      value={typed ?? (values[0] === undefined ? '' : shown(values[0]))}
      onChange={(text) => {
        const { value, isChosen } = readValue(text, suggested.current)
        setTyped(isChosen ? undefined : text)
        setSearch(isChosen ? '' : text)
        onChange([value])
      }}
    />
  )
}
