// The time range of a page: quick ranges up to now, calendar months, or a custom range, with arrows to the range before and after.
// The address contains the range, relative to now if it was chosen so.
import { ActionIcon, Button, Divider, Loader, Stack, Text } from '@mantine/core'
import { IconCalendar, IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { Editor } from './filter-chips.tsx'
import classes from './filter.module.css'
import { useRecentRanges } from './recent-ranges.ts'
import { isSameRange, quickRanges, shiftedBy, spanOf, type TimeRange } from './time-range.ts'
import { useZone, zoneName } from './time.tsx'
import { timeRangeText } from './time-range-text.ts'
import { words } from './words.ts'

const CustomRange = lazy(async () => ({ default: (await import('./time-range-custom.tsx')).CustomRange }))

type TimeRangeFieldProps = {
  readonly value: TimeRange
  readonly onChange: (range: TimeRange) => void
  /** False if the page needs a range. */
  readonly canBeAny?: boolean
}

export function TimeRangeField({ value, onChange, canBeAny = true }: TimeRangeFieldProps) {
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const [opened, setOpened] = useState(false)
  const [isCustom, setCustom] = useState(false)
  const close = () => {
    setOpened(false)
    setCustom(false)
  }
  const [recent, addRecent] = useRecentRanges()
  const choose = (range: TimeRange) => {
    if (range.range === undefined && range.from !== undefined) addRecent(range)
    onChange(range)
    close()
  }
  const shifted = (step: 1 | -1) => shiftedBy(step, value, Date.now(), timeZone)
  const text = timeRangeText(value, timeZone)
  const arrow = (step: 1 | -1, label: string) => {
    const next = shifted(step)
    return (
      <ActionIcon
        variant="default"
        size={30}
        aria-label={label}
        disabled={!next}
        onClick={() => next && onChange(next)}
      >
        {step < 0 ? <IconChevronLeft size={14} /> : <IconChevronRight size={14} />}
      </ActionIcon>
    )
  }
  const hasSpan = spanOf(value, Date.now(), timeZone)?.start !== undefined
  return (
    <span role="group" aria-label={words.range.label} className={classes['range']}>
      {hasSpan && arrow(-1, words.range.earlier)}
      <Editor
        label={words.range.label}
        opened={opened}
        onClose={close}
        field={
          <RangeChoices
            value={value}
            canBeAny={canBeAny}
            timeZone={timeZone}
            recent={recent.filter((one) => spanOf(one, Date.now(), timeZone)?.start !== undefined)}
            isCustom={isCustom}
            onCustom={() => setCustom(true)}
            onChoose={choose}
          />
        }
      >
        <Button
          size="xs"
          variant="default"
          leftSection={<IconCalendar size={14} />}
          aria-label={`${words.range.label}: ${text}`}
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {text}
        </Button>
      </Editor>
      {hasSpan && arrow(1, words.range.later)}
    </span>
  )
}

type RangeChoicesProps = {
  readonly value: TimeRange
  readonly canBeAny: boolean
  readonly timeZone: string
  /** Custom ranges that were used before. */
  readonly recent: readonly TimeRange[]
  readonly isCustom: boolean
  readonly onCustom: () => void
  readonly onChoose: (range: TimeRange) => void
}

const RangeChoices = ({
  value,
  canBeAny,
  timeZone,
  recent,
  isCustom,
  onCustom,
  onChoose,
}: RangeChoicesProps) => (
  <Stack gap="xs">
    <div className={classes['ranges']}>
      {[...(canBeAny ? [undefined] : []), ...quickRanges].map((range) => (
        <Button
          key={range ?? ''}
          size="xs"
          variant={!isCustom && value.range === range && !value.from && !value.to ? 'light' : 'subtle'}
          justify="flex-start"
          onClick={() => onChoose(range === undefined ? {} : { range })}
        >
          {range === undefined ? words.range.any : words.range.names[range]}
        </Button>
      ))}
    </div>
    <Divider />
    {!isCustom && recent.length > 0 && (
      <div role="group" aria-label={words.range.recent}>
        <Text size="xs" c="dimmed" fw={500} px={10} pb={2}>
          {words.range.recent}
        </Text>
        {recent.map((range) => (
          <Button
            key={`${range.from} ${range.to}`}
            size="xs"
            fullWidth
            variant={isSameRange(range, value) ? 'light' : 'subtle'}
            justify="flex-start"
            onClick={() => onChoose(range)}
          >
            {timeRangeText(range, timeZone)}
          </Button>
        ))}
      </div>
    )}
    {isCustom ? (
      <Suspense fallback={<Loader size="sm" m="auto" />}>
        <CustomRange value={value} timeZone={timeZone} onApply={onChoose} />
      </Suspense>
    ) : (
      <Button size="xs" variant="subtle" justify="flex-start" onClick={onCustom}>
        {words.range.custom}
      </Button>
    )}
  </Stack>
)
