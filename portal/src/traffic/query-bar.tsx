// The query of the traffic explorer: chart type, dimensions, number of groups, unit, direction, comparison and time range, and
// below them the filters. A change takes effect immediately.
import {
  Button,
  Card,
  Menu,
  NativeSelect,
  SegmentedControl,
  Switch,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { IconArrowRight, IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { Editor } from '../ui/filter-chips.tsx'
import { TimeRangeField } from '../ui/time-range-field.tsx'
import type { TimeRange } from '../ui/time-range.ts'
import { FilterEditor } from './filter-editor.tsx'
import {
  chartKinds,
  dimensionsMax,
  directions,
  metrics,
  tops,
  withFilter,
  type ChartKind,
  type Direction,
  type FlowFilter,
  type Metric,
  type TrafficView,
} from './traffic-view.ts'
import type { FlowKeys } from './use-flows.ts'
import filterClasses from '../ui/filter.module.css'
import classes from './traffic.module.css'
import { words } from './words.ts'

const { bar: texts } = words

type QueryBarProps = {
  readonly view: TrafficView
  readonly range: TimeRange
  readonly keys: FlowKeys
  readonly onView: (changes: Partial<TrafficView>) => void
  readonly onRange: (range: TimeRange) => void
}

export function QueryBar({ view, range, keys, onView, onRange }: QueryBarProps) {
  const { chart, metric, direction, by, top, isCompared } = view
  const counts = [...new Set([...tops, top])].toSorted((a, b) => a - b)
  return (
    <Card padding={0} component="section" aria-label={texts.label}>
      <div className={classes['bar']}>
        <SegmentedControl
          size="xs"
          aria-label={texts.chart}
          value={chart}
          data={chartKinds.map((value) => ({ value, label: texts.charts[value] }))}
          onChange={(next) => onView({ chart: next as ChartKind })}
        />
        <Dimensions by={by} keys={keys} onChange={(next) => onView({ by: next })} />
        <NativeSelect
          size="xs"
          aria-label={texts.top}
          value={String(top)}
          data={counts.map((value) => ({ value: String(value), label: texts.topOf(value) }))}
          onChange={({ currentTarget }) => onView({ top: Number(currentTarget.value) })}
        />
        <NativeSelect
          size="xs"
          aria-label={texts.metric}
          value={metric}
          data={metrics.map((value) => ({ value, label: texts.metrics[value] }))}
          onChange={({ currentTarget }) => onView({ metric: currentTarget.value as Metric })}
        />
        <SegmentedControl
          size="xs"
          aria-label={texts.direction}
          value={direction}
          data={directions.map((value) => ({ value, label: texts.directions[value] }))}
          onChange={(next) => onView({ direction: next as Direction })}
        />
        <Switch
          size="xs"
          label={texts.compare}
          aria-label={texts.compareHelp}
          checked={isCompared}
          onChange={({ currentTarget }) => onView({ isCompared: currentTarget.checked })}
        />
      </div>
      <div className={classes['second']}>
        <Filters view={view} keys={keys} onChange={(filters) => onView({ filters })} />
        <TimeRangeField value={range} canBeAny={false} onChange={onRange} />
      </div>
    </Card>
  )
}

type DimensionsProps = {
  readonly by: readonly string[]
  readonly keys: FlowKeys
  readonly onChange: (by: readonly string[]) => void
}

function Dimensions({ by, keys, onChange }: DimensionsProps) {
  const free = keys.list.filter(({ key, groupable }) => groupable && !by.includes(key))
  return (
    <div className={classes['barGroup']} role="group" aria-label={texts.by}>
      <span className={classes['barLabel']}>{texts.by}</span>
      {by.map((key, at) => {
        const label = keys.labelOf(key)
        return (
          <span key={key} className={classes['chip']} data-dimension={key}>
            <span className={classes['chipText']}>{label}</span>
            {at + 1 < by.length && (
              <UnstyledButton
                className={filterClasses['remove']!}
                aria-label={texts.moveLater(label)}
                onClick={() => onChange(by.toSpliced(at, 2, by[at + 1]!, key))}
              >
                <IconArrowRight size={12} />
              </UnstyledButton>
            )}
            <UnstyledButton
              className={filterClasses['remove']!}
              aria-label={texts.removeDimension(label)}
              onClick={() => onChange(by.filter((one) => one !== key))}
            >
              <IconX size={12} />
            </UnstyledButton>
          </span>
        )
      })}
      {by.length < dimensionsMax && <AddDimension free={free} onAdd={(key) => onChange([...by, key])} />}
    </div>
  )
}

type AddDimensionProps = {
  readonly free: FlowKeys['list']
  readonly onAdd: (key: string) => void
}

function AddDimension({ free, onAdd }: AddDimensionProps) {
  const [search, setSearch] = useState('')
  const found = free.filter(({ label, key }) =>
    `${label} ${key}`.toLowerCase().includes(search.trim().toLowerCase()),
  )
  return (
    <Menu position="bottom-start" trapFocus onClose={() => setSearch('')}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconPlus size={14} />} disabled={free.length === 0}>
          {texts.addDimension}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        <TextInput
          size="xs"
          m={4}
          data-autofocus
          aria-label={texts.findDimension}
          placeholder={texts.findDimension}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && found[0]) onAdd(found[0].key)
          }}
        />
        {found.map(({ key, label }) => (
          <Menu.Item key={key} onClick={() => onAdd(key)}>
            {label}
          </Menu.Item>
        ))}
        {found.length === 0 && <Menu.Label>{texts.noDimension}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  )
}

type FiltersProps = {
  readonly view: TrafficView
  readonly keys: FlowKeys
  readonly onChange: (filters: readonly FlowFilter[]) => void
}

/** `edited`: the position of the filter whose editor is open; the length of the list is a new one. */
function Filters({ view: { filters }, keys, onChange }: FiltersProps) {
  const [edited, setEdited] = useState<number>()
  const close = () => setEdited(undefined)
  const { filter: named } = words
  return (
    <div className={classes['filters']} role="group" aria-label={named.label}>
      {filters.map((filter, at) => (
        <FilterChip
          key={`${filter.key} ${filter.op} ${at}`}
          keys={keys}
          filter={filter}
          isEdited={edited === at}
          onEdit={() => setEdited(edited === at ? undefined : at)}
          onClose={close}
          onApply={(next) => {
            onChange(filters.with(at, next))
            close()
          }}
          onRemove={() => onChange(filters.toSpliced(at, 1))}
        />
      ))}
      <Editor
        label={named.add}
        opened={edited === filters.length}
        onClose={close}
        field={
          <FilterEditor
            keys={keys}
            onApply={(next) => {
              onChange(withFilter(filters, next))
              close()
            }}
          />
        }
      >
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} />}
          aria-haspopup="dialog"
          aria-expanded={edited === filters.length}
          onClick={() => setEdited(filters.length)}
        >
          {named.add}
        </Button>
      </Editor>
      {filters.length > 0 && (
        <Button size="compact-sm" variant="subtle" onClick={() => onChange([])}>
          {named.clear}
        </Button>
      )}
    </div>
  )
}

type FilterChipProps = {
  readonly keys: FlowKeys
  readonly filter: FlowFilter
  readonly isEdited: boolean
  readonly onEdit: () => void
  readonly onClose: () => void
  readonly onApply: (filter: FlowFilter) => void
  readonly onRemove: () => void
}

function FilterChip({ keys, filter, isEdited, onEdit, onClose, onApply, onRemove }: FilterChipProps) {
  const { filter: named } = words
  const label = keys.labelOf(filter.key)
  const text = filterWords(filter, keys)
  return (
    <Editor
      label={label}
      opened={isEdited}
      onClose={onClose}
      field={<FilterEditor keys={keys} filter={filter} onApply={onApply} />}
    >
      <span className={classes['chip']} data-chip={filter.key}>
        <UnstyledButton
          className={classes['chipText']!}
          aria-label={named.edit(`${label} ${named.operators[filter.op]} ${text}`)}
          aria-haspopup="dialog"
          aria-expanded={isEdited}
          onClick={onEdit}
        >
          {label}
          <span className={classes['chipSign']}>{named.signs[filter.op]}</span>
          <span className={classes['chipValue']}>{text}</span>
        </UnstyledButton>
        <UnstyledButton
          className={filterClasses['remove']!}
          aria-label={named.remove(label)}
          onClick={onRemove}
        >
          <IconX size={12} />
        </UnstyledButton>
      </span>
    </Editor>
  )
}

/** Returns the values of a filter by their names, as far as the API lists these with the key. */
function filterWords({ key, values }: FlowFilter, keys: FlowKeys): string {
  const named = keys.find(key)?.values ?? []
  return values.map((value) => named.find((one) => one.value === value)?.label ?? value).join(', ')
}
