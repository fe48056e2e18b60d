// The field of a form for a rate: a number and its unit. The value is in bits or packets per second; null if it is empty.
import { Group, Input, NativeSelect, NumberInput } from '@mantine/core'
import { useId, useState } from 'react'
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
  const id = useId()
  const value = props.input.value as number | null
  const [unit, setUnit] = useState(() => unitFor(of, value))
  const [typed, setTyped] = useState<string | number>(() => shown(value, unit.factor))
  // Saved or restored values replace the typed text; "1." stays because it means the same.
  const text = rateOf(typed, unit) === value ? typed : shown(value, unit.factor)
  const { onChange } = props.input
  const {
    label,
    description,
    error,
    inputWrapperOrder,
    required: _,
    withAsterisk: __,
    ...input
  } = inputProps(props)
  return (
    <Input.Wrapper id={id} {...{ label, description, error, inputWrapperOrder }}>
      <Group gap="xs" wrap="nowrap" mb={5}>
        <NumberInput
          {...input}
          id={id}
          w={120}
          value={text}
          error={error !== undefined && error !== null}
          onChange={(next) => {
            setTyped(next)
            onChange(rateOf(next, unit))
          }}
          min={0}
          decimalScale={3}
          hideControls
        />
        <NativeSelect
          w={100}
          aria-label={unitLabel}
          disabled={props.readOnly}
          data={rateUnits[of].map((one) => one.label)}
          value={unit.label}
          onChange={(event) => {
            const next = rateUnits[of].find((one) => one.label === event.currentTarget.value)!
            setUnit(next)
            setTyped(text)
            onChange(rateOf(text, next))
          }}
        />
      </Group>
    </Input.Wrapper>
  )
}

const shown = (value: number | null, factor: number): string | number =>
  value === null ? '' : value / factor
