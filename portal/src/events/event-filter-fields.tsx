// The filters of the event list, with the API's errors at their fields. On a narrow screen they fold into one button.
import { Button, Collapse, Group, Stack } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { eventFlags, eventStatuses, listRelatedEventsRoute } from '@pharos/contract/analysis'
import { classificationKeys, classificationLabel } from '@pharos/contract/classification'
import { IconFilter, IconFilterOff } from '@tabler/icons-react'
import { useState } from 'react'
import { useAnswer } from '../api/queries.ts'
import { MultiSelectFilter, YesNoFilter } from '../ui/filter-fields.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { eventStatusLabel } from '../ui/status.tsx'
import { textOf, textsOf } from '../ui/use-page-search.ts'
import { countFilters, type EventFilterProps } from './event-filters.ts'
import classes from './events.module.css'
import { flagLabel } from './flag-labels.ts'
import { isSameRate, parseRate, rateText } from './rate-text.ts'
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
        label="Search"
        placeholder="Search description, type, source, ID"
        width={widthOf(240)}
        value={textOf(filters.search)}
        mistakeIn={(text) => (text.length === 1 ? 'Enter at least 2 characters' : undefined)}
        onCommit={(text) => setFilters({ search: text })}
        error={errorOf('search')}
      />
      <MultiSelectFilter
        label="Type"
        placeholder="Any type"
        width={widthOf(190)}
        options={classificationKeys.map((key) => ({ value: key, label: classificationLabel(key) }))}
        value={filters.classification_key}
        onChange={(keys) => setFilters({ classification_key: keys })}
        error={errorOf('classification_key')}
      />
      <YesNoFilter
        label="Ongoing or ended"
        placeholder="Ongoing and ended"
        width={widthOf(150)}
        yes="Ongoing"
        no="Ended"
        value={filters.ongoing}
        onChange={(ongoing) => setFilters({ ongoing })}
      />
      <RateField filters={filters} setFilters={setFilters} errorOf={errorOf} width={widthOf(150)} />
      <MultiSelectFilter
        label="Status"
        placeholder="Any status"
        width={widthOf(160)}
        options={eventStatuses.map((status) => ({ value: status, label: eventStatusLabel(status) }))}
        value={filters.status}
        onChange={(status) => setFilters({ status })}
        error={errorOf('status')}
      />
      <SourceField filters={filters} setFilters={setFilters} errorOf={errorOf} width={widthOf(150)} />
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

type FieldProps = EventFilterProps & { readonly width: number | string }

/** Bits or packets per second, by the unit. The typed text stays while it equals the rate in the address. */
function RateField({ filters, setFilters, errorOf, width }: FieldProps) {
  const [typed, setTyped] = useState('')
  const given = { min_bps: numberOf(filters.min_bps), min_pps: numberOf(filters.min_pps) }
  return (
    <SearchField
      label="Minimum peak rate"
      placeholder="Minimum rate, 500 Mbps"
      width={width}
      value={isSameRate(parseRate(typed), given) ? typed : rateText(given)}
      mistakeIn={(text) =>
        parseRate(text) === undefined ? 'Enter a rate, such as 500 Mbps or 100 kpps' : undefined
      }
      onCommit={(text) => {
        const { min_bps, min_pps } = parseRate(text) ?? {}
        setTyped(text)
        setFilters({ min_bps, min_pps })
      }}
      error={errorOf('min_bps') ?? errorOf('min_pps')}
    />
  )
}

const numberOf = (value: unknown): number | undefined => {
  const number = Number(value)
  return value === undefined || !Number.isSafeInteger(number) ? undefined : number
}

/** The sources of the latest events, and those of the address. */
function SourceField({ filters, setFilters, errorOf, width }: FieldProps) {
  const latest = useAnswer(listRelatedEventsRoute, { query: { ordering: '-start', limit: 100 } })
  const chosen = textsOf(filters.source_key)
  const known = latest.data?.results.map(({ source_key: key }) => key) ?? []
  return (
    <MultiSelectFilter
      label="Source"
      placeholder="Any source"
      width={width}
      options={[...new Set([...known, ...chosen])].toSorted().map((key) => ({ value: key, label: key }))}
      value={chosen}
      onChange={(keys) => setFilters({ source_key: keys })}
      error={errorOf('source_key')}
    />
  )
}
