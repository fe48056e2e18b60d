// The field for an expiry: presets in days with the date that they come to, never, or a date of one's own.
import { Group, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { FieldDeclaration, WidgetProps } from './form.tsx'
import { words } from './words.ts'

const presetDays = [30, 90, 365] as const
const never = 'never'
const custom = 'custom'
const dayMs = 86_400_000

/** Returns a day in UTC, `2026-03-01`, that many days from now. */
export const dayFromNow = (days: number, now = Date.now()): string =>
  new Date(now + days * dayMs).toISOString().slice(0, 10)

/** Returns the start of a day in UTC, as the API takes it; null for none. */
export const expiryOf = (day: string): string | null => (day === '' ? null : new Date(day).toISOString())

/** Returns `1 Mar 2027`. */
const dayText = (day: string): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day))

/** The value is a day, `2026-03-01`; empty for never. */
export const expiry = (options: Pick<FieldDeclaration, 'label' | 'help'>): FieldDeclaration => ({
  ...options,
  required: false,
  Widget: (props) => <ExpiryInput {...props} />,
})

function ExpiryInput({ label, description, error, readOnly, input }: WidgetProps) {
  const day = input.value as string
  const preset = presetDays.find((days) => dayFromNow(days) === day)
  const [mode, setMode] = useState(day === '' ? never : preset === undefined ? custom : String(preset))
  function choose(next: string) {
    setMode(next)
    if (next === never) input.onChange('')
    else if (next !== custom) input.onChange(dayFromNow(Number(next)))
  }
  return (
    <Group align="flex-end" gap="xs" grow preventGrowOverflow={false}>
      <Select
        label={label}
        description={description}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        error={error}
        disabled={readOnly}
        allowDeselect={false}
        data={[
          ...presetDays.map((days) => ({
            value: String(days),
            label: words.expiry.preset(days, dayText(dayFromNow(days))),
          })),
          { value: never, label: words.expiry.never },
          { value: custom, label: words.expiry.custom },
        ]}
        value={mode}
        onChange={(next) => next !== null && choose(next)}
      />
      {mode === custom && (
        <TextInput
          type="date"
          aria-label={words.expiry.day}
          min={dayFromNow(1)}
          value={day}
          disabled={readOnly}
          onChange={(event) => input.onChange(event.currentTarget.value)}
        />
      )}
    </Group>
  )
}
