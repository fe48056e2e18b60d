// The time range of the event list: the last day, week or month, or a custom range in the time zone of the page.
import { Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { useZone, zoneName } from '../ui/time.tsx'
import type { EventFilterProps } from './event-filters.ts'
import { momentOf, wallClock } from './wall-clock.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const all = ''
const custom = 'custom'
const spans = [
  { value: all, label: 'All' },
  { value: '1', label: '24 h' },
  { value: '7', label: '7 d' },
  { value: '30', label: '30 d' },
  { value: custom, label: 'Custom range' },
]

/** In whole minutes, so that the same view keeps its address for a while. */
const daysAgo = (days: number) =>
  new Date(Math.floor(Date.now() / minuteMs) * minuteMs - days * dayMs).toISOString()

/** Returns the choice that matches an address: a range up to now of about that length, or a custom one. */
function spanOf(start: unknown, end: unknown): string {
  if (start === undefined && end === undefined) return all
  const days = (Date.now() - new Date(String(start)).getTime()) / dayMs
  const near = spans.find(({ value }) => Number(value) > 0 && Math.abs(Number(value) - days) < 0.04)
  return end === undefined && near ? near.value : custom
}

export function TimeRange({ filters, setFilters, errorOf }: EventFilterProps) {
  const { start, end } = filters
  const span = spanOf(start, end)
  const [isCustom, setCustom] = useState(span === custom)
  const shown = isCustom || span === custom ? custom : span
  function choose(next: string) {
    setCustom(next === custom)
    if (next !== custom)
      setFilters({ start: next === all ? undefined : daysAgo(Number(next)), end: undefined })
    else if (start === undefined) setFilters({ start: daysAgo(1) })
  }
  // Cleared elsewhere: the choice follows.
  useEffect(() => {
    if (span === all) setCustom(false)
  }, [span])
  return (
    <Group gap="xs" align="flex-start">
      <SegmentedControl size="xs" aria-label="Time" data={spans} value={shown} onChange={choose} />
      {shown === custom && (
        <>
          <Moment
            label="From"
            value={start}
            error={errorOf('start')}
            onCommit={(moment) => setFilters({ start: moment })}
          />
          <Moment
            label="To"
            value={end}
            error={errorOf('end')}
            onCommit={(moment) => setFilters({ end: moment })}
          />
        </>
      )}
    </Group>
  )
}

type MomentProps = {
  readonly label: string
  readonly value: unknown
  readonly error: string | undefined
  readonly onCommit: (moment: string | undefined) => void
}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

function Moment({ label, value, error, onCommit }: MomentProps) {
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const shown = isTime(value) ? wallClock(value, timeZone) : ''
  const [text, setText] = useState(shown)
  const typed = useRef(shown)
  // A year is typed digit by digit, and the field reports each digit.
  const commit = useDebouncedCallback((wall: string) => {
    const moment = momentOf(wall, timeZone)
    if (wall !== '' && (moment === undefined || moment < '1970')) return
    typed.current = wall
    onCommit(moment)
  }, 600)
  useEffect(() => {
    if (shown === typed.current) return
    typed.current = shown
    setText(shown)
  }, [shown])
  return (
    <TextInput
      size="xs"
      w={215}
      type="datetime-local"
      max="9999-12-31T23:59"
      aria-label={`${label}, ${timeZone}`}
      leftSection={
        <Text size="xs" c="dimmed">
          {label}
        </Text>
      }
      leftSectionWidth={42}
      value={text}
      error={error}
      onChange={(event) => {
        setText(event.currentTarget.value)
        commit(event.currentTarget.value)
      }}
    />
  )
}
