// The field of a form for a rate: a number and its unit. The value is in bits or packets per second; null if it is empty.
import { NativeSelect, NumberInput } from '@mantine/core'
import { useState } from 'react'
import { common, inputProps, type Common } from '../ui/form-text-widgets.tsx'
import type { FieldDeclaration, WidgetProps } from '../ui/form.tsx'
import { rateOf, rateUnits, unitFor, type Rate } from './rate-units.ts'
import { words } from './words.ts'

export const rate = (options: Common & { readonly of: Rate }): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => <RateInput {...props} of={options.of} unitLabel={words.unitOf(options.label)} />,
})

type RateInputProps = WidgetProps & { readonly of: Rate; readonly unitLabel: string }

function RateInput({ of, unitLabel, ...props }: RateInputProps) {
  const value = props.input.value as number | null
  const [unit, setUnit] = useState(() => unitFor(of, value))
  const [typed, setTyped] = useState<string | number>(() => shown(value, unit.factor))
  // Saved or restored values replace what was typed; "1." stays while it means the same.
  const text = rateOf(typed, unit) === value ? typed : shown(value, unit.factor)
  const { onChange } = props.input
  return (
    <NumberInput
      {...inputProps(props)}
      value={text}
      onChange={(next) => {
        setTyped(next)
        onChange(rateOf(next, unit))
      }}
      min={0}
      decimalScale={3}
      hideControls
      styles={{ wrapper: { maxWidth: 220 } }}
      rightSectionWidth={84}
      rightSection={
        <NativeSelect
          variant="unstyled"
          size="xs"
          aria-label={unitLabel}
          disabled={props.readOnly}
          data={rateUnits[of].map(({ label }) => label)}
          value={unit.label}
          onChange={(event) => {
            const next = rateUnits[of].find(({ label }) => label === event.currentTarget.value)!
            setUnit(next)
            onChange(rateOf(text, next))
            setTyped(text)
          }}
        />
      }
    />
  )
}

const shown = (value: number | null, factor: number): string | number =>
  value === null ? '' : value / factor
