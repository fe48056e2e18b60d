// What the list of events can be filtered by: all that the API takes. The address keeps it, so fields follow the address;
// what the API refuses is said at the field. On a narrow screen the fields fold into one button.
import { Button, Collapse, Group, MultiSelect, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure, useMediaQuery } from '@mantine/hooks'
import { eventFlags } from '@pharos/contract/analysis'
import { IconFilter, IconFilterOff } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import type { ListSearch } from '../ui/use-list-search.ts'
import classes from './events.module.css'
import { flagWord } from './flags.ts'
import { TimeWindow } from './time-window.tsx'

export type FilterProps = Pick<ListSearch, 'filters' | 'setFilters'> & {
  /** What the API says against a parameter. */
  readonly errorOf: (name: string) => string | undefined
}

/** Each of them counts once; from and to are one window. */
export function countFilters(filters: ListSearch['filters']): number {
  return new Set(Object.keys(filters).map((name) => (name === 'end' ? 'start' : name))).size
}

export function EventFilters(props: FilterProps) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const [opened, { toggle }] = useDisclosure(false)
  const { filters, setFilters } = props
  const count = countFilters(filters)
  const clear = count > 0 && (
    <Button
      size="xs"
      variant="subtle"
      leftSection={<IconFilterOff size={14} />}
      onClick={() => setFilters(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))}
    >
      Take the filters away
    </Button>
  )
  if (!isNarrow) {
    return (
      <Group gap="xs" align="flex-start">
        <Fields {...props} />
        {clear}
      </Group>
    )
  }
  return (
    <div className={classes['filters']}>
      <Group gap="xs">
        <Button
          variant="default"
          aria-expanded={opened}
          onClick={toggle}
          leftSection={<IconFilter size={14} />}
        >
          {count > 0 ? `Filters (${count})` : 'Filters'}
        </Button>
        {clear}
      </Group>
      <Collapse expanded={opened}>
        <Stack gap="xs" mt="xs">
          <Fields {...props} isNarrow />
        </Stack>
      </Collapse>
    </div>
  )
}

function Fields({ filters, setFilters, errorOf, isNarrow }: FilterProps & { isNarrow?: boolean }) {
  const flags = [filters['flag'] ?? []].flat().map(String)
  return (
    <>
      <TextFilter
        label="Address or prefix"
        width={isNarrow ? '100%' : 190}
        value={String(filters['affected_network'] ?? '')}
        onCommit={(text) => setFilters({ affected_network: text })}
        error={errorOf('affected_network')}
        isSearch
      />
      <TextFilter
        label="Words of the description"
        width={isNarrow ? '100%' : 180}
        value={String(filters['description'] ?? '')}
        onCommit={(text) => setFilters({ description: text })}
        error={errorOf('description')}
      />
      <MultiSelect
        size="xs"
        className={classes['field']!}
        w={isNarrow ? '100%' : 190}
        aria-label="Flags"
        placeholder={flags.length > 0 ? '' : 'Any flag'}
        clearable
        data={eventFlags.map((flag) => ({ value: flag, label: flagWord(flag) }))}
        value={flags}
        onChange={(flag) => setFilters({ flag })}
        error={errorOf('flag')}
      />
      <TimeWindow filters={filters} setFilters={setFilters} errorOf={errorOf} />
    </>
  )
}

type TextFilterProps = {
  readonly label: string
  readonly width: number | string
  readonly value: string
  readonly onCommit: (text: string) => void
  readonly error: string | undefined
  readonly isSearch?: boolean
}

/** Goes into the address once one pauses typing; a change of the address that was not typed here comes into the field. */
function TextFilter({ label, width, value, onCommit, error, isSearch }: TextFilterProps) {
  const [text, setText] = useState(value)
  const committed = useRef(value)
  const commit = useDebouncedCallback((next: string) => {
    committed.current = next
    onCommit(next)
  }, 300)
  useEffect(() => {
    if (value === committed.current) return
    committed.current = value
    setText(value)
  }, [value])
  return (
    <TextInput
      {...(isSearch ? { 'data-search': true } : {})}
      size="xs"
      className={classes['field']!}
      w={width}
      aria-label={label}
      placeholder={label}
      value={text}
      error={error}
      onChange={(event) => {
        setText(event.currentTarget.value)
        commit(event.currentTarget.value.trim())
      }}
    />
  )
}
