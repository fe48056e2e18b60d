// The widgets of an object with parts, such as the settings of a router, and of a list of them. Its parts follow from its kind.
import {
  Button,
  Group,
  Input,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { PlatformField, PlatformPart } from '@pharos/contract/operator/platform'
import { useContext, useState, type ReactNode } from 'react'
import { common, type Common } from '../ui/form-text-widgets.tsx'
import type { FieldDeclaration, WidgetProps } from '../ui/form.tsx'
import { words as uiWords } from '../ui/words.ts'
import { parseJson, type ElementFields } from './element-form.ts'
import { partAt, partsFor, partsIn, withKind, withPart, type Parts } from './element-parts.ts'
import { FormValues } from './form-values.ts'
import { partLabel, words } from './words.ts'
import classes from './platform.module.css'

export const objectField = (options: Common, field: PlatformField): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <Whole props={props}>
      <ObjectParts
        field={field}
        value={partsIn(props.input.value)}
        props={props}
        onChange={props.input.onChange}
      />
    </Whole>
  ),
})

export const objectsField = (options: Common, field: PlatformField): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <Whole props={props}>
      <ObjectList field={field} props={props} />
    </Whole>
  ),
})

const Whole = ({ props, children }: { props: WidgetProps; children: ReactNode }) => (
  <Input.Wrapper
    component="fieldset"
    aria-label={props.name}
    className={classes['object']!}
    label={props.label}
    labelElement="div"
    labelProps={{ mb: 8 }}
    error={props.error}
    inputWrapperOrder={['label', 'input', 'error']}
  >
    {children}
  </Input.Wrapper>
)

type ObjectProps = {
  readonly field: PlatformField
  readonly value: Parts
  readonly props: WidgetProps
  readonly onChange: (value: Parts) => void
}

function ObjectParts({ field, value, props, onChange }: ObjectProps) {
  const values: ElementFields = useContext(FormValues)
  const { parts_by: by } = field
  const selected = by === 'kind' ? value['kind'] : by === null ? null : values[by]
  const parts = partsFor(field, selected)
  if (parts.length === 0) return <Input.Description>{words.noSettings}</Input.Description>
  return (
    <Stack gap="sm">
      {parts.map((part) => (
        <PartInput
          key={`${part.of ?? ''} ${part.name}`}
          part={part}
          value={partAt(value, part.name)}
          readOnly={props.readOnly}
          onChange={(next) =>
            onChange(part.name === 'kind' ? withKind(field, value, next) : withPart(value, part.name, next))
          }
        />
      ))}
    </Stack>
  )
}

function ObjectList({ field, props }: Pick<ObjectProps, 'field' | 'props'>) {
  const values = Array.isArray(props.input.value) ? (props.input.value as Parts[]) : []
  const set = (next: readonly Parts[]) => props.input.onChange(next)
  return (
    <Stack gap="sm">
      {values.map((value, at) => (
        <div key={at} className={classes['object']}>
          <ObjectParts
            field={field}
            value={value}
            props={props}
            onChange={(next) => set(values.with(at, next))}
          />
          <Group justify="flex-end" mt="sm">
            <Button variant="subtle" size="compact-sm" onClick={() => set(values.toSpliced(at, 1))}>
              {words.removeObject}
            </Button>
          </Group>
        </div>
      ))}
      {!props.readOnly && (
        <Group>
          <Button variant="default" size="compact-sm" onClick={() => set([...values, {}])}>
            {words.addObject}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type PartProps = {
  readonly part: PlatformPart
  readonly value: unknown
  readonly readOnly: boolean
  readonly onChange: (value: unknown) => void
}

const yesOrNo = [
  { value: 'true', label: words.yes },
  { value: 'false', label: words.no },
]

const order = ['label', 'input', 'description', 'error'] as const

/** The properties of every input: label, help, and whether it can be changed. */
function wrapperOf({ part: { name, type, required, hint }, readOnly }: PartProps) {
  const hasHelp = hint !== '' && type !== 'choice' && type !== 'boolean'
  const label = required ? (
    partLabel(name)
  ) : (
    <>
      {partLabel(name)}{' '}
      <Text span inherit c="dimmed" fw={400}>
        {uiWords.optional}
      </Text>
    </>
  )
  return {
    label,
    description: hasHelp ? `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.` : undefined,
    inputWrapperOrder: [...order],
    required,
    withAsterisk: false,
    readOnly,
    'data-part': name,
  }
}

function PartInput(props: PartProps) {
  const { part, value, onChange } = props
  const { type, required, choices } = part
  const wrapper = wrapperOf(props)
  switch (type) {
    case 'choice':
      return (
        <Select
          {...wrapper}
          data={choices}
          clearable={!required}
          value={value === undefined ? null : String(value)}
          onChange={(next) => onChange(next ?? undefined)}
        />
      )
    case 'boolean':
      return (
        <Select
          {...wrapper}
          data={yesOrNo}
          clearable
          value={typeof value === 'boolean' ? String(value) : null}
          onChange={(next) => onChange(next === null ? undefined : next === 'true')}
        />
      )
    case 'integer':
    case 'number':
      return (
        <NumberInput
          {...wrapper}
          allowDecimal={type === 'number'}
          clampBehavior="none"
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => onChange(next === '' ? undefined : Number(next))}
        />
      )
    case 'texts':
      return (
        <TagsInput
          {...wrapper}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={(next) => onChange(next.length === 0 ? undefined : next)}
        />
      )
    case 'text':
      return (
        <TextInput
          {...wrapper}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    default:
      return <JsonPart {...wrapper} value={value} onChange={onChange} />
  }
}

type JsonProps = Pick<PartProps, 'value' | 'onChange'> & Readonly<Record<string, unknown>>

/** What is typed stays as it is until it is valid. */
function JsonPart({ value, onChange, ...wrapper }: JsonProps) {
  const [typed, setTyped] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const isWrong = typed.trim() !== '' && parseJson(typed) === undefined
  return (
    <Textarea
      {...wrapper}
      autosize
      minRows={2}
      maxRows={16}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--font-mono)' } }}
      value={typed}
      error={isWrong ? words.badJson : undefined}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        onChange(parseJson(event.currentTarget.value))
      }}
    />
  )
}
