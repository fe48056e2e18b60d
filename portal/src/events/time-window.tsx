// From when to when: the last day, week or month with one click, or days and times of one's own in the zone that the
// page shows times in.
import { Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { useZone, zoneName } from '../ui/time.tsx'
import classes from './events.module.css'
import type { FilterProps } from './filters.tsx'
import { momentOf, wallClock } from './wall-clock.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const all = ''
const own = 'own'
const spans = [
  { value: all, label: 'All' },
  { value: '1', label: '24 h' },
  { value: '7', label: '7 d' },
  { value: '30', label: '30 d' },
  { value: own, label: 'From … to' },
]

/** Whole minutes, so that the same view has the same address for a while. */
const daysAgo = (days: number) =>
  new Date(Math.floor(Date.now() / minuteMs) * minuteMs - days * dayMs).toISOString()

/** The choice that an address stands for: a window up to now that is about as long as one of them, or one's own. */
function spanOf(start: unknown, end: unknown): string {
  if (start === undefined && end === undefined) return all
  const days = (Date.now() - new Date(String(start)).getTime()) / dayMs
  const near = spans.find(({ value }) => Number(value) > 0 && Math.abs(Number(value) - days) < 0.04)
  return end === undefined && near ? near.value : own
}

export function TimeWindow({ filters, setFilters, errorOf }: FilterProps) {
  const { start, end } = filters
  const span = spanOf(start, end)
  const [isOwn, setOwn] = useState(span === own)
  const shown = isOwn || span === own ? own : span
  function choose(next: string) {
    setOwn(next === own)
    if (next === own) setFilters({ start: start ?? daysAgo(1) })
    else setFilters({ start: next === all ? undefined : daysAgo(Number(next)), end: undefined })
  }
  // Taken away from outside: the choice goes with it.
  useEffect(() => {
    if (span === all) setOwn(false)
  }, [span])
  return (
    <Group gap="xs" align="flex-start">
      <SegmentedControl size="xs" aria-label="Time" data={spans} value={shown} onChange={choose} />
      {shown === own && (
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
  const told = isTime(value) ? wallClock(value, timeZone) : ''
  const [text, setText] = useState(told)
  const typed = useRef(told)
  // A year is typed digit by digit, and the field says each of them.
  const commit = useDebouncedCallback((wall: string) => {
    const moment = momentOf(wall, timeZone)
    if (wall !== '' && (moment === undefined || moment < '1970')) return
    typed.current = wall
    onCommit(moment)
  }, 600)
  useEffect(() => {
    if (told === typed.current) return
    typed.current = told
    setText(told)
  }, [told])
  return (
    <TextInput
      size="xs"
      className={classes['field']!}
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
