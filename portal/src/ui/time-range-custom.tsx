// The custom range of the time range control: a calendar and two times. Loaded when it is first opened, with its style sheet.
import '@mantine/dates/styles.css'
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { DatePicker } from '@mantine/dates'
import { useState, type SyntheticEvent } from 'react'
import { dayOf, endOfDay, lastDayOf, limitText, parseLimit } from './time-range-text.ts'
import { spanOf, type TimeRange } from './time-range.ts'
import { words } from './words.ts'

type CustomRangeProps = {
  readonly value: TimeRange
  readonly timeZone: string
  readonly onApply: (range: TimeRange) => void
}

export function CustomRange({ value, timeZone, onApply }: CustomRangeProps) {
  const now = Date.now()
  const span = spanOf(value, now, timeZone)
  const textOf = (given: string | undefined, moment: string | undefined) =>
    given !== undefined ? limitText(given, timeZone) : moment === undefined ? '' : limitText(moment, timeZone)
  const [from, setFrom] = useState(() => textOf(value.from, span?.start))
  const [to, setTo] = useState(() => textOf(value.to, span?.end))
  const [mistakes, setMistakes] = useState<{ from?: string; to?: string }>({})
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const [start, end] = [parseLimit(from, timeZone), parseLimit(to, timeZone)]
    const range = { from: start ?? undefined, to: end ?? undefined }
    const isOrdered = start === null || end === null || spanOf(range, Date.now(), timeZone) !== undefined
    const found = {
      ...(start === null ? { from: words.range.format } : {}),
      ...(end === null ? { to: words.range.format } : isOrdered ? {} : { to: words.range.order }),
    }
    setMistakes(found)
    if (Object.keys(found).length === 0) onApply(range)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <DatePicker
          type="range"
          size="xs"
          allowSingleDateInRange
          weekendDays={[]}
          mx="auto"
          value={[dayOf(from), lastDayOf(to)]}
          onChange={([first, last]) => {
            setFrom(first === null ? '' : `${first} 00:00`)
            setTo(last === null ? '' : endOfDay(last))
            setMistakes({})
          }}
        />
        <TextInput
          size="xs"
          label={words.range.from}
          placeholder="now-24h"
          value={from}
          error={mistakes.from}
          onChange={({ currentTarget }) => setFrom(currentTarget.value)}
        />
        <TextInput
          size="xs"
          label={words.range.to}
          placeholder="now"
          value={to}
          error={mistakes.to}
          onChange={({ currentTarget }) => setTo(currentTarget.value)}
        />
        <Group justify="space-between" wrap="nowrap">
          <Text size="xs" c="dimmed">
            {words.range.zone(timeZone)}
          </Text>
          <Button size="xs" type="submit">
            {words.range.apply}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
