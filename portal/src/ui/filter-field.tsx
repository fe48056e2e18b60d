// The field that edits one filter of a list: options to check, or a text.
import { Button, Checkbox, Group, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useState, type SyntheticEvent } from 'react'
import type { ChoiceFilter, Filter, TextFilter, UnitFilter, Values } from './list-filter.ts'
import classes from './filter.module.css'
import { StatePill } from './status.tsx'
import { textsOf } from './use-page-search.ts'
import { words } from './words.ts'

type FieldProps<Kind extends Filter = Filter> = {
  readonly filter: Kind
  readonly values: Values
  readonly onChange: (changes: Readonly<Record<string, unknown>>) => void
  readonly onClose: () => void
}

export function FilterField(props: FieldProps) {
  const { filter } = props
  if (filter.kind === 'choice') return <Choice {...props} filter={filter} />
  return <TypedText {...props} filter={filter} />
}

/** More options than this have a field to find one. */
const optionsWithoutSearch = 9

function Choice({ filter, values, onChange, onClose }: FieldProps<ChoiceFilter>) {
  const { name, label, options, isSingle = false } = filter
  const [search, setSearch] = useState('')
  const chosen = textsOf(values[name])
  const listed = [
    ...options,
    ...chosen
      .filter((one) => options.every(({ value }) => value !== one))
      .map((value) => ({ value, label: value })),
  ]
  const found = listed.filter((one) =>
    `${one.label} ${'note' in one ? one.note : ''}`.toLowerCase().includes(search.trim().toLowerCase()),
  )
  const toggle = (value: string) =>
    onChange({
      [name]: listed
        .map((one) => one.value)
        .filter((one) => (one === value ? !chosen.includes(one) : chosen.includes(one))),
    })
  return (
    <Stack gap="xs">
      {listed.length > optionsWithoutSearch && (
        <TextInput
          size="xs"
          data-autofocus
          aria-label={`${words.filter.findOption}: ${label}`}
          placeholder={words.filter.findOption}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      <div role="group" aria-label={label} className={classes['options']}>
        {found.map((option, at) => (
          <OptionField
            key={option.value}
            option={option}
            name={name}
            isSingle={isSingle}
            isChosen={chosen.includes(option.value)}
            hasFocus={at === 0 && listed.length <= optionsWithoutSearch}
            onChange={() => (isSingle ? onChange({ [name]: option.value }) : toggle(option.value))}
          />
        ))}
        {found.length === 0 && (
          <Text size="sm" c="dimmed">
            {words.filter.noOption}
          </Text>
        )}
      </div>
      <Group justify="flex-end">
        <Button size="xs" variant="default" onClick={onClose}>
          {words.filter.done}
        </Button>
      </Group>
    </Stack>
  )
}

type OptionFieldProps = {
  readonly option: ChoiceFilter['options'][number]
  readonly name: string
  readonly isSingle: boolean
  readonly isChosen: boolean
  readonly hasFocus: boolean
  readonly onChange: () => void
}

function OptionField({ option, name, isSingle, isChosen, hasFocus, onChange }: OptionFieldProps) {
  const shared = {
    label:
      'color' in option && option.color ? (
        <StatePill color={option.color}>{option.label}</StatePill>
      ) : (
        <>
          {option.label}
          {'note' in option && <span className={classes['note']}>{option.note}</span>}
        </>
      ),
    checked: isChosen,
    classNames: { body: classes['option']!, labelWrapper: classes['label']! },
    ...(hasFocus ? { 'data-autofocus': true } : {}),
  }
  return isSingle ? (
    <Radio size="xs" name={name} {...shared} onChange={onChange} />
  ) : (
    <Checkbox size="xs" radius={4} {...shared} onChange={onChange} />
  )
}

/** The text is checked only when it is submitted, not while typing. */
function TypedText({ filter, values, onChange, onClose }: FieldProps<TextFilter | UnitFilter>) {
  const [text, setText] = useState(() =>
    filter.kind === 'unit' ? filter.format(values) : (values[filter.name] ?? ''),
  )
  const [mistake, setMistake] = useState<string>()
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const typed = text.trim()
    const read = filter.kind === 'unit' ? filter.parse(typed) : undefined
    const found = filter.kind === 'unit' ? (read ? undefined : filter.hint) : filter.mistakeIn?.(typed)
    setMistake(found)
    if (found !== undefined) return
    onChange(
      filter.kind === 'unit'
        ? { ...Object.fromEntries(filter.names.map((name) => [name, undefined])), ...read }
        : { [filter.name]: filter.normalize ? filter.normalize(typed) : typed },
    )
    onClose()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          data-autofocus
          label={filter.label}
          placeholder={filter.placeholder}
          value={text}
          error={mistake}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value)
            setMistake(undefined)
          }}
        />
        <Group justify="flex-end">
          <Button size="xs" type="submit">
            {words.filter.apply}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
