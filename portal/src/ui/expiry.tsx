// The field for an expiry: presets in days with their date, never, or another date.
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

/** A day in UTC, `2026-03-01`; null for never; empty while the other date is missing, which is an error. */
export type Expiry = string | null

/** Returns the start of the day, as the API takes it. */
export const expiryOf = (day: Expiry): string | null => (day === null ? null : new Date(day).toISOString())

/** Returns `1 Mar 2027`. */
const dayText = (day: string): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day))

type ExpiryOptions = Pick<FieldDeclaration, 'label' | 'help'> & {
  /** The latest day that is offered; null for no end. */
  readonly latest?: Expiry
}

/** The value is an `Expiry`. */
export const expiry = ({ latest = null, ...options }: ExpiryOptions): FieldDeclaration => ({
  ...options,
  required: false,
  check: (day: Expiry) =>
    day === null || /^\d{4}-\d{2}-\d{2}$/.test(day) ? undefined : words.expiry.needsDay,
  Widget: (props) => <ExpiryInput {...props} latest={latest} />,
})

function ExpiryInput({
  label,
  description,
  error,
  readOnly,
  input,
  latest,
}: WidgetProps & { readonly latest: Expiry }) {
  const day = input.value as Expiry
  const preset = presetDays.find((days) => dayFromNow(days) === day)
  const [mode, setMode] = useState(day === null ? never : preset === undefined ? custom : String(preset))
  function choose(next: string) {
    setMode(next)
    if (next === never) input.onChange(null)
    else if (next !== custom) input.onChange(dayFromNow(Number(next)))
    else if (day === null) input.onChange('')
  }
  return (
    <Group align="flex-start" gap="xs" grow preventGrowOverflow={false}>
      <Select
        label={label}
        description={description}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        error={mode === custom ? undefined : error}
        disabled={readOnly}
        allowDeselect={false}
        data={[
          ...presetDays
            .filter((days) => latest === null || dayFromNow(days) <= latest)
            .map((days) => ({
              value: String(days),
              label: words.expiry.preset(days, dayText(dayFromNow(days))),
            })),
          ...(latest === null ? [{ value: never, label: words.expiry.never }] : []),
          { value: custom, label: words.expiry.custom },
        ]}
        value={mode}
        onChange={(next) => next !== null && choose(next)}
      />
      {mode === custom && (
        <TextInput
          type="date"
          label={words.expiry.day}
          error={error}
          min={dayFromNow(1)}
          max={latest ?? undefined}
          value={day ?? ''}
          disabled={readOnly}
          onChange={(event) => input.onChange(event.currentTarget.value)}
        />
      )}
    </Group>
  )
}
