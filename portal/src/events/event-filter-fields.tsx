// The filters of the event list, with the API's errors at their fields. On a narrow screen they fold into one button.
import { Button, Collapse, Group, Stack } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { eventFlags } from '@pharos/contract/analysis'
import { IconFilter, IconFilterOff } from '@tabler/icons-react'
import { MultiSelectFilter } from '../ui/filter-fields.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { textOf } from '../ui/use-page-search.ts'
import { countFilters, type EventFilterProps } from './event-filters.ts'
import classes from './events.module.css'
import { flagLabel } from './flag-labels.ts'
import { TimeRange } from './time-range.tsx'

export function EventFilterFields({
  clearFilters,
  ...props
}: EventFilterProps & { clearFilters: () => void }) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const [opened, { toggle }] = useDisclosure(false)
  const count = countFilters(props.filters)
  const clear = count > 0 && (
    <Button size="xs" variant="subtle" leftSection={<IconFilterOff size={14} />} onClick={clearFilters}>
      Clear filters
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

function Fields({
  filters,
  setFilters,
  errorOf,
  isNarrow = false,
}: EventFilterProps & { isNarrow?: boolean }) {
  const widthOf = (width: number) => (isNarrow ? '100%' : width)
  return (
    <>
      <SearchField
        isMain
        label="Address or prefix"
        width={widthOf(190)}
        value={textOf(filters.affected_network)}
        onCommit={(text) => setFilters({ affected_network: text })}
        error={errorOf('affected_network')}
      />
      <SearchField
        label="Search description"
        width={widthOf(180)}
        value={textOf(filters.description)}
        onCommit={(text) => setFilters({ description: text })}
        error={errorOf('description')}
      />
      <MultiSelectFilter
        label="Flags"
        placeholder="Any flag"
        width={widthOf(190)}
        options={eventFlags.map((flag) => ({ value: flag, label: flagLabel(flag) }))}
        value={filters.flag}
        onChange={(flag) => setFilters({ flag })}
        error={errorOf('flag')}
      />
      <TimeRange filters={filters} setFilters={setFilters} errorOf={errorOf} />
    </>
  )
}
