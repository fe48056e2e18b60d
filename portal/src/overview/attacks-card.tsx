// Attacks by day and peak over the last 7, 30 or 90 days; a bar opens its day in the list.
import { SegmentedControl } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { AttacksByDay } from '../events/attacks-by-day.tsx'
import { firstOfDays } from '../events/by-day.ts'
import { TextLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { storedChoice, useStoredChoice } from '../ui/stored-choice.ts'
import { useZone, zoneName } from '../ui/time.tsx'
import { useNow } from '../ui/use-now.ts'
import { words } from './words.ts'

const { chart: texts } = words
const choices = ['7', '30', '90'] as const
const shownDays = storedChoice<(typeof choices)[number]>('pharos-overview-days', '30')

type Props = {
  readonly height: number
  readonly title?: string
  /** Number of days; left out: as chosen in this browser. */
  readonly days?: number | undefined
}

export function AttacksCard({ height, title = texts.title, days: fixed }: Props) {
  const [zone] = useZone()
  const navigate = useNavigate()
  const stored = useStoredChoice(shownDays)
  const [chosen, setChosen] = useState(fixed === undefined ? undefined : String(fixed))
  const wanted = fixed === undefined ? stored : chosen
  const days = choices.find((one) => one === wanted) ?? '30'
  const start = firstOfDays(Number(days), useNow(), zoneName(zone))
  return (
    <Section
      title={title}
      fill
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={texts.range}
            value={days}
            data={choices.map((value) => ({ value, label: texts.days(Number(value)) }))}
            onChange={(next) => (fixed === undefined ? shownDays.set(next as typeof days) : setChosen(next))}
          />
          <TextLink to="/events" search={{ range: `${days}d` }} size="sm">
            {texts.list}
          </TextLink>
        </>
      }
    >
      <AttacksByDay
        label={title}
        span={{ start }}
        height={height}
        hint={texts.hint}
        onPeriod={(range) => void navigate({ to: '/events', search: range })}
      />
    </Section>
  )
}
